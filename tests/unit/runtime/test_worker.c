/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbw-worker as a process: describe, record and run of the null and skeleton
 * plugins, and its ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "state.h"
#include "worker_probe.h"

static const char *three[] = { "3" };
static struct unit_param null_params[] = {
    { .name = "cells", .values = three, .values_count = 1 },
};
static struct unit_shape null_shapes[] = {
    { .metric = "figure",
        .unit = NVBW_UNIT_COUNT,
        .better = NVBW_HIGHER,
        .rows = 1,
        .cols = 3,
        .col_axis = "#cells" },
};
static const struct unit null_unit = { .id = 7,
    .plugin = "null",
    .testcase = "null_cell",
    .params = null_params,
    .params_count = 1,
    .shapes = null_shapes,
    .shapes_count = 1,
    .timeout_ns = UINT64_C(60000000000) };

static const char *pageable[] = { "pageable" };
static const char *small_size[] = { "1 MiB" };
static struct unit_param skeleton_params[] = {
    { .name = "memory", .values = pageable, .values_count = 1 },
    { .name = "buffer_size", .values = small_size, .values_count = 1 },
};
static struct unit_shape skeleton_shapes[] = {
    { .metric = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .rows = 1,
        .cols = 1,
        .col_axis = "numa" },
};
static uint32_t only_node[] = { 0 };

static void start(struct worker_probe *probe)
{
    struct facts facts;

    probe_start(probe, WORKER_FILE);
    probe_facts(&facts);
    probe_send(probe, FRAME_FACTS, &facts);
}

static void quit(struct worker_probe *probe)
{
    const struct quit_frame nothing = { 0 };

    probe_send(probe, FRAME_QUIT, &nothing);

    const struct bye_frame *const bye = probe_expect(probe, FRAME_BYE);

    assert_string_equal(bye->why, "finished");
    assert_int_equal(probe_end(probe), 0);
}

static void test_describe(void **state)
{
    struct worker_probe probe;
    const struct task_frame task = { .role = TASK_DESCRIBE,
        .plugin_file = PLUGIN_DIR "/null.so" };

    (void)state;
    probe_start(&probe, WORKER_FILE);
    probe_send(&probe, FRAME_TASK, &task);

    const struct plugin_schema *const schema =
        probe_expect(&probe, FRAME_PLUGIN);

    assert_string_equal(schema->name, "null");
    assert_string_equal(schema->file, PLUGIN_DIR "/null.so");
    assert_int_equal(schema->testcases_count, 2);
    assert_null(schema->testcases[0].problem);
    assert_string_equal(schema->testcases[0].params[0].default_text, "16");
    assert_string_equal(schema->testcases[0].metrics[0].cols, "#cells");

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_int_equal(done->status, NVBW_OK);
    quit(&probe);
}

static void test_describe_refuses(void **state)
{
    struct worker_probe probe;
    const struct task_frame task = { .role = TASK_DESCRIBE,
        .plugin_file = WORKER_FILE };

    (void)state;
    probe_start(&probe, WORKER_FILE);
    probe_send(&probe, FRAME_TASK, &task);

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_true(done->status < 0);
    assert_int_equal(done->state, STATE_ERROR);
    assert_string_equal(done->reason, "refused");
    assert_non_null(strstr(done->message, WORKER_FILE));
    quit(&probe);
}

/* C14: these cells and no others. */
static void test_run_wanted(void **state)
{
    struct worker_probe probe;
    uint32_t wanted[] = { 0, 2 };
    const struct task_frame task = { .role = TASK_RUN,
        .plugin_file = PLUGIN_DIR "/null.so",
        .unit = null_unit,
        .attempt = 1,
        .wanted = wanted,
        .wanted_count = 2 };

    (void)state;
    start(&probe);
    probe_send(&probe, FRAME_TASK, &task);
    for (uint32_t i = 0; i < 2; i++) {
        const struct record *const record = probe_expect(&probe, FRAME_CELL);

        assert_int_equal(record->unit, 7);
        assert_int_equal(record->attempt, 1);
        assert_int_equal(record->state, STATE_MEASURED);
        assert_int_equal(record->col, wanted[i]);
        assert_int_equal(record->samples_count, 1);
        assert_true(record->samples[0] == 1.0 + wanted[i]);
    }

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_int_equal(done->status, NVBW_OK);
    assert_int_equal(done->state, STATE_NONE);
    quit(&probe);
}

