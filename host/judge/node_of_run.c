/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "node_of_run.h"

#include <math.h>

#include "cell_figure.h"
#include "counterpart.h"

enum { NAME_BYTES = 160 };

struct digest {
    const struct evidence *evidence;
    const struct verdicts *verdicts;
    cell_name_fn name_cell;
    struct arena *arena;
    struct error *err;
    struct node *out;
    uint32_t units;   /* in the first round */
    uint32_t *firsts; /* per such unit: its first group */
};

/* ---- groups ---- */

static int32_t name_places(const struct digest *digest, const struct unit *unit,
    uint32_t shape, struct node_group *group)
{
    const uint32_t span = unit_cell_span(unit);
    struct cell_place place = { 0 };
    char name[NAME_BYTES];
    uint32_t at = 0;

    for (uint32_t number = 0; number < span; number++) {
        if (!unit_cell_at(unit, number, &place) || place.shape != shape) {
            continue;
        }
        digest->name_cell(
            &digest->evidence->facts, unit, number, name, sizeof name);
        group->places[at] = arena_text(digest->arena, name);
        group->states[at] = name_of(state_names, STATE_PASS);
        group->figures[at] = -1.0;
        FAIL_IF(group->places[at] == NULL, digest->err, NVBW_E_SYSTEM,
            "no memory for the run in short");
        at++;
    }
    return NVBW_OK;
}

static uint32_t count_cells(const struct unit *unit, uint32_t shape)
{
    const uint32_t span = unit_cell_span(unit);
    struct cell_place place = { 0 };
    uint32_t count = 0;

    for (uint32_t number = 0; number < span; number++) {
        count += unit_cell_at(unit, number, &place) && place.shape == shape;
    }
    return count;
}

static int32_t add_group(
    const struct digest *digest, const struct unit *unit, uint32_t shape)
{
    struct node *const out = digest->out;
    const struct unit_shape *const of = &unit->shapes[shape];
    const uint32_t cells = count_cells(unit, shape);
    struct arena *const arena = digest->arena;
    struct node_group *const list =
        arena_append(arena, out->groups, &out->groups_count, sizeof *list);

    FAIL_IF(list == NULL, digest->err, NVBW_E_SYSTEM,
        "no memory for the run in short");
    out->groups = list;

    struct node_group *const group = &list[out->groups_count - 1];

    *group = (struct node_group){ .plugin = unit->plugin,
        .testcase = unit->testcase,
        .sweep = unit->sweep,
        .metric = of->metric,
        .measure = of->unit,
        .better = of->better,
        .places = arena_alloc(arena, cells, sizeof *group->places),
        .places_count = cells,
        .states = arena_alloc(arena, cells, sizeof *group->states),
        .states_count = cells,
        .figures = arena_alloc(arena, cells, sizeof *group->figures),
        .figures_count = cells };
    FAIL_IF(group->places == NULL || group->states == NULL ||
                group->figures == NULL,
        digest->err, NVBW_E_SYSTEM, "no memory for the run in short");
    return name_places(digest, unit, shape, group);
}

static int32_t add_groups(struct digest *digest)
{
    const struct evidence *const evidence = digest->evidence;

    while (digest->units < evidence->units_count &&
           evidence->units[digest->units].round == 0) {
        digest->units++;
    }
    digest->firsts = arena_alloc(
        digest->arena, (size_t)digest->units + 1, sizeof *digest->firsts);
    FAIL_IF(digest->firsts == NULL, digest->err, NVBW_E_SYSTEM,
        "no memory for the run in short");
    for (uint32_t i = 0; i < digest->units; i++) {
        digest->firsts[i] = digest->out->groups_count;
        for (uint32_t k = 0; k < evidence->units[i].shapes_count; k++) {
            TRY(add_group(digest, &evidence->units[i], k));
        }
    }
    return NVBW_OK;
}

/* ---- verdicts ---- */

/* What a plan makes of a state is in the exit code; here the state counts. */
static int is_graver(uint32_t state, const char *than)
{
    uint32_t other = STATE_PASS;

    name_find(state_names, than, &other);

    const int32_t own_code = outcome_of_cell(state, NULL, "yes", 0);
    const int32_t other_code = outcome_of_cell(other, NULL, "yes", 0);

    return own_code == other_code
               ? other == STATE_PASS
               : outcome_worse(other_code, own_code) == own_code;
}

