/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet.h"

#include <math.h>
#include <string.h>

#include "text_clean.h"

enum { SLOTS_FIRST = 1024, NODES_LIMIT = 1 << 20, CELLS_LIMIT = 1 << 22 };

void fleet_begin(struct fleet *fleet, struct arena *arena)
{
    *fleet = (struct fleet){ .arena = arena };
}

static int is_same(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* ---- cells by what they are ---- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return (hash ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t hash_of(const struct fleet_cell *cell)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    hash = mix(hash, cell->plugin);
    hash = mix(hash, cell->testcase);
    hash = mix(hash, cell->sweep);
    hash = mix(hash, cell->metric);
    hash = mix(hash, cell->place);
    hash = mix(hash, cell->gpu_model);
    hash += cell->gpus;
    return hash ^ hash >> 29;
}

static int is_same_cell(
    const struct fleet_cell *one, const struct fleet_cell *other)
{
    return is_same(one->place, other->place) &&
           is_same(one->testcase, other->testcase) &&
           is_same(one->metric, other->metric) &&
           is_same(one->plugin, other->plugin) &&
           is_same(one->sweep, other->sweep) &&
           is_same(one->gpu_model, other->gpu_model) &&
           one->gpus == other->gpus && one->measure == other->measure &&
           one->better == other->better;
}

/* Where it is, or the empty slot where it would be. */
static uint32_t *slot_of(struct fleet *fleet, const struct fleet_cell *like)
{
    uint32_t at = (uint32_t)hash_of(like) & (fleet->slots_count - 1);

    while (fleet->slots[at] != 0 &&
           !is_same_cell(&fleet->cells[fleet->slots[at] - 1], like)) {
        at = (at + 1) & (fleet->slots_count - 1);
    }
    return &fleet->slots[at];
}

static int32_t grow_slots(struct fleet *fleet, struct error *err)
{
    if (fleet->slots_count > 0 && fleet->cells_count < fleet->slots_count / 2) {
        return NVBW_OK;
    }
    fleet->slots_count =
        fleet->slots_count == 0 ? SLOTS_FIRST : fleet->slots_count * 2;
    fleet->slots =
        arena_alloc(fleet->arena, fleet->slots_count, sizeof *fleet->slots);
    FAIL_IF(fleet->slots == NULL, err, NVBW_E_SYSTEM,
        "no memory for the cells of the fleet");
    for (uint32_t i = 0; i < fleet->cells_count; i++) {
        *slot_of(fleet, &fleet->cells[i]) = i + 1;
    }
    return NVBW_OK;
}

static int32_t new_cell(
    struct fleet *fleet, const struct fleet_cell *like, struct error *err)
{
    struct arena *const arena = fleet->arena;

    struct fleet_cell *const cells =
        arena_append(arena, fleet->cells, &fleet->cells_count, sizeof *cells);

    FAIL_IF(cells == NULL, err, NVBW_E_SYSTEM,
        "no memory for the cells of the fleet");
    fleet->cells = cells;
    cells[fleet->cells_count - 1] =
        (struct fleet_cell){ .plugin = arena_text(arena, like->plugin),
            .testcase = arena_text(arena, like->testcase),
            .sweep = arena_text(arena, like->sweep),
            .metric = arena_text(arena, like->metric),
            .place = arena_text(arena, like->place),
            .gpu_model = arena_text(arena, like->gpu_model),
            .gpus = like->gpus,
            .measure = like->measure,
            .better = like->better };
    return NVBW_OK;
}

static int32_t find_cell(struct fleet *fleet, const struct fleet_cell *like,
    struct fleet_cell **out, struct error *err)
{
    TRY(grow_slots(fleet, err));

    uint32_t *const slot = slot_of(fleet, like);

    if (*slot == 0) {
        TRY(new_cell(fleet, like, err));
        *slot = fleet->cells_count;
    }
    *out = &fleet->cells[*slot - 1];
    return NVBW_OK;
}

static int32_t add_figure(struct fleet *fleet, struct fleet_cell *cell,
    const struct fleet_figure *figure, struct error *err)
{
    struct fleet_figure *const list = arena_append(
        fleet->arena, cell->figures, &cell->figures_count, sizeof *list);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "no memory for the cells of the fleet");
    cell->figures = list;
    list[cell->figures_count - 1] = *figure;
    return NVBW_OK;
}

/* ---- a node ---- */

/* A name that this build does not know is of a cell that was not measured. */
static uint32_t state_of(const char *name)
{
    uint32_t state = STATE_ERROR;

    name_find(state_names, name, &state);
    return state == STATE_NONE || state == STATE_MEASURED ? STATE_ERROR : state;
}

