/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "needs.h"
#include "quantity.h"
#include "select.h"
#include "shape.h"
#include "state.h"
#include "sweep.h"

enum { UNITS_LIMIT = 100000, ROUNDS_LIMIT = 100000 };

/* Between ranks a cell has this much time at least: whoever is missing has to
 * be found out and told before it is over. */
static const uint64_t mpi_least_ns = UINT64_C(6) * 1000 * 1000 * 1000;

/* What a schedule is made from. */
struct builder {
    const struct plan *plan;
    const struct plugin_schema *plugins;
    uint32_t plugins_count;
    const struct facts *facts;
    struct arena *arena;
    struct schedule *out;
    uint32_t *allowed; /* --devices: positions in facts->gpus */
    uint32_t allowed_count;
    uint32_t round;
    struct needs_rules rules;
};

/* The suite at hand. */
struct suite_at {
    const struct plan_suite *suite;
    const struct plugin_schema *plugin;
    uint32_t position;
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for the schedule");
}

/* ---- Settings ----------------------------------------------------------- */

#define SETTING(builder, suite, member, fallback)                              \
    select_setting((builder)->plan, (suite),                                   \
        offsetof(struct plan_settings, member), (fallback))

/* A site that says it has several GPUs, or NVLink, wants their paths tested:
 * what was only possible becomes required. */
static int expects_peers(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->expect_count; i++) {
        const struct plan_value *const value = &plan->expect[i];
        int64_t count = 0;
        int flag = 0;

        if (strcmp(value->name, "gpus") == 0 &&
            quantity_int(value->texts[0], &count, NULL) == NVBW_OK &&
            count > 1) {
            return 1;
        }
        if (strcmp(value->name, "nvlink") == 0 &&
            quantity_bool(value->texts[0], &flag, NULL) == NVBW_OK && flag) {
            return 1;
        }
    }
    return 0;
}

static const char *effective_required(const struct builder *builder,
    const struct plan_suite *suite, const struct testcase_schema *testcase)
{
    const char *const text = SETTING(builder, suite, required, "yes");

    if (testcase != NULL && strcmp(text, "if_possible") == 0 &&
        (testcase->need_features & (NVBW_NEED_PEER | NVBW_NEED_NVLINK)) != 0 &&
        expects_peers(builder->plan)) {
        return "yes";
    }
    return text;
}

static const char *effective_isolate(
    const struct builder *builder, const struct plan_suite *suite)
{
    const struct plan_value *const option =
        plan_option(builder->plan, "isolate");

    return SETTING(
        builder, suite, isolate, option == NULL ? "auto" : option->texts[0]);
}

static int32_t apply_settings(const struct builder *builder,
    const struct suite_at *at, const struct testcase_schema *testcase,
    struct unit *unit, struct error *err)
{
    int64_t confirm = 0;

    TRY(quantity_int(SETTING(builder, at->suite, confirm, "0"), &confirm, err));
    FAIL_IF(confirm < 0 || confirm > 100, err, NVBW_E_INVALID,
        "suite %s: confirm must be from 0 to 100", suite_name(at->suite));
    unit->confirm = (uint32_t)confirm;
    unit->pass_rule = SETTING(builder, at->suite, pass, NULL);
    unit->required = effective_required(builder, at->suite, testcase);
    unit->isolate = effective_isolate(builder, at->suite);
    return NVBW_OK;
}

/* ---- Places ------------------------------------------------------------- */

static int32_t select_gpus(
    const struct builder *builder, struct unit *unit, struct error *err)
{
    const struct unit_param *const devices = unit_param(unit, "devices");
    struct error why;

    if (devices_select(builder->facts, devices->values, devices->values_count,
            builder->arena, &unit->gpus, &unit->gpus_count, &why) < 0) {
        return error_set(err, why.status, "testcase %s: devices: %.800s",
            unit->testcase, why.text);
    }
    if (builder->plan->devices == NULL) {
        return NVBW_OK;
    }
    if (devices->values_count == 1 && strcmp(devices->values[0], "all") == 0) {
        unit->gpus = builder->allowed;
        unit->gpus_count = builder->allowed_count;
        return NVBW_OK;
    }
    devices_intersect(unit->gpus, &unit->gpus_count, builder->allowed,
        builder->allowed_count);
    return NVBW_OK;
}

static int32_t select_nodes(
    const struct builder *builder, struct unit *unit, struct error *err)
{
    const struct facts *const facts = builder->facts;

    unit->nodes =
        arena_alloc(builder->arena, facts->nodes_count, sizeof *unit->nodes);
    if (unit->nodes == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < facts->nodes_count; i++) {
        if (facts->nodes[i].memory_bytes > 0) {
            unit->nodes[unit->nodes_count++] = i;
        }
    }
    return NVBW_OK;
}

