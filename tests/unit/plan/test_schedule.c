/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_fixture.h"
#include "schedule.h"
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct plan_fixture fixture;
static struct schedule schedule;

static struct gpu_facts gpus[] = {
    { .index = 0,
        .device = 0,
        .name = "A",
        .uuid = "GPU-a",
        .pci = "0000:18:00.0",
        .compute = 90 },
    { .index = 1,
        .device = 1,
        .name = "B",
        .uuid = "GPU-b",
        .pci = "0000:3b:00.0",
        .compute = 90 },
};
static struct node_facts nodes[] = {
    { .number = 0, .memory_bytes = 1 << 30, .cpu_count = 4 },
    { .number = 2, .memory_bytes = 0, .cpu_count = 4 },
    { .number = 4, .memory_bytes = 1 << 30, .cpu_count = 4 },
};
static struct pair_facts pairs[] = {
    { .from = 0, .to = 1, .access = 1, .path = "PIX" },
    { .from = 1, .to = 0, .access = 1, .path = "PIX" },
};

static struct facts facts_of(uint32_t gpus_count)
{
    return (struct facts){
        .driver_version = "550",
        .cuda_version = 12040,
        .sm_kernels = 1,
        .memory_bytes = UINT64_C(1) << 40,
        .gpus = gpus,
        .gpus_count = gpus_count,
        .nodes = nodes,
        .nodes_count = 3,
        .pairs = pairs,
        .pairs_count = gpus_count == 2 ? 2 : 0,
    };
}

static struct metric_schema row_metric[] = {
    { .name = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .cols = "gpu" },
};
static struct metric_schema pair_metric[] = {
    { .name = "bandwidth",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .flags = NVBW_METRIC_PAIRS,
        .rows = "gpu",
        .cols = "gpu" },
};
static struct metric_schema own_metrics[] = {
    { .name = "ladder",
        .better = NVBW_HIGHER,
        .rows = "lanes",
        .cols = "numa" },
    { .name = "sampled", .better = NVBW_HIGHER, .rows = "#k" },
    { .name = "named", .better = NVBW_HIGHER, .cols = "text" },
};
static struct param_schema own_params[] = {
    { .name = "lanes",
        .type = NVBW_TYPE_INT,
        .flags = NVBW_PARAM_LIST,
        .default_text = "1, 2,4" },
    { .name = "k", .type = NVBW_TYPE_INT, .default_text = "3" },
};
static const char *slow[] = { "slow" };
static struct testcase_schema testcases[] = {
    { .name = "row", .metrics = row_metric, .metrics_count = 1 },
    { .name = "matrix",
        .metrics = pair_metric,
        .metrics_count = 1,
        .tags = slow,
        .tags_count = 1,
        .need_features = NVBW_NEED_PEER },
    { .name = "own",
        .metrics = own_metrics,
        .metrics_count = 3,
        .params = own_params,
        .params_count = 2 },
};
static struct plugin_schema plugins[] = {
    { .name = "p",
        .file = "/p.so",
        .testcases = testcases,
        .testcases_count = 3 },
    { .name = "broken",
        .file = "/b.so",
        .state = STATE_ERROR,
        .reason = "refused",
        .message = "plugin b.so: it is broken" },
};

static int begin(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fixture_end(&fixture);
    return 0;
}

static int32_t build_with(
    const char *text, uint32_t gpus_count, struct error *err)
{
    const struct facts facts = facts_of(gpus_count);

    if (text != NULL) {
        fixture_load_text(&fixture, text);
    }
    assert_string_equal(fixture_problem(&fixture, 0), "");
    return schedule_build(
        &fixture.plan, plugins, 2, &facts, &fixture.arena, &schedule, err);
}

