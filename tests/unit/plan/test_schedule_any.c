/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Plans, plugins and machines at random, from a fixed seed: the schedule has a
 * unit for all that the plan asks for and for nothing else, in order, and each
 * cell of it once. What must come out is worked out here anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"
#include "state.h"

enum {
    DRAWS = 2000,
    GPUS_MOST = 72,
    NODES_MOST = 5,
    PLUGINS_MOST = 3,
    TESTCASES_MOST = 4,
    METRICS_MOST = 4,
    SUITES_MOST = 4,
    VALUES_MOST = 3,
    TAGS = 3,
    ARENA_BYTES = 512 << 20
};

/* What was drawn, with all that the plan and the schemas point to. */
static struct gpu_facts gpus[GPUS_MOST];
static struct node_facts nodes[NODES_MOST];
static struct facts facts;
static struct plugin_schema plugins[PLUGINS_MOST];
static struct testcase_schema testcases[PLUGINS_MOST][TESTCASES_MOST];
static struct metric_schema metrics[PLUGINS_MOST][TESTCASES_MOST][METRICS_MOST];
static const char *testcase_tags[PLUGINS_MOST][TESTCASES_MOST][1];
static struct plan plan;
static struct plan_suite suites[SUITES_MOST];
static struct plan_value params[SUITES_MOST][4];
static const char *texts[SUITES_MOST][4][VALUES_MOST];
static const char *suite_tests[SUITES_MOST][1], *suite_tags[SUITES_MOST][1];
static struct plan_value repeat;
static const char *repeat_text[1], *only[1], *plan_tags[1];
static char device_words[SUITES_MOST + 1][32];

static const char *const plugin_names[] = { "p0", "p1", "p2" };
static const char *const testcase_names[] = { "copy", "read", "copy_wide",
    "all" };
static const char *const metric_names[] = { "a", "b", "c", "d" };
static const char *const tag_names[TAGS] = { "fast", "slow", "odd" };
static const char *const globs[] = { "*", "copy*", "read", "nothing" };
static const char *const numbers[] = { "1", "2", "3", "4", "5", "6", "7" };

static uint64_t seed = 20261130;

/* Below `limit`; by xorshift. */
static uint32_t draw(uint32_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % limit);
}

/* ---- Drawing ------------------------------------------------------------- */

static struct param_schema own_params[] = {
    { .name = "lanes",
        .type = NVBW_TYPE_INT,
        .flags = NVBW_PARAM_LIST,
        .default_text = "1, 2" },
    { .name = "k", .type = NVBW_TYPE_INT, .default_text = "2" },
};

static void draw_machine(void)
{
    facts = (struct facts){ .driver_version = "550",
        .cuda_version = 13000,
        .sm_kernels = 1,
        .memory_bytes = UINT64_C(1) << 40,
        .gpus = gpus,
        .gpus_count = draw(GPUS_MOST + 1),
        .nodes = nodes,
        .nodes_count = 1 + draw(NODES_MOST) };
    for (uint32_t i = 0; i < facts.gpus_count; i++) {
        gpus[i] = (struct gpu_facts){
            .index = (int32_t)i, .device = (int32_t)i, .compute = 90
        };
    }
    for (uint32_t i = 0; i < facts.nodes_count; i++) {
        nodes[i] = (struct node_facts){ .number = (int32_t)i,
            .memory_bytes = draw(3) > 0 ? 1 << 30 : 0 };
    }
}

static void draw_testcase(uint32_t plugin, uint32_t at)
{
    static const char *const axes[] = { NULL, "gpu", "numa", "#k", "lanes" };
    struct testcase_schema *const testcase = &testcases[plugin][at];

    testcase_tags[plugin][at][0] = tag_names[draw(TAGS)];
    *testcase = (struct testcase_schema){ .name = testcase_names[at],
        .tags = testcase_tags[plugin][at],
        .tags_count = draw(2),
        .params = own_params,
        .params_count = 2,
        .metrics = metrics[plugin][at],
        .metrics_count = 1 + draw(METRICS_MOST) };
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        const int is_pair = draw(3) == 0;

        metrics[plugin][at][i] = (struct metric_schema){
            .name = metric_names[i],
            .better = NVBW_HIGHER,
            .flags = is_pair ? NVBW_METRIC_PAIRS : 0,
            .rows = is_pair ? "gpu" : axes[draw(5)],
            .cols = is_pair ? "gpu" : axes[draw(5)],
        };
    }
}