static double reach_of(const struct digest *digest,
    const struct verdict *verdict, const struct unit_shape *shape)
{
    return verdict->record == NULL
               ? 0.0
               : cell_between_runs(digest->evidence, verdict->record, shape)
                     .reach;
}

static void take(const struct digest *digest, const struct verdict *verdict,
    const struct unit_shape *shape, struct node_group *group, uint32_t at)
{
    if (at >= group->places_count) {
        return;
    }
    if (is_graver(verdict->state, group->states[at])) {
        group->states[at] = name_of(state_names, verdict->state);
    }
    if (!isnan(verdict->figure)) {
        group->figures[at] = verdict->figure;
    }
    group->reach = fmax(group->reach, reach_of(digest, verdict, shape));
}

/* Every round has the units of the first, in their order. */
static struct node_group *groups_of(
    const struct digest *digest, const struct unit *unit)
{
    const uint32_t first = digest->units == 0 ? 0 : unit->id % digest->units;

    return digest->units > 0 && digest->out->groups != NULL &&
                   counterpart_is_same_unit(
                       &digest->evidence->units[first], unit) &&
                   digest->evidence->units[first].shapes_count ==
                       unit->shapes_count
               ? &digest->out->groups[digest->firsts[first]]
               : NULL;
}

/* Verdicts stand in order of units and cells, cells in order of shapes. */
static void take_unit(
    const struct digest *digest, const struct unit *unit, uint32_t next)
{
    struct node_group *const groups = groups_of(digest, unit);
    const uint32_t span = groups == NULL ? 0 : unit_cell_span(unit);
    struct cell_place place = { 0 };
    uint32_t shape = 0;
    uint32_t at = 0;

    for (uint32_t number = 0; number < span; number++) {
        if (!unit_cell_at(unit, number, &place)) {
            continue;
        }
        if (place.shape != shape) {
            shape = place.shape;
            at = 0;
        }
        take(digest, &digest->verdicts->list[next++], &unit->shapes[shape],
            &groups[shape], at++);
    }
}

static void take_verdicts(const struct digest *digest)
{
    const struct evidence *const evidence = digest->evidence;
    uint32_t next = 0;

    for (uint32_t i = 0; i < evidence->units_count; i++) {
        take_unit(digest, &evidence->units[i], next);
        next += unit_cell_count(&evidence->units[i]);
    }
}

static int32_t take_findings(const struct digest *digest)
{
    const struct verdicts *const verdicts = digest->verdicts;
    const struct facts *const facts = &digest->evidence->facts;
    struct node *const out = digest->out;

    out->findings = arena_alloc(digest->arena,
        (size_t)verdicts->findings_count + 1, sizeof *out->findings);
    FAIL_IF(out->findings == NULL, digest->err, NVBW_E_SYSTEM,
        "no memory for the run in short");
    out->findings_count = verdicts->findings_count;
    for (uint32_t i = 0; i < verdicts->findings_count; i++) {
        const struct finding *const finding = &verdicts->findings[i];

        out->findings[i] = (struct node_finding){ .id = finding->id,
            .family = finding->family,
            .gpu =
                finding->gpu >= 0 && (uint32_t)finding->gpu < facts->gpus_count
                    ? facts->gpus[finding->gpu].index
                    : -1,
            .what = finding->what,
            .action = finding->action,
            .exit_code = finding->exit_code,
            .accepted = finding->accepted };
    }
    return NVBW_OK;
}

int32_t node_of_run(const struct evidence *evidence,
    const struct verdicts *verdicts, cell_name_fn name_cell,
    struct arena *arena, struct node *out, struct error *err)
{
    struct digest digest = { .evidence = evidence,
        .verdicts = verdicts,
        .name_cell = name_cell,
        .arena = arena,
        .err = err,
        .out = out };
    const struct facts *const facts = &evidence->facts;

    *out = (struct node){ .version = NODE_VERSION,
        .host = facts->host == NULL ? "unknown host" : facts->host,
        .run_id = evidence->header.run_id,
        .started = evidence->header.started,
        .build = evidence->header.build,
        .driver_version = facts->driver_version,
        .plan = evidence->plan.name,
        .plan_sha256 = evidence->plan.sha256,
        .gpu_model = facts->gpus_count > 0 ? facts->gpus[0].name : NULL,
        .gpus = facts->gpus_count,
        .simulated = facts->simulated,
        .complete = evidence->ended && !evidence->end.interrupted,
        .exit_code = (uint32_t)verdicts->exit_code };
    TRY(add_groups(&digest));
    take_verdicts(&digest);
    return take_findings(&digest);
}