static void build(const char *text, uint32_t gpus_count)
{
    struct error err = { 0 };

    if (build_with(text, gpus_count, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void test_order_and_defaults(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; } );", 2);
    assert_int_equal(schedule.units_count, 3);

    const struct unit *const unit = &schedule.units[0];

    assert_string_equal(unit->testcase, "row");
    assert_string_equal(schedule.units[1].testcase, "matrix");
    assert_int_equal(schedule.units[1].id, 1);
    assert_string_equal(unit->required, "yes");
    assert_string_equal(unit->isolate, "auto");
    assert_null(unit->pass_rule);
    assert_null(unit->sweep);
    assert_int_equal(unit->confirm, 0);
    assert_true(unit->timeout_ns == UINT64_C(60000000000));
    assert_string_equal(unit_param(unit, "buffer_size")->values[0], "0 B");
    assert_string_equal(unit_param(unit, "mode")->values[0], "adaptive");
    assert_int_equal(unit->gpus_count, 2);
    assert_int_equal(unit->nodes_count, 2);
    assert_int_equal(unit->nodes[1], 2);
    assert_int_equal(unit->state, STATE_NONE);
    assert_int_equal(unit_cell_count(unit), 2);
    assert_int_equal(unit_cell_count(&schedule.units[1]), 2);
    assert_string_equal(unit->shapes[0].col_labels[1], "1");
    assert_int_equal(unit->shapes[0].row_labels_count, 0);
}

static void test_own_axes(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; tests = \"own\"; } );", 2);

    const struct unit *const unit = &schedule.units[0];

    assert_int_equal(unit->shapes[0].rows, 3);
    assert_string_equal(unit->shapes[0].row_labels[2], "4");
    assert_int_equal(unit->shapes[0].cols, 2);
    assert_string_equal(unit->shapes[0].col_labels[1], "4");
    assert_int_equal(unit->shapes[1].rows, 3);
    assert_int_equal(unit->open_axes, 1);
    assert_int_equal(schedule.cells, 6 + 3 + 1);
}

static void test_close_axes(void **state)
{
    const char *names[] = { "a", "b", "c", "d" };
    struct labels_frame labels = {
        .metric = "named", .axis = 1, .names = names, .names_count = 4
    };
    struct error err = { 0 };

    (void)state;
    build("suites = ( { plugin = \"p\"; tests = \"own\"; } );", 2);

    const struct unit_shape *const planned = schedule.units[0].shapes;

    assert_int_equal(
        schedule_close_axes(&schedule, 0, &labels, 0, &fixture.arena, &err),
        NVBW_E_INVALID);
    assert_ptr_equal(schedule.units[0].shapes, planned);
    assert_int_equal(
        schedule_close_axes(&schedule, 0, &labels, 1, &fixture.arena, &err),
        NVBW_OK);
    assert_int_equal(schedule.units[0].open_axes, 0);
    assert_int_equal(schedule.units[0].shapes[2].cols, 4);
    assert_int_equal(schedule.cells, 6 + 3 + 4);
    /* Others may share what was planned. */
    assert_int_equal(planned[2].cols, 1);
    assert_int_equal(planned[2].col_labels_count, 1);
}

static void test_sweep(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; tests = \"row\"; params = {\n"
          "  copies = [ 1, 2, 3 ]; buffer_size = [ \"1 MiB\", \"64 MiB\" ];\n"
          "}; } );",
        2);
    assert_int_equal(schedule.units_count, 6);
    assert_string_equal(schedule.units[0].sweep, "buffer_size=1 MiB, copies=1");
    assert_string_equal(schedule.units[1].sweep, "buffer_size=1 MiB, copies=2");
    assert_string_equal(
        schedule.units[5].sweep, "buffer_size=64 MiB, copies=3");
    assert_string_equal(
        unit_param(&schedule.units[5], "copies")->values[0], "3");
}

static void test_both_is_a_sweep(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; tests = \"row\"; params = {\n"
          "  p2p = \"both\"; }; } );",
        2);
    assert_int_equal(schedule.units_count, 2);
    assert_string_equal(schedule.units[0].sweep, "p2p=on");
    assert_string_equal(schedule.units[1].sweep, "p2p=off");
}