static uint32_t draw_plugins(void)
{
    const uint32_t count = 1 + draw(PLUGINS_MOST);

    for (uint32_t i = 0; i < count; i++) {
        const int is_broken = draw(6) == 0;

        plugins[i] = (struct plugin_schema){ .name = plugin_names[i],
            .file = "/p.so",
            .testcases = testcases[i],
            .testcases_count = is_broken ? 0 : 1 + draw(TESTCASES_MOST),
            .state = is_broken ? STATE_ERROR : STATE_NONE,
            .reason = is_broken ? "refused" : NULL };
        for (uint32_t k = 0; k < plugins[i].testcases_count; k++) {
            draw_testcase(i, k);
        }
    }
    return count;
}

/* "3", "2-7" or "all" of the GPUs that there are. */
static const char *draw_devices(char *out, size_t size)
{
    if (facts.gpus_count == 0 || draw(3) == 0) {
        return "all";
    }

    const uint32_t first = draw(facts.gpus_count);
    const uint32_t last = first + draw(facts.gpus_count - first);

    snprintf(out, size, first == last ? "%u" : "%u-%u", first, last);
    return out;
}

static void add_param(uint32_t suite, const char *name, uint32_t count)
{
    const uint32_t at = suites[suite].params_count++;

    for (uint32_t i = 0; i < count; i++) {
        texts[suite][at][i] = numbers[draw(7)];
    }
    params[suite][at] = (struct plan_value){ .name = name,
        .texts = texts[suite][at],
        .texts_count = count,
        .is_list = count > 1,
        .kind = PLAN_NUMBER };
}

static void draw_suite(uint32_t at, uint32_t plugins_count)
{
    suite_tests[at][0] = globs[draw(4)];
    suite_tags[at][0] = tag_names[draw(TAGS)];
    suites[at] =
        (struct plan_suite){ .plugin = plugin_names[draw(plugins_count)],
            .enabled = draw(5) > 0,
            .tests = suite_tests[at],
            .tests_count = draw(2),
            .tags = suite_tags[at],
            .tags_count = draw(2),
            .params = params[at] };
    if (draw(2) == 0) {
        add_param(at, "lanes", 1 + draw(VALUES_MOST));
    }
    if (draw(2) == 0) {
        add_param(at, "k", 1 + draw(VALUES_MOST));
    }
    if (draw(2) == 0) {
        add_param(at, "copies", 1 + draw(VALUES_MOST));
    }
    if (draw(2) == 0) {
        add_param(at, "devices", 1);
        texts[at][suites[at].params_count - 1][0] =
            draw_devices(device_words[at], sizeof device_words[at]);
    }
}

static void draw_plan(uint32_t plugins_count)
{
    repeat_text[0] = numbers[draw(3)];
    repeat = (struct plan_value){
        .name = "repeat", .texts = repeat_text, .texts_count = 1
    };
    only[0] = globs[draw(4)];
    plan_tags[0] = tag_names[draw(TAGS)];
    plan = (struct plan){ .suites = suites,
        .suites_count = 1 + draw(SUITES_MOST),
        .options = &repeat,
        .options_count = draw(2),
        .only = only,
        .only_count = draw(4) == 0,
        .tags = plan_tags,
        .tags_count = draw(3) == 0,
        .devices = draw(3) == 0 ? draw_devices(device_words[SUITES_MOST],
                                      sizeof device_words[0])
                                : NULL };
    for (uint32_t i = 0; i < plan.suites_count; i++) {
        draw_suite(i, plugins_count);
    }
}

/* ---- What must come out -------------------------------------------------- */

static int is_like(const char *glob, const char *name)
{
    return strcmp(glob, "*") == 0 || strcmp(glob, name) == 0 ||
           (strcmp(glob, "copy*") == 0 && strncmp(name, "copy", 4) == 0);
}