static int32_t add_group(struct fleet *fleet, struct fleet_node *to,
    const struct node *node, const struct node_group *group, struct error *err)
{
    struct fleet_cell like = { .plugin = group->plugin,
        .testcase = group->testcase,
        .sweep = group->sweep,
        .metric = group->metric,
        .gpu_model = node->gpu_model,
        .gpus = node->gpus,
        .measure = group->measure,
        .better = group->better };
    struct fleet_cell *cell = NULL;

    for (uint32_t i = 0; i < group->places_count; i++) {
        const double figure = group->figures[i];
        const struct fleet_figure own = { .node = to->number,
            .state = state_of(group->states[i]),
            .figure = figure > 0.0 && isfinite(figure) ? figure : NAN };

        like.place = group->places[i];
        TRY(find_cell(fleet, &like, &cell, err));
        if (isfinite(group->reach) && group->reach > cell->reach) {
            cell->reach = group->reach;
        }
        to->cells++;
        to->by_state[own.state]++;
        TRY(add_figure(fleet, cell, &own, err));
    }
    return NVBW_OK;
}

static int32_t copy_findings(struct fleet *fleet, struct fleet_node *to,
    const struct node *node, struct error *err)
{
    struct arena *const arena = fleet->arena;

    to->findings = arena_alloc(
        arena, (size_t)node->findings_count + 1, sizeof *to->findings);
    FAIL_IF(to->findings == NULL, err, NVBW_E_SYSTEM,
        "no memory for the findings of the fleet");
    to->findings_count = node->findings_count;
    for (uint32_t i = 0; i < node->findings_count; i++) {
        to->findings[i] = node->findings[i];
        to->findings[i].id = arena_text(arena, node->findings[i].id);
        to->findings[i].family = arena_text(arena, node->findings[i].family);
        to->findings[i].what = arena_text(arena, node->findings[i].what);
        to->findings[i].action = arena_text(arena, node->findings[i].action);
    }
    return NVBW_OK;
}

/* A code that is none of ours is of a run that did not end well. */
static int32_t exit_of(const struct node *node)
{
    return node->exit_code <= EXIT_CONTRACT && node->exit_code != EXIT_USAGE
               ? (int32_t)node->exit_code
               : EXIT_INCOMPLETE;
}

static uint32_t count_cells(const struct node *node)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < node->groups_count; i++) {
        count += node->groups[i].places_count;
    }
    return count;
}

int32_t fleet_add(struct fleet *fleet, const char *path,
    const struct node *node, struct error *err)
{
    struct arena *const arena = fleet->arena;

    FAIL_IF(fleet->nodes_count >= NODES_LIMIT, err, NVBW_E_INVALID,
        "more than %d nodes", NODES_LIMIT);
    FAIL_IF(count_cells(node) > CELLS_LIMIT - fleet->cells_count, err,
        NVBW_E_INVALID,
        "with its cells the nodes could have more than %d "
        "different ones",
        CELLS_LIMIT);

    struct fleet_node *const list =
        arena_append(arena, fleet->nodes, &fleet->nodes_count, sizeof *list);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    fleet->nodes = list;

    struct fleet_node *const to = &list[fleet->nodes_count - 1];

    *to = (struct fleet_node){ .path = arena_text(arena, path),
        .host = arena_text(arena, node->host),
        .run_id = arena_text(arena, node->run_id),
        .started = arena_text(arena, node->started),
        .build = arena_text(arena, node->build),
        .driver_version = arena_text(arena, node->driver_version),
        .plan = arena_text(arena, node->plan),
        .plan_sha256 = arena_text(arena, node->plan_sha256),
        .gpu_model = arena_text(arena, node->gpu_model),
        .gpus = node->gpus,
        .simulated = node->simulated,
        .complete = node->complete,
        .exit_code = exit_of(node),
        .number = fleet->order++ };
    FAIL_IF(to->path == NULL || to->host == NULL, err, NVBW_E_SYSTEM,
        "no memory for the fleet");
    TRY(copy_findings(fleet, to, node, err));
    for (uint32_t i = 0; i < node->groups_count; i++) {
        TRY(add_group(fleet, to, node, &node->groups[i], err));
    }
    return NVBW_OK;
}

int32_t fleet_add_trouble(
    struct fleet *fleet, const char *path, const char *why, struct error *err)
{
    struct fleet_trouble *const list = arena_append(
        fleet->arena, fleet->troubles, &fleet->troubles_count, sizeof *list);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    fleet->troubles = list;

    char *const clean = arena_text(fleet->arena, why);

    list[fleet->troubles_count - 1] =
        (struct fleet_trouble){ .path = arena_text(fleet->arena, path),
            .why = clean };
    FAIL_IF(clean == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    text_clean(clean, 0);
    return NVBW_OK;
}
