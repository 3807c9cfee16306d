/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How the work of the multi-node testcases grows: run() of each against a host
 * that only counts, with up to 576 ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi_team.h"
#include "sampled.h"

enum { RANKS_MOST = 576, RACK = 72 };

int32_t mpi_team_init(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return NVBW_E_INVALID;
}

int32_t mpi_team_fini(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return NVBW_E_INVALID;
}

/* ---- A host that counts ---- */

static struct nvbw_place places_list[RANKS_MOST];
static const struct nvbw_place *places[RANKS_MOST + 1];

static struct count {
    uint64_t measurements, flows, derived;
} count;

static const struct nvbw_place *const *get_places(
    struct nvbw_ctx *ctx, const char *axis)
{
    (void)ctx;
    assert_string_equal(axis, "rank");
    return places;
}

static int64_t get_param(struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    const struct nvbw_param *const *const own = ctx->testcase->params;

    (void)i;
    for (size_t at = 0; own != NULL && own[at] != NULL; at++) {
        if (strcmp(own[at]->name, name) == 0) {
            return strtoll(own[at]->default_text, NULL, 10);
        }
    }
    return strcmp(name, "seed") == 0;
}

static int32_t measure(
    struct nvbw_ctx *ctx, const struct nvbw_measurement *measurement)
{
    (void)ctx;
    count.measurements++;
    for (size_t i = 0; measurement->flows[i] != NULL; i++) {
        const struct nvbw_flow *const flow = measurement->flows[i];

        assert_in_range(flow->executor, 0, RANKS_MOST - 1);
        assert_int_not_equal(flow->src_place, flow->dst_memory != NVBW_MEM_NONE
                                                  ? flow->dst_place
                                                  : flow->executor);
        count.flows++;
    }
    return NVBW_OK;
}

static int32_t figure(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value)
{
    (void)ctx;
    (void)cell;
    *out_value = 1.0;
    return NVBW_OK;
}

/* Of the default "0, 25, 50, 75, 90, 100". */
static uint32_t get_count(struct nvbw_ctx *ctx, const char *name)
{
    (void)ctx;
    assert_string_equal(name, "loads");
    return 6;
}

static const char *get_text(struct nvbw_ctx *ctx, const char *name, uint32_t i)
{
    (void)ctx;
    (void)i;
    assert_string_equal(name, "mode");
    return "fixed";
}

static int32_t wants_none(struct nvbw_ctx *ctx, const struct nvbw_cell *cell)
{
    (void)ctx;
    (void)cell;
    return 0;
}

static int32_t put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t samples_count)
{
    (void)ctx;
    (void)cell;
    (void)samples;
    count.derived += samples_count;
    return NVBW_OK;
}

static int32_t labels(struct nvbw_ctx *ctx, const char *metric, uint32_t axis,
    const char *const *names)
{
    (void)ctx;
    (void)metric;
    (void)axis;
    (void)names;
    return NVBW_OK;
}

static struct count count_run(
    const struct nvbw_testcase *testcase, uint32_t ranks)
{
    const struct nvbw_host host = { .size = sizeof host,
        .places = get_places,
        .param_int = get_param,
        .param_count = get_count,
        .param_text = get_text,
        .wanted = wants_none,
        .measure = measure,
        .figure = figure,
        .put = put,
        .labels = labels };
    struct nvbw_ctx ctx = {
        .size = sizeof ctx, .host = &host, .testcase = testcase
    };

    memset(places, 0, sizeof places);
    for (uint32_t i = 0; i < ranks; i++) {
        places[i] = &places_list[i];
    }
    count = (struct count){ 0 };
    assert_int_equal(testcase->run(&ctx), NVBW_OK);
    return count;
}

/* ---- What must come out ---- */

static const struct nvbw_testcase *find(const char *name)
{
    for (size_t i = 0; nvbw_plugin_v1.testcases[i] != NULL; i++) {
        if (strcmp(nvbw_plugin_v1.testcases[i]->name, name) == 0) {
            return nvbw_plugin_v1.testcases[i];
        }
    }
    fail_msg("there is no testcase %s", name);
    return NULL;
}