static int is_wanted(
    const struct plan_suite *suite, const struct testcase_schema *testcase)
{
    const int has_tag =
        plan.tags_count == 0 ||
        (suite->tags_count == 1 && strcmp(suite->tags[0], plan.tags[0]) == 0) ||
        (testcase != NULL && testcase->tags_count == 1 &&
            strcmp(testcase->tags[0], plan.tags[0]) == 0);

    if (!suite->enabled || !has_tag) {
        return 0;
    }
    if (testcase == NULL) {
        return plan.only_count == 0;
    }
    return (suite->tests_count == 0 ||
               is_like(suite->tests[0], testcase->name)) &&
           (plan.only_count == 0 || is_like(plan.only[0], testcase->name));
}

static const struct plan_value *given(
    const struct plan_suite *suite, const char *name)
{
    for (uint32_t i = 0; i < suite->params_count; i++) {
        if (strcmp(suite->params[i].name, name) == 0) {
            return &suite->params[i];
        }
    }
    return NULL;
}

static uint32_t given_count(const struct plan_suite *suite, const char *name)
{
    const struct plan_value *const value = given(suite, name);

    return value == NULL ? 1 : value->texts_count;
}

/* First and last of what draw_devices said. */
static void span_of(const char *words, uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = facts.gpus_count - 1;
    if (words == NULL || strcmp(words, "all") == 0) {
        return;
    }
    if (sscanf(words, "%u-%u", first, last) == 1) {
        *last = *first;
    }
}

static void check_gpus(const struct unit *unit, const struct plan_suite *suite)
{
    const struct plan_value *const own = given(suite, "devices");
    uint32_t first;
    uint32_t last;
    uint32_t from;
    uint32_t to;

    if (facts.gpus_count == 0) {
        assert_int_equal(unit->gpus_count, 0);
        return;
    }
    span_of(own == NULL ? NULL : own->texts[0], &first, &last);
    span_of(plan.devices, &from, &to);
    first = first > from ? first : from;
    last = last < to ? last : to;
    assert_int_equal(unit->gpus_count, first > last ? 0 : last - first + 1);
    for (uint32_t i = 0; i < unit->gpus_count; i++) {
        assert_int_equal(unit->gpus[i], first + i);
    }
}

static uint32_t nodes_with_memory(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < facts.nodes_count; i++) {
        count += nodes[i].memory_bytes > 0;
    }
    return count;
}

static uint32_t entries_of(const struct unit *unit,
    const struct plan_suite *suite, const char *axis, const char *k)
{
    uint32_t count = 1;

    if (axis == NULL) {
        return 1;
    }
    if (strcmp(axis, "gpu") == 0) {
        count = unit->gpus_count;
    } else if (strcmp(axis, "numa") == 0) {
        count = nodes_with_memory();
    } else if (strcmp(axis, "#k") == 0) {
        sscanf(k, "%u", &count);
    } else {
        count = given(suite, "lanes") == NULL ? 2 : given_count(suite, axis);
    }
    return count > 0 ? count : 1; /* the one that says why there is none */
}

/* Every number is one cell or a diagonal, and names its place both ways. */
static uint32_t check_numbers(const struct unit *unit)
{
    const uint32_t span = unit_cell_span(unit);
    uint32_t number = 0;
    uint32_t cells = 0;

    for (uint32_t shape = 0; shape < unit->shapes_count; shape++) {
        const struct unit_shape *const at = &unit->shapes[shape];

        for (uint32_t i = 0; i < at->rows * at->cols; i++, number++) {
            const uint32_t row = i / at->cols;
            const uint32_t col = i % at->cols;
            const int is_cell = !at->pairs || row != col;
            struct cell_place place = { 0 };

            assert_int_equal(unit_cell_at(unit, number, &place), is_cell);
            assert_int_equal(unit_cell_number(unit, at->metric, row, col),
                is_cell ? (int32_t)number : -1);
            cells += (uint32_t)is_cell;
            if (is_cell) {
                assert_int_equal(place.shape, shape);
                assert_int_equal(place.row, row);
                assert_int_equal(place.col, col);
            }
        }
    }

    struct cell_place beyond;

    assert_int_equal(number, span);
    assert_int_equal(cells, unit_cell_count(unit));
    assert_false(unit_cell_at(unit, span, &beyond));
    assert_false(unit_cell_at(unit, UINT32_MAX, &beyond));
    return cells;
}

/* What the schedule is at, while what must come is gone through. */
struct walk {
    const struct schedule *schedule;
    uint32_t unit, cells;
};

