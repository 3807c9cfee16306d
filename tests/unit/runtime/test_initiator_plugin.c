/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Flows that a plugin moves itself, by copies through the driver's functions
 * that the host hands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_api.h"
#include "engine_scene.h"
#include "state.h"

static const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, 0);
static const struct nvbw_cell latency = NVBW_CELL("latency", 0, 0);

/* What the plugin of a test does, and what it saw. */
static struct {
    struct scene scene;
    int32_t enqueue_status, verify_status;
    uint64_t skipped_bytes; /* at the end of each copy */
    uint32_t enqueues, verifies;
    struct nvbw_work first, last, verified;
} play;

static nvbw_driver_fn *driver(
    struct nvbw_ctx *ctx, const char *name, uint32_t cuda_version)
{
    void *const found =
        engine_driver_function(play.scene.engine, name, cuda_version);
    nvbw_driver_fn *function = NULL;

    (void)ctx;
    memcpy(&function, &found, sizeof function);
    return function;
}

static const struct nvbw_host host = { .size = sizeof host, .driver = driver };
static struct nvbw_ctx ctx = { .size = sizeof ctx, .host = &host };

static int32_t enqueue(struct nvbw_ctx *own, const struct nvbw_work *work)
{
    typedef int copy_fn(uint64_t dst, uint64_t src, size_t bytes, void *stream);
    nvbw_driver_fn *const found =
        own->host->driver(own, "cuMemcpyAsync", 12000);
    copy_fn *copy = NULL;

    memcpy(&copy, &found, sizeof copy);
    play.first = play.enqueues++ == 0 ? *work : play.first;
    play.last = *work;
    for (uint64_t i = 0; i < work->repeats && work->bytes > 0; i++) {
        if (copy(work->dst + i * work->dst_step, work->src + i * work->src_step,
                work->bytes - play.skipped_bytes, work->stream) != 0) {
            return NVBW_E_CUDA;
        }
    }
    return play.enqueue_status;
}

static int32_t verify(struct nvbw_ctx *own, const struct nvbw_work *work)
{
    (void)own;
    play.verifies++;
    play.verified = *work;
    return play.verify_status;
}

static const struct nvbw_flow by_plugin = { .size = sizeof by_plugin,
    .initiator = NVBW_BY_PLUGIN,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .dst_memory = NVBW_MEM_DEVICE,
    .src_place = NVBW_NEAR,
    .cell = &cell,
    .enqueue = enqueue,
    .user = &play };

static const struct record *measure(const struct nvbw_flow *flow)
{
    const struct nvbw_flow *const flows[] = { flow, NULL };

    play.scene.request.ctx = &ctx;
    return scene_measure(&play.scene, flows, NULL);
}

static int setup(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    scene_open(&play.scene);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scene_close(&play.scene);
    return 0;
}

static void its_copies_are_timed_and_compared(void **state)
{
    (void)state;

    const struct record *const record = measure(&by_plugin);

    scene_expect_figure(record, 50e9, 1e-2);
    assert_string_equal(record->verified, "all");
    assert_int_equal(record->verified_bytes,
        record->samples_count * record->copies * record->copy_bytes);
    assert_int_equal(play.first.repeats, 1);
    assert_int_equal(play.last.repeats, record->copies);
    assert_int_equal(play.last.bytes, MIB / 8);
    assert_true(play.last.src_step >= MIB / 8);
    assert_true(play.last.scratch != 0);
    assert_ptr_equal(play.last.user, &play);
}

static void a_tail_that_it_skips_is_seen(void **state)
{
    (void)state;
    play.skipped_bytes = 8;
    scene_expect(measure(&by_plugin), STATE_MISMATCH, "wrong_data");
}

static void fixed_mode_has_one_slice(void **state)
{
    (void)state;
    play.scene.request.params.fixed = 1;

    const struct record *const record = measure(&by_plugin);

    scene_expect(record, STATE_MEASURED, NULL);
    assert_string_equal(record->verified, "last copy");
    assert_int_equal(play.last.src_step, 0);
    assert_int_equal(play.last.dst_step, 0);
}

static void its_own_verify_is_asked(void **state)
{
    struct nvbw_flow flow = by_plugin;

    (void)state;
    flow.verify = verify;

    const struct record *const record = measure(&flow);

    scene_expect(record, STATE_MEASURED, NULL);
    assert_int_equal(play.verifies, record->samples_count);
    assert_int_equal(play.verified.repeats, record->copies);
    assert_string_equal(record->verified, "all");
}

static void its_own_verify_is_believed(void **state)
{
    struct nvbw_flow flow = by_plugin;

    (void)state;
    flow.verify = verify;
    play.verify_status = NVBW_E_DEVICE;
    scene_expect(measure(&flow), STATE_MISMATCH, "wrong_data");
}

static void its_failure_is_an_error(void **state)
{
    (void)state;
    play.enqueue_status = NVBW_E_CUDA;
    scene_expect(measure(&by_plugin), STATE_ERROR, "driver");
    play.enqueue_status = NVBW_E_SKIPPED;
    scene_expect(measure(&by_plugin), STATE_ERROR, "contract");
    play.enqueue_status = 7;
    scene_expect(measure(&by_plugin), STATE_ERROR, "contract");
}

static void a_flow_without_memory_has_a_time(void **state)
{
    struct nvbw_flow flow = by_plugin;

    (void)state;
    flow.src_memory = NVBW_MEM_NONE;
    flow.dst_memory = NVBW_MEM_NONE;
    flow.cell = &latency;

    const struct record *const record = measure(&flow);

    scene_expect(record, STATE_MEASURED, NULL);
    assert_int_equal(play.last.bytes, 0);
    assert_int_equal(play.last.src, 0);
    assert_string_equal(record->verified, "off");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(its_copies_are_timed_and_compared),
        TEST(a_tail_that_it_skips_is_seen),
        TEST(fixed_mode_has_one_slice),
        TEST(its_own_verify_is_asked),
        TEST(its_own_verify_is_believed),
        TEST(its_failure_is_an_error),
        TEST(a_flow_without_memory_has_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