static void sampled_work_is_linear(void **state)
{
    static const uint32_t sizes[] = { 8, 72, 288, 576 };
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t ranks = sizes[i];
        const struct count rack =
            count_run(find("multinode_gpu_to_rack_write_ce"), sizes[i]);
        const struct count bisect =
            count_run(find("multinode_bisect_read_sm"), sizes[i]);
        const struct count stress =
            count_run(find("multinode_fabric_stress_write_sm"), sizes[i]);

        assert_int_equal(rack.measurements, 4 * ranks);
        assert_int_equal(rack.flows, 4 * ranks);
        assert_int_equal(rack.derived, ranks);
        assert_int_equal(bisect.measurements, 1);
        assert_int_equal(bisect.flows, ranks);
        assert_int_equal(stress.measurements, 8);
        assert_int_equal(stress.flows, 8 * ranks);
    }
}

/* By racks, of which 576 ranks have eight. */
static void racks_are_few(void **state)
{
    const struct nvbw_testcase *const racks =
        find("multinode_rack_to_rack_write_ce");
    (void)state;

    assert_int_equal(count_run(racks, RACK).measurements, 1);
    assert_int_equal(count_run(racks, 576).measurements, 64);
    assert_int_equal(count_run(racks, 100).measurements, 4);
}

/* Each rank with one other; a rank that is its own neighbour has none. */
static void loaded_latency_is_linear(void **state)
{
    const struct nvbw_testcase *const loaded =
        find("multinode_device_to_device_latency_loaded");
    (void)state;

    assert_int_equal(count_run(loaded, 576).measurements, 6 * 576);
    assert_int_equal(count_run(loaded, 1).measurements, 0);
}

static void pairs_are_many(void **state)
{
    (void)state;
    assert_int_equal(
        count_run(find("multinode_device_to_device_memcpy_write_ce"), 576)
            .measurements,
        576 * 575);
}

static void partners_are_spread(void **state)
{
    unsigned char seen[RANKS_MOST] = { 0 };
    uint32_t distinct = 0;
    (void)state;

    for (uint32_t rank = 0; rank < 576; rank++) {
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t partner = sampled_partner(1, rank, k, 576);

            assert_in_range(partner, 0, 575);
            assert_int_not_equal(partner, rank);
            distinct += seen[partner] == 0;
            seen[partner] = 1;
        }
    }
    /* 2304 draws of 576 miss one in e^4 of them. */
    assert_in_range(distinct, 550, 576);
    for (uint32_t round = 0; round < 100; round++) {
        assert_in_range(sampled_step(7, round, 3), 1, 2);
        assert_int_equal(sampled_step(7, round, 2), 1);
    }
}

/* A partner that came twice while others never came would count double. */
static void nobody_comes_twice(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 80; ranks++) {
        for (uint32_t seed = 1; seed <= 5; seed++) {
            unsigned char seen[2][80] = { { 0 } };

            for (uint32_t k = 0; k < ranks - 1; k++) {
                const uint32_t partner = sampled_partner(seed, 1, k, ranks);
                const uint32_t step = sampled_step(seed, k, ranks);

                assert_int_not_equal(partner, 1);
                assert_in_range(step, 1, ranks - 1);
                assert_int_equal(seen[0][partner]++, 0);
                assert_int_equal(seen[1][step]++, 0);
            }
        }
    }
}

/* Four ranks and four draws: each of the three others is in the median once. */
static uint32_t asked_figures;

static int32_t figure_of_draw(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value)
{
    asked_figures++;
    return figure(ctx, cell, out_value);
}

static void medians_count_each_once(void **state)
{
    const struct nvbw_testcase *const rack =
        find("multinode_gpu_to_rack_write_ce");
    const struct nvbw_host host = { .size = sizeof host,
        .places = get_places,
        .param_int = get_param,
        .measure = measure,
        .figure = figure_of_draw,
        .put = put };
    struct nvbw_ctx ctx = {
        .size = sizeof ctx, .host = &host, .testcase = rack
    };

    (void)state;
    memset(places, 0, sizeof places);
    for (uint32_t i = 0; i < 4; i++) {
        places[i] = &places_list[i];
    }
    count = (struct count){ 0 };
    asked_figures = 0;
    assert_int_equal(rack->run(&ctx), NVBW_OK);
    assert_int_equal(count.measurements, 4 * 4);
    assert_int_equal(asked_figures, 4 * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampled_work_is_linear),
        cmocka_unit_test(racks_are_few),
        cmocka_unit_test(loaded_latency_is_linear),
        cmocka_unit_test(pairs_are_many),
        cmocka_unit_test(partners_are_spread),
        cmocka_unit_test(nobody_comes_twice),
        cmocka_unit_test(medians_count_each_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
