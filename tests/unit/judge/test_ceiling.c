/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ceiling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "efficiency.h"
#include "traffic_class.h"

static struct gpu_facts gpus[3];
static struct pair_facts pairs[] = { { 0, 1, 1, 18, "NV18" },
    { 0, 2, 1, 18, "NV18" }, { 1, 0, 1, 18, "NV18" }, { 1, 2, 1, 18, "NV18" },
    { 2, 0, 1, 18, "NV18" }, { 2, 1, 1, 18, "NV18" } };
static struct facts facts;

static int start(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        gpus[i] = (struct gpu_facts){ .index = i,
            .memory_clock_hz = 3201000000,
            .memory_bus_bits = 6016,
            .pcie = { .generation = 5,
                .width = 8,
                .max_generation = 5,
                .max_width = 16 },
            .nvlinks = 18,
            .nvlinks_active = 17,
            .nvlink_rate = UINT64_C(26562500000) };
    }
    facts = (struct facts){
        .gpus = gpus, .gpus_count = 3, .pairs = pairs, .pairs_count = 6
    };
    return 0;
}

/* -1 is the host. */
static struct flow_record flow(int from, int to, uint32_t operation)
{
    return (struct flow_record){ .initiator = NVBW_BY_CE,
        .operation = operation,
        .src_memory = from < 0 ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .dst_memory = to < 0 ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .src_place = from < 0 ? 0 : from,
        .dst_place = to < 0 ? 0 : to,
        .executor = from < 0 ? to : from,
        .counted = 1 };
}

static double rate(struct flow_record *flows, uint32_t count,
    const char *metric, enum ceiling_kind kind)
{
    const struct record record = {
        .metric = metric, .flows = flows, .flows_count = count
    };
    struct ceiling ceiling;

    ceiling_of_record(&facts, &record, kind, &ceiling);
    assert_true(isnan(ceiling.rate) || ceiling.formula[0] != '\0');
    return ceiling.rate / 1e9;
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) < wanted * 0.0005)) {
        fail_msg("%g is not %g", value, wanted);
    }
}

static void pcie_follows_its_formula(void **state)
{
    (void)state;
    assert_near(ceiling_pcie(1, 16) / 1e9, 4.0);
    assert_near(ceiling_pcie(2, 16) / 1e9, 8.0);
    assert_near(ceiling_pcie(3, 16) / 1e9, 15.754);
    assert_near(ceiling_pcie(4, 16) / 1e9, 31.508);
    assert_near(ceiling_pcie(5, 16) / 1e9, 63.015);
    assert_near(ceiling_pcie(6, 16) / 1e9, 118.0);
    assert_true(isnan(ceiling_pcie(0, 16)) && isnan(ceiling_pcie(7, 16)) &&
                isnan(ceiling_pcie(5, 0)));
}

static void single_flows_take_their_link(void **state)
{
    struct flow_record h2d = flow(-1, 0, NVBW_OP_COPY);
    struct flow_record peer = flow(0, 1, NVBW_OP_COPY);
    struct flow_record local = flow(0, 0, NVBW_OP_COPY);
    struct flow_record host = flow(-1, -1, NVBW_OP_COPY);

    (void)state;
    assert_near(rate(&h2d, 1, "bandwidth", CEILING_EXPECTED), 63.015);
    assert_near(rate(&h2d, 1, "bandwidth", CEILING_NOW), 31.508);
    assert_near(rate(&peer, 1, "bandwidth", CEILING_EXPECTED), 450.0);
    assert_near(rate(&peer, 1, "bandwidth", CEILING_NOW), 425.0);
    assert_near(rate(&peer, 1, "bandwidth", CEILING_PHYSICAL), 478.125);
    assert_near(rate(&local, 1, "bandwidth", CEILING_EXPECTED), 2407.2);
    assert_near(rate(&local, 1, "traffic", CEILING_EXPECTED), 4814.3);
    assert_true(isnan(rate(&host, 1, "bandwidth", CEILING_EXPECTED)));
    gpus[0].coherent_link = 1;
    assert_true(isnan(rate(&h2d, 1, "bandwidth", CEILING_EXPECTED)));
}