static void test_sweep_is_bounded(void **state)
{
    struct error err = { 0 };

    (void)state;
    fixture_load_text(&fixture,
        "suites = ( { plugin = \"p\"; tests = \"row\"; params = {\n"
        "copies = [1,2,3,4,5,6,7,8]; samples = [1,2,3,4,5,6,7,8];\n"
        "warmup = [1,2,3,4,5,6,7,8]; seed = [1,2,3,4,5,6,7,8];\n"
        "threads = [1,2]; }; } );");
    assert_int_equal(build_with(NULL, 2, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "more than 4096 points"));
}

static void test_precedence(void **state)
{
    (void)state;
    build("defaults = { copies = 5; samples = 7; confirm = 1; };\n"
          "isolate = \"run\";\n"
          "suites = ( { plugin = \"p\"; tests = \"row\"; confirm = 2;\n"
          "  required = \"no\"; pass = \"2 of 3\"; params = { copies = 6; };\n"
          "} );",
        2);

    const struct unit *const unit = &schedule.units[0];

    assert_string_equal(unit_param(unit, "copies")->values[0], "6");
    assert_string_equal(unit_param(unit, "samples")->values[0], "7");
    assert_int_equal(unit->confirm, 2);
    assert_string_equal(unit->required, "no");
    assert_string_equal(unit->pass_rule, "2 of 3");
    assert_string_equal(unit->isolate, "run");
}

static void test_devices(void **state)
{
    static const char *const words[] = { "1", "GPU-b", "0000:3b:00.0",
        "00000000:3B:00.0", "1-1" };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[256];

        snprintf(text, sizeof text,
            "suites = ( { plugin = \"p\"; tests = \"row\"; params = { devices "
            "= \"%s\"; }; } );",
            words[i]);
        build(text, 2);
        assert_int_equal(schedule.units[0].gpus_count, 1);
        assert_int_equal(schedule.units[0].gpus[0], 1);
        assert_string_equal(schedule.units[0].shapes[0].col_labels[0], "1");
    }
    build("defaults = { devices = [ 1, 0, 1 ]; };\n"
          "suites = ( { plugin = \"p\"; tests = \"row\"; } );",
        2);
    assert_int_equal(schedule.units[0].gpus_count, 2);
    assert_int_equal(schedule.units[0].gpus[0], 1);
}

static void test_devices_of_command_line(void **state)
{
    struct error err = { 0 };

    (void)state;
    fixture_load_text(
        &fixture, "suites = ( { plugin = \"p\"; tests = \"row\"; } );");
    fixture.plan.devices = "1";
    build(NULL, 2);
    assert_int_equal(schedule.units[0].gpus_count, 1);
    assert_int_equal(schedule.units[0].gpus[0], 1);
    fixture.plan.devices = "0-7";
    assert_int_equal(build_with(NULL, 2, &err), NVBW_E_INVALID);
    assert_string_equal(err.text,
        "--devices: there is no GPU \"2\" here, this machine has 2: name them "
        "by index, range, UUID or PCI address, or write all");
    build(NULL, 0);
    assert_int_equal(schedule.units[0].gpus_count, 0);
}

static void test_devices_excluded(void **state)
{
    (void)state;
    fixture_load_text(&fixture,
        "suites = ( { plugin = \"p\"; tests = \"row\"; params = { devices = 0; "
        "}; } );");
    fixture.plan.devices = "1";
    build(NULL, 2);
    assert_int_equal(schedule.units[0].gpus_count, 0);
    assert_int_equal(schedule.units[0].state, STATE_SKIP);
    assert_string_equal(schedule.units[0].reason, "excluded");
    assert_int_equal(schedule.cells, 1);
}

static void test_no_gpu(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; } );", 0);
    assert_int_equal(schedule.units[0].state, STATE_SKIP);
    assert_string_equal(schedule.units[0].reason, "no_device");
    assert_int_equal(unit_cell_count(&schedule.units[0]), 1);
    assert_int_equal(unit_cell_count(&schedule.units[1]), 1);
    assert_int_equal(schedule.units[2].state, STATE_NONE);
}