static const struct unit *next_unit(
    struct walk *walk, uint32_t round, uint32_t suite, const char *testcase)
{
    assert_true(walk->unit < walk->schedule->units_count);

    const struct unit *const unit = &walk->schedule->units[walk->unit];

    assert_int_equal(unit->id, walk->unit);
    assert_int_equal(unit->round, round);
    assert_int_equal(unit->suite, suite);
    assert_string_equal(unit->testcase, testcase);
    assert_string_equal(unit->plugin, plan.suites[suite].plugin);
    walk->unit++;
    walk->cells += check_numbers(unit);
    return unit;
}

/* The value of a swept parameter at this point. */
static void check_value(const struct unit *unit, const struct plan_suite *suite,
    const char *name, uint32_t at)
{
    const struct plan_value *const value = given(suite, name);

    if (value != NULL) {
        assert_string_equal(
            unit_param(unit, name)->values[0], value->texts[at]);
    }
}

static void check_point(struct walk *walk, uint32_t round, uint32_t suite_at,
    const struct testcase_schema *testcase, uint32_t copies, uint32_t k)
{
    const struct plan_suite *const suite = &plan.suites[suite_at];
    const struct unit *const unit =
        next_unit(walk, round, suite_at, testcase->name);

    check_value(unit, suite, "copies", copies);
    check_value(unit, suite, "k", k);
    check_gpus(unit, suite);
    assert_int_equal(unit->shapes_count, testcase->metrics_count);
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        const struct metric_schema *const metric = &testcase->metrics[i];
        const struct unit_shape *const shape = &unit->shapes[i];
        const char *const text = unit_param(unit, "k")->values[0];

        assert_int_equal(
            shape->rows, entries_of(unit, suite, metric->rows, text));
        assert_int_equal(
            shape->cols, entries_of(unit, suite, metric->cols, text));
        assert_int_equal(
            shape->row_labels_count, metric->rows == NULL ? 0 : shape->rows);
        assert_int_equal(
            shape->pairs, (metric->flags & NVBW_METRIC_PAIRS) != 0 &&
                              shape->rows * shape->cols > 1);
    }
}

static void check_suite(struct walk *walk, uint32_t round, uint32_t at,
    const struct plugin_schema *plugin)
{
    const struct plan_suite *const suite = &plan.suites[at];

    if (plugin->state != STATE_NONE) {
        if (is_wanted(suite, NULL)) {
            assert_int_equal(
                unit_cell_count(next_unit(walk, round, at, "*")), 1);
        }
        return;
    }
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const uint32_t ks = given_count(suite, "k");
        const uint32_t points = given_count(suite, "copies") * ks;

        for (uint32_t point = 0;
             is_wanted(suite, &plugin->testcases[i]) && point < points;
             point++) {
            check_point(
                walk, round, at, &plugin->testcases[i], point / ks, point % ks);
        }
    }
}

static void check_schedule(
    const struct schedule *schedule, uint32_t plugins_count)
{
    struct walk walk = { .schedule = schedule };
    const uint32_t rounds =
        plan.options_count == 0 ? 1 : (uint32_t)(repeat_text[0][0] - '0');

    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < plan.suites_count; i++) {
            for (uint32_t k = 0; k < plugins_count; k++) {
                if (strcmp(plugins[k].name, plan.suites[i].plugin) == 0) {
                    check_suite(&walk, round, i, &plugins[k]);
                }
            }
        }
    }
    assert_int_equal(walk.unit, schedule->units_count);
    assert_int_equal(walk.cells, schedule->cells);
}

static void all_is_planned_once(void **state)
{
    uint32_t units = 0;
    uint64_t cells = 0;

    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct arena arena;
        struct schedule schedule;
        struct error err = { 0 };

        arena_init(&arena, ARENA_BYTES);
        draw_machine();
        const uint32_t plugins_count = draw_plugins();

        draw_plan(plugins_count);
        if (schedule_build(&plan, plugins, plugins_count, &facts, &arena,
                &schedule, &err) < 0) {
            fail_msg("draw %u: %s", i, err.text);
        }
        check_schedule(&schedule, plugins_count);
        units += schedule.units_count;
        cells += schedule.cells;
        arena_clear(&arena);
    }
    /* What was drawn is not trivial. */
    assert_true(units > 5 * DRAWS);
    assert_true(cells > UINT64_C(1000) * DRAWS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_planned_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