static void shared_links_count_once(void **state)
{
    struct flow_record to_one[] = { flow(1, 0, NVBW_OP_COPY),
        flow(2, 0, NVBW_OP_COPY) };
    struct flow_record both[] = { flow(0, 1, NVBW_OP_COPY),
        flow(1, 0, NVBW_OP_COPY) };
    struct flow_record host[] = { flow(-1, 0, NVBW_OP_COPY),
        flow(0, -1, NVBW_OP_COPY), flow(-1, 1, NVBW_OP_COPY) };
    struct flow_record split = flow(0, 1, NVBW_OP_SPLIT);

    (void)state;
    assert_near(rate(to_one, 2, "total", CEILING_EXPECTED), 450.0);
    assert_near(rate(both, 2, "total", CEILING_EXPECTED), 900.0);
    assert_near(rate(host, 3, "total", CEILING_EXPECTED), 189.05);
    assert_near(rate(&split, 1, "forward", CEILING_EXPECTED), 450.0);
    assert_near(rate(&split, 1, "total", CEILING_EXPECTED), 900.0);
    both[1].counted = 0;
    assert_near(rate(both, 2, "bandwidth", CEILING_EXPECTED), 450.0);
}

/* Those of the tree. */
static struct efficiencies efficiencies;

static void assert_class(struct flow_record *flows, uint32_t count,
    enum traffic_way way, enum traffic_load load, const char *direction)
{
    const struct record record = {
        .metric = "bandwidth", .flows = flows, .flows_count = count
    };
    struct traffic traffic;

    traffic_of_record(&facts, &record, &traffic);
    assert_int_equal(traffic.way, way);
    assert_int_equal(traffic.load, load);
    assert_non_null(efficiency_find(
        efficiencies.list, efficiencies.count, "NVIDIA H200", &traffic));
    assert_string_equal(traffic_direction(&facts, &record), direction);
}

static void classes_come_from_flows(void **state)
{
    struct flow_record host[] = { flow(-1, 0, NVBW_OP_COPY),
        flow(0, -1, NVBW_OP_COPY), flow(-1, 1, NVBW_OP_COPY) };
    struct flow_record peer[] = { flow(0, 1, NVBW_OP_COPY),
        flow(1, 0, NVBW_OP_COPY) };

    (void)state;
    host[1].counted = 0;
    host[2].counted = 0;
    peer[1].counted = 0;
    assert_class(host, 1, WAY_H2D, LOAD_ALONE, "h2d");
    assert_class(host, 2, WAY_H2D, LOAD_OPPOSED, "h2d");
    assert_class(host, 3, WAY_H2D, LOAD_SHARED_OPPOSED, "h2d");
    assert_class(peer, 1, WAY_PUSH, LOAD_ALONE, "d2d");
    peer[0].executor = 1;
    assert_class(peer, 2, WAY_PULL, LOAD_OPPOSED, "d2d");
    peer[1].counted = 1;
    assert_class(peer, 2, WAY_PULL, LOAD_OPPOSED, "both");
}

#define TEST(name) cmocka_unit_test_setup(name, start)

static int load(void **state)
{
    static struct arena arena;
    static struct problems problems = { .arena = &arena };
    const struct plan plan = { 0 };
    struct error err = { 0 };

    arena_init(&arena, (size_t)1 << 22);
    *state = &arena;
    return efficiency_load(
        &plan, SHIPPED, &arena, &efficiencies, &problems, &err);
}

static int unload(void **state)
{
    arena_clear(*state);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(pcie_follows_its_formula),
        TEST(single_flows_take_their_link),
        TEST(shared_links_count_once),
        TEST(classes_come_from_flows),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
