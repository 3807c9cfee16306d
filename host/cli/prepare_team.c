/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Joining the other ranks of an MPI job, between facts and schedule. */
#include "prepare.h"

#include "select.h"
#include "state.h"

static int runs_any(const struct plan *plan, const struct plan_suite *suite,
    const struct plugin_schema *plugin)
{
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        if (select_runs(plan, suite, &plugin->testcases[i])) {
            return 1;
        }
    }
    return 0;
}

/* The plugin that starts MPI: the first one that is enabled and can. */
static const struct plugin_schema *find_plugin(const struct prepared *prepared)
{
    for (uint32_t i = 0; i < prepared->plan.suites_count; i++) {
        const struct plan_suite *const suite = &prepared->plan.suites[i];
        const struct plugin_schema *const plugin =
            select_plugin(suite, prepared->plugins, prepared->plugins_count);

        if (plugin != NULL && plugin->state == STATE_NONE &&
            (plugin->flags & NVBW_PLUGIN_MPI) != 0 &&
            runs_any(&prepared->plan, suite, plugin)) {
            return plugin;
        }
    }
    return NULL;
}

static int32_t join(struct prepared *prepared,
    const struct plugin_schema *plugin, struct error *err)
{
    struct team_request request = { .setup = &prepared->setup,
        .plugin_file = plugin->file,
        .facts = &prepared->facts,
        .arena = prepared->arena };

    TRY(prepare_gpus(prepared, &request.gpus, &request.gpus_count, err));
    prepared->team = arena_alloc(prepared->arena, 1, sizeof *prepared->team);
    FAIL_IF(prepared->team == NULL, err, NVBW_E_SYSTEM, "out of memory");
    return team_join(&request, prepared->team, err);
}

int32_t prepare_team(struct prepared *prepared, struct error *err)
{
    const struct plugin_schema *const plugin = find_plugin(prepared);

    if (!select_flag(&prepared->plan, "mpi") || plugin == NULL ||
        prepared->options->dry_run) {
        return NVBW_OK;
    }
    TRY(join(prepared, plugin, err));
    prepared->facts = prepared->team->facts;
    /* Each rank has its GPU; what was chosen was chosen among those. */
    prepared->plan.devices = NULL;
    return NVBW_OK;
}

int32_t prepare_team_units(struct prepared *prepared)
{
    const struct team *const team = prepared->team;

    for (uint32_t i = 0; team != NULL && team->reason != NULL &&
                         i < prepared->schedule.units_count;
         i++) {
        struct unit *const unit = &prepared->schedule.units[i];

        if (unit->state == STATE_NONE) {
            unit->state = STATE_SKIP;
            unit->reason = team->reason;
            unit->message = team->message;
        }
    }
    return NVBW_OK;
}

int prepare_follows(const struct prepared *prepared)
{
    return prepared->team != NULL && prepared->team->rank > 0;
}
