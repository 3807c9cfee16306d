/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Joining the other ranks of an MPI job, between facts and schedule. */
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The MPI plugin of that suite, if it runs anything, else NULL. */
static const struct plugin_schema *plugin_of(
    const struct prepared *prepared, const struct plan_suite *suite)
{
    const struct plugin_schema *const plugin =
        select_plugin(suite, prepared->plugins, prepared->plugins_count);

    return plugin != NULL && plugin->state == STATE_NONE &&
                   (plugin->flags & NVBW_PLUGIN_MPI) != 0 &&
                   runs_any(&prepared->plan, suite, plugin)
               ? plugin
               : NULL;
}

static int is_listed(const struct team_request *request, const char *file)
{
    for (uint32_t i = 0; i < request->plugins_count; i++) {
        if (strcmp(request->plugins[i], file) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The plugins that can start MPI, in order of suites; the first one does. */
static int32_t list_plugins(const struct prepared *prepared,
    struct team_request *request, struct error *err)
{
    for (uint32_t i = 0; i < prepared->plan.suites_count; i++) {
        const struct plugin_schema *const plugin =
            plugin_of(prepared, &prepared->plan.suites[i]);

        if (plugin == NULL || is_listed(request, plugin->file)) {
            continue;
        }
        request->plugins = arena_append(prepared->arena, request->plugins,
            &request->plugins_count, sizeof *request->plugins);
        FAIL_IF(request->plugins == NULL, err, NVBW_E_SYSTEM, "out of memory");
        request->plugins[request->plugins_count - 1] = plugin->file;
    }
    return NVBW_OK;
}

static int32_t join(
    struct prepared *prepared, struct team_request *request, struct error *err)
{
    request->plugin_file = request->plugins[0];
    TRY(prepare_gpus(prepared, &request->gpus, &request->gpus_count, err));
    prepared->team = arena_alloc(prepared->arena, 1, sizeof *prepared->team);
    FAIL_IF(prepared->team == NULL, err, NVBW_E_SYSTEM, "out of memory");
    return team_join(request, prepared->team, err);
}

/* The rank by what launchers say, 0 where none does. Only where MPI could not
 * be asked, so that one of the job's processes writes the report and not
 * all. */
static uint32_t launched_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
        "PMI_RANK", "SLURM_PROCID" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const text = secure_getenv(names[i]);

        if (text != NULL) {
            return (uint32_t)strtoul(text, NULL, 10);
        }
    }
    return 0;
}

uint32_t prepare_rank(const struct prepared *prepared)
{
    return select_flag(&prepared->plan, "mpi") ? launched_rank() : 0;
}

/* A job whose ranks do not come together is a run in which nothing could be
 * measured, and rank 0 reports it. */
static int32_t give_up(struct prepared *prepared, const struct error *why)
{
    const struct team *const team = prepared->team;
    const struct cause *const cause = &team->cause;
    const uint32_t rank = team->ranks > 0 ? team->rank : launched_rank();

    prepared->no_team = (struct no_team){ .state = cause->state,
        .reason = cause->reason,
        .message = arena_text(prepared->arena, why->text) };
    prepared->silent = rank > 0;
    if (rank == 0 || !team->told) {
        fprintf(stderr, "nvbw-host: rank %u (host %s): %s\n", rank,
            prepared->facts.host, why->text);
    }
    prepared->team = NULL;
    return NVBW_OK;
}

void prepare_team_rehearsal(struct prepared *prepared)
{
    struct facts *const facts = &prepared->facts;

    if (!select_flag(&prepared->plan, "mpi")) {
        return;
    }
    facts->ranks = facts->gpus_count;
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        facts->gpus[i].host = facts->host;
    }
}

int32_t prepare_team(struct prepared *prepared, struct error *err)
{
    struct team_request request = { .setup = &prepared->setup,
        .facts = &prepared->facts,
        .arena = prepared->arena };
    struct error why = { 0 };

    if (!select_flag(&prepared->plan, "mpi")) {
        return NVBW_OK;
    }
    if (prepared->options->dry_run) {
        prepare_team_rehearsal(prepared);
        prepared->silent = launched_rank() > 0;
        return NVBW_OK;
    }
    TRY(list_plugins(prepared, &request, err));
    if (request.plugins_count == 0) {
        prepared->silent = launched_rank() > 0;
        return NVBW_OK;
    }

    const int32_t status = join(prepared, &request, &why);

    if (status < 0 && status != NVBW_E_INVALID && prepared->team != NULL) {
        return give_up(prepared, &why);
    }
    FAIL_IF(status < 0, err, status, "%s", why.text);
    prepared->facts = prepared->team->facts;
    /* Each rank has its GPU; what was chosen was chosen among those. */
    prepared->plan.devices = NULL;
    return NVBW_OK;
}

/* What keeps ranks from measuring together, or NULL. */
static const char *trouble_of(const struct prepared *prepared,
    uint32_t *out_state, const char **out_reason)
{
    if (prepared->no_team.state != STATE_NONE) {
        *out_state = prepared->no_team.state;
        *out_reason = prepared->no_team.reason;
        return prepared->no_team.message;
    }
    if (prepared->team == NULL || prepared->team->reason == NULL) {
        return NULL;
    }
    *out_state = STATE_SKIP;
    *out_reason = prepared->team->reason;
    return prepared->team->message;
}

int32_t prepare_team_units(struct prepared *prepared)
{
    uint32_t state = STATE_NONE;
    const char *reason = NULL;
    const char *const message = trouble_of(prepared, &state, &reason);

    for (uint32_t i = 0; message != NULL && i < prepared->schedule.units_count;
         i++) {
        struct unit *const unit = &prepared->schedule.units[i];

        if (unit->state == STATE_NONE) {
            unit->state = state;
            unit->reason = reason;
            unit->message = message;
        }
    }
    return NVBW_OK;
}

int prepare_follows(const struct prepared *prepared)
{
    return prepared->silent ||
           (prepared->team != NULL && prepared->team->rank > 0);
}