/* ---- Units -------------------------------------------------------------- */

static int32_t append_unit(
    const struct builder *builder, const struct unit *unit, struct error *err)
{
    struct schedule *const out = builder->out;

    FAIL_IF(out->units_count == UNITS_LIMIT, err, NVBW_E_INVALID,
        "the plan has more than %d units, sweep or repeat less", UNITS_LIMIT);

    struct unit *const grown = arena_append(
        builder->arena, out->units, &out->units_count, sizeof *grown);

    if (grown == NULL) {
        return no_memory(err);
    }
    out->units = grown;
    grown[out->units_count - 1] = *unit;
    grown[out->units_count - 1].id = out->units_count - 1;
    out->cells += unit_cell_count(unit);
    return NVBW_OK;
}

static struct unit begin_unit(const struct builder *builder,
    const struct suite_at *at, const char *testcase)
{
    return (struct unit){
        .suite = at->position,
        .plugin = at->plugin->name,
        .plugin_file = at->plugin->file,
        .testcase = testcase,
        .round = builder->round,
    };
}

/* One cell that stands for all that could not be planned. */
static int32_t set_placeholder(
    const struct builder *builder, struct unit *unit, struct error *err)
{
    unit->shapes = arena_alloc(builder->arena, 1, sizeof *unit->shapes);
    if (unit->shapes == NULL) {
        return no_memory(err);
    }
    unit->shapes_count = 1;
    unit->shapes[0] = (struct unit_shape){
        .metric = "plugin",
        .better = NVBW_HIGHER,
        .rows = 1,
        .cols = 1,
    };
    return NVBW_OK;
}

static int32_t set_needs(const struct builder *builder,
    const struct testcase_schema *testcase, struct unit *unit,
    struct error *err)
{
    struct needs_answer answer = { 0 };

    if (testcase->problem != NULL) {
        unit->state = STATE_ERROR;
        unit->reason = "contract";
        unit->message = testcase->problem;
        return NVBW_OK;
    }
    TRY(needs_check(testcase, builder->facts, unit->gpus, unit->gpus_count,
        builder->rules, builder->arena, &answer, err));
    unit->state = answer.state;
    unit->reason = answer.reason;
    unit->message = answer.message;
    return NVBW_OK;
}

/* A testcase whose cells cannot be made, because its parameters allow too
 * many, spoils no other suite. */
static int32_t set_shapes(const struct builder *builder,
    const struct testcase_schema *testcase, struct unit *unit,
    struct error *err)
{
    struct error why = { 0 };

    if (testcase->problem != NULL) {
        return set_placeholder(builder, unit, err);
    }

    const int32_t status =
        shape_build(testcase, builder->facts, builder->arena, unit, &why);

    if (status == NVBW_OK) {
        return NVBW_OK;
    }
    FAIL_IF(status != NVBW_E_INVALID, err, status, "%s", why.text);
    unit->state = STATE_ERROR;
    unit->reason = "contract";
    unit->message = arena_text(builder->arena, why.text);
    unit->open_axes = 0;
    return unit->message == NULL ? no_memory(err)
                                 : set_placeholder(builder, unit, err);
}

static int32_t add_point(const struct builder *builder,
    const struct suite_at *at, const struct testcase_schema *testcase,
    const struct sweep *sweep, uint32_t point, struct error *err)
{
    struct unit unit = begin_unit(builder, at, testcase->name);

    TRY(sweep_point(sweep, point, builder->arena, &unit, err));
    TRY(apply_settings(builder, at, testcase, &unit, err));
    TRY(quantity_duration(
        unit_param(&unit, "timeout")->values[0], &unit.timeout_ns, err));
    if (builder->rules.mpi && unit.timeout_ns < mpi_least_ns) {
        unit.timeout_ns = mpi_least_ns;
    }
    TRY(select_gpus(builder, &unit, err));
    TRY(select_nodes(builder, &unit, err));
    TRY(set_needs(builder, testcase, &unit, err));
    TRY(set_shapes(builder, testcase, &unit, err));
    return append_unit(builder, &unit, err);
}

static int32_t add_testcase(const struct builder *builder,
    const struct suite_at *at, const struct testcase_schema *testcase,
    struct error *err)
{
    struct sweep sweep;

