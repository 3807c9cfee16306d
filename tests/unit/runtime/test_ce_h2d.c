/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbw-worker with the plugin ce_h2d and the simulated driver: facts first,
 * then every testcase, small and in fixed mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"
#include "worker_probe.h"

enum { GPUS = 4, GPU_MEASURED = 2 };

static const char *fixed[] = { "fixed" };
static const char *size[] = { "8 MiB" };
static const char *copies[] = { "4" };
static const char *samples[] = { "1" };
static struct unit_param params[] = {
    { .name = "mode", .values = fixed, .values_count = 1 },
    { .name = "buffer_size", .values = size, .values_count = 1 },
    { .name = "copies", .values = copies, .values_count = 1 },
    { .name = "samples", .values = samples, .values_count = 1 },
};
static uint32_t gpus[GPUS] = { 0, 1, 2, 3 };
static uint32_t nodes[] = { 0 };
static struct unit_shape shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .rows = 1,
        .cols = GPUS,
        .col_axis = "gpu" },
    { .metric = "total",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .rows = 1,
        .cols = GPUS,
        .col_axis = "gpu" },
};

/* How many flows run at once, and how many cells have the total. */
static const struct row {
    const char *testcase;
    uint32_t flows, shapes, from;
} rows[] = {
    { "host_to_device_memcpy_ce", 1, 1, NVBW_MEM_PINNED },
    { "device_to_host_memcpy_ce", 1, 1, NVBW_MEM_DEVICE },
    { "host_to_device_bidirectional_memcpy_ce", 2, 2, NVBW_MEM_PINNED },
    { "device_to_host_bidirectional_memcpy_ce", 2, 2, NVBW_MEM_DEVICE },
    { "all_to_host_memcpy_ce", GPUS, 2, NVBW_MEM_DEVICE },
    { "all_to_host_bidirectional_memcpy_ce", 2 * GPUS, 2, NVBW_MEM_DEVICE },
    { "host_to_all_memcpy_ce", GPUS, 2, NVBW_MEM_PINNED },
    { "host_to_all_bidirectional_memcpy_ce", 2 * GPUS, 2, NVBW_MEM_PINNED },
};

static void read_facts(struct worker_probe *probe)
{
    const struct task_frame task = { .role = TASK_FACTS,
        .driver_file = SIM_LIBRARY };

    probe_send(probe, FRAME_TASK, &task);

    const struct facts *const facts = probe_expect(probe, FRAME_FACTS);

    assert_int_equal(facts->gpus_count, GPUS);
    probe_expect(probe, FRAME_DONE);
    probe_send(probe, FRAME_FACTS, facts);
}

static void check(const struct record *record, const struct row *row)
{
    if (record->state != STATE_MEASURED) {
        fail_msg("%s/%s: %s: %s", row->testcase, record->metric,
            name_of(state_names, record->state),
            record->message != NULL ? record->message : "");
    }
    assert_int_equal(record->col, GPU_MEASURED);
    assert_int_equal(record->samples_count, 1);
    assert_true(record->samples[0] > 1e9 && record->samples[0] < 1e12);
    assert_string_equal(record->verified, "last copy");
    assert_int_equal(record->flows_count, row->flows);
    assert_int_equal(record->flows[0].src_memory, row->from);
    assert_int_equal(record->flows[0].executor, GPU_MEASURED);
    for (uint32_t i = 1; i < record->flows_count; i++) {
        assert_int_equal(record->flows[i].flags, NVBW_FLOW_BACKGROUND);
        assert_int_equal(record->flows[i].bytes, 16 << 20);
    }
}

static void run_row(struct worker_probe *probe, const struct row *row)
{
    uint32_t wanted[] = { GPU_MEASURED, GPUS + GPU_MEASURED };
    const struct task_frame task = { .role = TASK_RUN,
        .plugin_file = PLUGIN_DIR "/ce_h2d.so",
        .driver_file = SIM_LIBRARY,
        .unit = { .plugin = "ce_h2d",
            .testcase = row->testcase,
            .params = params,
            .params_count = 4,
            .gpus = gpus,
            .gpus_count = GPUS,
            .nodes = nodes,
            .nodes_count = 1,
            .shapes = shapes,
            .shapes_count = row->shapes,
            .timeout_ns = UINT64_C(60000000000) },
        .wanted = wanted,
        .wanted_count = row->shapes };

    probe_send(probe, FRAME_TASK, &task);
    probe_expect(probe, FRAME_BEGIN);
    for (uint32_t i = 0; i < row->shapes; i++) {
        check(probe_expect(probe, FRAME_CELL), row);
    }

    const struct done_frame *const done = probe_expect(probe, FRAME_DONE);

    assert_int_equal(done->status, NVBW_OK);
}

static void every_testcase_measures(void **state)
{
    const struct quit_frame quit = { 0 };
    struct worker_probe probe;

    (void)state;
    setenv("NVBW_SIM_PROFILE", "laptop_x4", 1);
    probe_start(&probe, WORKER_FILE);
    read_facts(&probe);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_row(&probe, &rows[i]);
    }
    probe_send(&probe, FRAME_QUIT, &quit);
    probe_expect(&probe, FRAME_BYE);
    assert_int_equal(probe_end(&probe), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_testcase_measures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