static void test_record_null(void **state)
{
    struct worker_probe probe;
    const struct task_frame task = { .role = TASK_RECORD,
        .plugin_file = PLUGIN_DIR "/null.so",
        .unit = null_unit };

    (void)state;
    start(&probe);
    probe_send(&probe, FRAME_TASK, &task);
    for (uint32_t i = 0; i < 3; i++) {
        const struct record *const record = probe_expect(&probe, FRAME_CELL);

        assert_int_equal(record->state, STATE_NONE);
        assert_int_equal(record->samples_count, 0);
        assert_string_equal(record->flags[0], "put");
    }
    probe_expect(&probe, FRAME_DONE);
    quit(&probe);
}

static void test_record_flows(void **state)
{
    struct worker_probe probe;
    struct task_frame task = { .role = TASK_RECORD,
        .plugin_file = PLUGIN_DIR "/skeleton.so",
        .unit = { .plugin = "skeleton",
            .testcase = SKELETON_TESTCASE,
            .params = skeleton_params,
            .params_count = 2,
            .nodes = only_node,
            .nodes_count = 1,
            .shapes = skeleton_shapes,
            .shapes_count = 1 } };

    (void)state;
    start(&probe);
    probe_send(&probe, FRAME_TASK, &task);

    const struct record *const record = probe_expect(&probe, FRAME_CELL);

    assert_int_equal(record->state, STATE_NONE);
    assert_int_equal(record->flows_count, 1);
    assert_int_equal(record->flows[0].initiator, NVBW_BY_CPU);
    assert_int_equal(record->flows[0].src_memory, NVBW_MEM_PAGEABLE);
    assert_int_equal(record->flows[0].bytes, 1 << 20);
    assert_int_equal(record->flows[0].counted, 1);

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_int_equal(done->status, NVBW_OK);
    quit(&probe);
}

/* C10: the task lacks the parameter that the testcase reads. */
static void test_undeclared_parameter(void **state)
{
    struct worker_probe probe;
    uint32_t wanted[] = { 0 };
    struct task_frame task = { .role = TASK_RUN,
        .plugin_file = PLUGIN_DIR "/null.so",
        .unit = null_unit,
        .wanted = wanted,
        .wanted_count = 1 };

    (void)state;
    task.unit.params_count = 0;
    start(&probe);
    probe_send(&probe, FRAME_TASK, &task);

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_int_equal(done->state, STATE_ERROR);
    assert_string_equal(done->reason, "contract");
    assert_non_null(strstr(done->message, "C10"));
    assert_non_null(strstr(done->message, "cells"));

    const struct bye_frame *const bye = probe_expect(&probe, FRAME_BYE);

    assert_string_equal(bye->why, "contract");
    assert_int_equal(probe_end(&probe), 0);
}

static void test_cancel(void **state)
{
    struct worker_probe probe;
    uint32_t wanted[] = { 0 };
    const struct task_frame task = { .role = TASK_RUN,
        .plugin_file = PLUGIN_DIR "/null.so",
        .unit = null_unit,
        .wanted = wanted,
        .wanted_count = 1 };

    (void)state;
    start(&probe);
    assert_int_equal(kill(probe.pid, SIGTERM), 0);
    probe_send(&probe, FRAME_TASK, &task);

    const struct done_frame *const done = probe_expect(&probe, FRAME_DONE);

    assert_int_equal(done->status, NVBW_E_CANCELLED);
    assert_int_equal(done->state, STATE_CANCELLED);

    const struct bye_frame *const bye = probe_expect(&probe, FRAME_BYE);

    assert_string_equal(bye->why, "cancelled");
    assert_int_equal(probe_end(&probe), 0);
}

static void test_facts(void **state)
{
    struct worker_probe probe;
    const struct task_frame task = { .role = TASK_FACTS,
        .driver_file = "/nonexistent/libcuda.so.1" };

    (void)state;
    probe_start(&probe, WORKER_FILE);
    probe_send(&probe, FRAME_TASK, &task);

    const struct facts *const facts = probe_expect(&probe, FRAME_FACTS);

    assert_non_null(facts->host);
    assert_non_null(facts->kernel);
    assert_true(facts->nodes_count >= 1);
    assert_true(facts->nodes[0].memory_bytes > 0);
    assert_true(facts->nodes[0].cpu_count >= 1);
    assert_int_equal(facts->nodes[0].distances_count, facts->nodes_count);
    assert_int_equal(facts->gpus_count, 0);
    assert_non_null(facts->driver_trouble);
    probe_expect(&probe, FRAME_DONE);
    quit(&probe);
}

/* The pipe closes: the worker says goodbye and ends. */
static void test_end_of_pipe(void **state)
{
    struct worker_probe probe;

    (void)state;
    probe_start(&probe, WORKER_FILE);
    assert_int_equal(probe_end(&probe), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_describe_refuses),
        cmocka_unit_test(test_run_wanted),
        cmocka_unit_test(test_record_null),
        cmocka_unit_test(test_record_flows),
        cmocka_unit_test(test_undeclared_parameter),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_end_of_pipe),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