    TRY(sweep_build(
        builder->plan, at->suite, testcase, builder->arena, &sweep, err));
    for (uint32_t i = 0; i < sweep.points; i++) {
        TRY(add_point(builder, at, testcase, &sweep, i, err));
    }
    return NVBW_OK;
}

/* ---- Suites ------------------------------------------------------------- */

static int32_t add_unusable(
    const struct builder *builder, const struct suite_at *at, struct error *err)
{
    struct unit unit = begin_unit(builder, at, "*");

    unit.state = at->plugin->state;
    unit.reason = at->plugin->reason;
    unit.message = at->plugin->message;
    TRY(apply_settings(builder, at, NULL, &unit, err));
    TRY(set_placeholder(builder, &unit, err));
    return append_unit(builder, &unit, err);
}

static int32_t add_suite(
    const struct builder *builder, const struct suite_at *at, struct error *err)
{
    if (at->plugin->state != STATE_NONE) {
        return select_runs(builder->plan, at->suite, NULL)
                   ? add_unusable(builder, at, err)
                   : NVBW_OK;
    }
    for (uint32_t i = 0; i < at->plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase =
            &at->plugin->testcases[i];

        if (select_runs(builder->plan, at->suite, testcase)) {
            TRY(add_testcase(builder, at, testcase, err));
        }
    }
    return NVBW_OK;
}

static int32_t add_suites(const struct builder *builder, struct error *err)
{
    const struct plan *const plan = builder->plan;

    for (uint32_t i = 0; i < plan->suites_count; i++) {
        const struct plan_suite *const suite = &plan->suites[i];

        if (!suite->enabled) {
            continue;
        }

        const struct suite_at at = { suite,
            select_plugin(suite, builder->plugins, builder->plugins_count), i };

        FAIL_IF(at.plugin == NULL, err, NVBW_E_INVALID,
            "suite %s: there is no plugin \"%s\"", suite_name(suite),
            suite->plugin);
        TRY(add_suite(builder, &at, err));
    }
    return NVBW_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static int32_t count_rounds(
    const struct plan *plan, uint32_t *out, struct error *err)
{
    const struct plan_value *const option = plan_option(plan, "repeat");
    int64_t rounds = 1;

    if (option != NULL) {
        TRY(quantity_int(option->texts[0], &rounds, err));
    }
    FAIL_IF(rounds < 1 || rounds > ROUNDS_LIMIT, err, NVBW_E_INVALID,
        "repeat must be from 1 to %d", ROUNDS_LIMIT);
    *out = (uint32_t)rounds;
    return NVBW_OK;
}

static int32_t select_allowed(struct builder *builder, struct error *err)
{
    const char **words = NULL;
    uint32_t count = 0;
    struct error why;

    if (builder->plan->devices == NULL) {
        return NVBW_OK;
    }
    TRY(sweep_split(
        builder->plan->devices, builder->arena, &words, &count, err));
    if (devices_select(builder->facts, words, count, builder->arena,
            &builder->allowed, &builder->allowed_count, &why) < 0) {
        return error_set(err, why.status, "%s: %.900s",
            builder->plan->is_pair ? "--pair" : "--devices", why.text);
    }
    return NVBW_OK;
}

int32_t schedule_build(const struct plan *plan,
    const struct plugin_schema *plugins, uint32_t plugins_count,
    const struct facts *facts, struct arena *arena, struct schedule *out,
    struct error *err)
{
    struct builder builder = {
        .plan = plan,
        .plugins = plugins,
        .plugins_count = plugins_count,
        .facts = facts,
        .arena = arena,
        .out = out,
        .rules = { .mpi = (uint32_t)select_flag(plan, "mpi"),
            .allow_multicast = (uint32_t)select_flag(plan, "allow_multicast") },
    };
    uint32_t rounds = 1;

    *out = (struct schedule){ 0 };
    TRY(count_rounds(plan, &rounds, err));
    TRY(select_allowed(&builder, err));
    for (; builder.round < rounds; builder.round++) {
        TRY(add_suites(&builder, err));
    }
    return NVBW_OK;
}

int32_t schedule_close_axes(struct schedule *schedule, uint32_t unit,
    const struct labels_frame *labels, uint32_t labels_count,
    struct arena *arena, struct error *err)
{
    FAIL_IF(unit >= schedule->units_count, err, NVBW_E_INVALID,
        "the schedule has no unit %u", (unsigned)unit);

    struct unit *const closed = &schedule->units[unit];
    const uint32_t before = unit_cell_count(closed);

    TRY(shape_close(closed, labels, labels_count, arena, err));
    schedule->cells = schedule->cells - before + unit_cell_count(closed);
    return NVBW_OK;
}