static void test_one_gpu_has_a_cell_for_pairs(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"p\"; tests = \"matrix\"; } );", 1);
    assert_int_equal(schedule.units[0].state, STATE_SKIP);
    assert_string_equal(schedule.units[0].reason, "too_few_devices");
    assert_int_equal(schedule.cells, 1);
}

static void test_expectation_raises_required(void **state)
{
    (void)state;
    build("defaults = { required = \"if_possible\"; };\n"
          "suites = ( { plugin = \"p\"; tests = [ \"row\", \"matrix\" ]; } );",
        2);
    assert_string_equal(schedule.units[1].required, "if_possible");
    build("expect = { gpus = 2; };\n"
          "defaults = { required = \"if_possible\"; };\n"
          "suites = ( { plugin = \"p\"; tests = [ \"row\", \"matrix\" ]; } );",
        2);
    assert_string_equal(schedule.units[0].required, "if_possible");
    assert_string_equal(schedule.units[1].required, "yes");
}

static void test_unusable_plugin(void **state)
{
    (void)state;
    build("suites = ( { plugin = \"broken\"; required = \"no\"; } );", 2);
    assert_int_equal(schedule.units_count, 1);
    assert_string_equal(schedule.units[0].testcase, "*");
    assert_string_equal(schedule.units[0].shapes[0].metric, "plugin");
    assert_int_equal(schedule.units[0].state, STATE_ERROR);
    assert_string_equal(schedule.units[0].reason, "refused");
    assert_int_equal(schedule.cells, 1);
}

static void test_selection(void **state)
{
    const char *only[] = { "row" };
    const char *tags[] = { "slow" };

    (void)state;
    fixture_load_text(
        &fixture, "repeat = 2; suites = ( { plugin = \"p\"; } );");
    fixture.plan.only = only;
    fixture.plan.only_count = 1;
    build(NULL, 2);
    assert_int_equal(schedule.units_count, 2);
    assert_int_equal(schedule.units[1].round, 1);
    assert_int_equal(schedule.units[1].id, 1);
    fixture.plan.only_count = 0;
    fixture.plan.tags = tags;
    fixture.plan.tags_count = 1;
    build(NULL, 2);
    assert_int_equal(schedule.units_count, 2);
    assert_string_equal(schedule.units[0].testcase, "matrix");
}

static void test_refused_testcase(void **state)
{
    (void)state;
    testcases[0].problem = "unknown flag 64";
    build("suites = ( { plugin = \"p\"; tests = \"row\"; } );", 2);
    testcases[0].problem = NULL;
    assert_int_equal(schedule.units[0].state, STATE_ERROR);
    assert_string_equal(schedule.units[0].message, "unknown flag 64");
    assert_int_equal(schedule.cells, 1);
}

static void test_same_input_same_schedule(void **state)
{
    static const char text[] =
        "suites = ( { plugin = \"p\"; params = { copies = [ 1, 2 ]; }; } );";

    (void)state;
    build(text, 2);

    const struct schedule first = schedule;

    build(text, 2);
    assert_int_equal(first.units_count, schedule.units_count);
    for (uint32_t i = 0; i < first.units_count; i++) {
        assert_true(
            fields_equal(&unit_fields, &first.units[i], &schedule.units[i]));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order_and_defaults),
        TEST(test_own_axes),
        TEST(test_close_axes),
        TEST(test_sweep),
        TEST(test_both_is_a_sweep),
        TEST(test_sweep_is_bounded),
        TEST(test_precedence),
        TEST(test_devices),
        TEST(test_devices_of_command_line),
        TEST(test_devices_excluded),
        TEST(test_no_gpu),
        TEST(test_one_gpu_has_a_cell_for_pairs),
        TEST(test_expectation_raises_required),
        TEST(test_unusable_plugin),
        TEST(test_selection),
        TEST(test_refused_testcase),
        TEST(test_same_input_same_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
