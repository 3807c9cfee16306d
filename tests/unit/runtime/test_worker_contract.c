/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbw-worker with plugins that each break one rule: what the worker itself
 * says of them. Those that crash or hang are the host's to judge. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"
#include "worker_probe.h"

enum { PATH_BYTES = 1024 };

struct row {
    const char *plugin;
    uint32_t unit; /* NVBW_UNIT_* of its metric */
    uint32_t state;
    const char *reason;
    const char *bye; /* NULL: the worker goes on */
};

#define BROKEN STATE_ERROR, "contract", "contract"

static const struct row rows[] = {
    { "undeclared_metric", NVBW_UNIT_COUNT, BROKEN },
    { "undeclared_cell", NVBW_UNIT_COUNT, BROKEN },
    { "undeclared_param", NVBW_UNIT_COUNT, BROKEN },
    { "cell_size", NVBW_UNIT_COUNT, BROKEN },
    { "put_nothing", NVBW_UNIT_COUNT, BROKEN },
    { "put_nan", NVBW_UNIT_COUNT, BROKEN },
    { "skip_unknown", NVBW_UNIT_COUNT, BROKEN },
    { "flow_place", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_executor", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_initiator", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_operation", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_memory", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_flags", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_size", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "flow_bytes", NVBW_UNIT_BYTES_PER_SECOND, BROKEN },
    { "garbage_status", NVBW_UNIT_COUNT, STATE_ERROR, "contract", NULL },
    { "shadow_standard", NVBW_UNIT_COUNT, STATE_ERROR, "contract", NULL },
    { "positive_status", NVBW_UNIT_COUNT, STATE_NONE, NULL, NULL },
    { "fail_init", NVBW_UNIT_COUNT, STATE_ERROR, "system", NULL },
    { "wrong_magic", NVBW_UNIT_COUNT, STATE_ERROR, "contract", NULL },
};

static void start_task(
    struct worker_probe *probe, const char *plugin, uint32_t unit)
{
    static uint32_t node[] = { 0 };
    static uint32_t wanted[] = { 0 };
    static const char *one[] = { "1" };
    static struct unit_param cells = { "cells", one, 1 };
    struct unit_shape shape = { .metric = "figure",
        .unit = unit,
        .rows = 1,
        .cols = 1,
        .col_axis = "#cells" };
    char file[PATH_BYTES];
    struct facts facts;
    const struct task_frame task = { .role = TASK_RUN,
        .plugin_file = file,
        .unit = { .testcase = plugin,
            .plugin = plugin,
            .params = &cells,
            .params_count = 1,
            .nodes = node,
            .nodes_count = 1,
            .shapes = &shape,
            .shapes_count = 1 },
        .wanted = wanted,
        .wanted_count = 1 };

    snprintf(file, sizeof file, "%s/%s/%s.so", BAD_DIR, plugin, plugin);
    probe_start(probe, WORKER_FILE);
    probe_facts(&facts);
    probe_send(probe, FRAME_FACTS, &facts);
    probe_send(probe, FRAME_TASK, &task);
}

/* The DONE frame, whatever cells and measurements come before it. */
static const struct done_frame *find_done(struct worker_probe *probe)
{
    void *object = NULL;
    uint32_t type = 0;

    while (type != FRAME_DONE) {
        type = probe_receive(probe, &object);
        assert_int_not_equal(type, 0);
        assert_int_not_equal(type, FRAME_BYE);
    }
    return object;
}

static void check_row(const struct row *row)
{
    struct worker_probe probe;

    start_task(&probe, row->plugin, row->unit);

    const struct done_frame *const done = find_done(&probe);
    const char *const reason = done->reason == NULL ? "-" : done->reason;

    if (done->state != row->state ||
        strcmp(reason, row->reason == NULL ? "-" : row->reason) != 0) {
        fail_msg("%s: state %u, reason %s: %s", row->plugin, done->state,
            reason, done->message == NULL ? "" : done->message);
    }
    assert_true(row->state == STATE_NONE || done->message != NULL);
    if (row->bye != NULL) {
        const struct bye_frame *const bye = probe_expect(&probe, FRAME_BYE);

        assert_string_equal(bye->why, row->bye);
    }
    assert_int_equal(probe_end(&probe), 0);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i]);
    }
}

/* C15: what init says of itself is the word on every cell. */
static void test_words_of_init(void **state)
{
    struct worker_probe probe;

    (void)state;
    start_task(&probe, "fail_init", NVBW_UNIT_COUNT);

    const struct done_frame *const done = find_done(&probe);

    assert_string_equal(done->message, "no card to talk to");
    assert_int_equal(done->code, 13);
    assert_int_equal(probe_end(&probe), 0);
}

static void expect_cell(const char *plugin, uint32_t state, const char *reason)
{
    struct worker_probe probe;

    start_task(&probe, plugin, NVBW_UNIT_COUNT);

    const struct record *const record = probe_expect(&probe, FRAME_CELL);

    assert_int_equal(record->state, state);
    assert_string_equal(record->reason, reason);
    assert_non_null(record->message);
    find_done(&probe);
    assert_int_equal(probe_end(&probe), 0);
}

static void test_words_on_cells(void **state)
{
    (void)state;
    expect_cell("skip_all", STATE_SKIP, "mig");
    expect_cell("skip_memory", STATE_SKIP, "memory");
    expect_cell("fail_cell", STATE_ERROR, "system");
    expect_cell("fail_all", STATE_ERROR, "system");
    expect_cell("wrong_data", STATE_MISMATCH, "wrong_data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_words_of_init),
        cmocka_unit_test(test_words_on_cells),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
