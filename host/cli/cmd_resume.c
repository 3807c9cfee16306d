/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <string.h>

#include "finish.h"
#include "prepare.h"
#include "run.h"
#include "select.h"

/* The same GPUs in the same order, or the run cannot go on here. */
static int32_t check_machine(
    const struct facts *then, const struct facts *here, struct error *err)
{
    FAIL_IF(strcmp(then->host, here->host) != 0, err, NVBW_E_INVALID,
        "the run was made on \"%s\", this is \"%s\"", then->host, here->host);
    FAIL_IF(then->gpus_count != here->gpus_count, err, NVBW_E_INVALID,
        "the run had %u GPUs, this machine has %u now", then->gpus_count,
        here->gpus_count);
    for (uint32_t i = 0; i < here->gpus_count; i++) {
        FAIL_IF(strcmp(then->gpus[i].uuid, here->gpus[i].uuid) != 0, err,
            NVBW_E_INVALID, "GPU %d was %s, it is %s now", here->gpus[i].index,
            then->gpus[i].uuid, here->gpus[i].uuid);
    }
    return NVBW_OK;
}

/* Each plugin must still be the very file that the run began with. */
static int32_t check_plugins(const struct prepared *prepared,
    const struct evidence *evidence, struct error *err)
{
    const struct discover_request request = {
        .trust_all = evidence->header.untrusted,
        .host_file = prepared->parts.host,
    };

    for (uint32_t i = 0; i < evidence->plugins_count; i++) {
        const struct plugin_schema *const plugin = &evidence->plugins[i];
        struct candidate candidate = { 0 };

        if (plugin->state != STATE_NONE) {
            continue;
        }
        TRY(discover_file(
            &request, plugin->file, prepared->arena, &candidate, err));
        FAIL_IF(candidate.sha256 == NULL || plugin->sha256 == NULL ||
                    strcmp(candidate.sha256, plugin->sha256) != 0,
            err, NVBW_E_INVALID,
            "plugin %s is not the file that the run began with: %s",
            plugin->name, plugin->file);
    }
    return NVBW_OK;
}

static int32_t go_on(struct prepared *prepared, struct evidence *evidence,
    const struct run_dir *dir, struct error *err)
{
    struct journal *journal = NULL;

    prepared->setup.log_dir =
        arena_format(prepared->arena, "%s/workers", dir->path);
    TRY(journal_open(dir->path, &journal, err));

    const struct run_parts run = { .setup = &prepared->setup,
        .evidence = evidence,
        .arena = prepared->arena,
        .journal = journal };
    int32_t status = run_dir_reopen(dir, err);

    if (status >= 0) {
        status = run_units(prepared->options, &run, err);
    }
    journal_close(journal);
    return status;
}

/* All that can turn a resumption away before it changes anything. */
static int32_t read_back(struct prepared *prepared, struct evidence *evidence,
    const struct run_dir *dir, struct error *err)
{
    const char *const file =
        arena_format(prepared->arena, "%s/journal.ndjson", dir->path);

    TRY(evidence_read(
        file, JOURNAL_LIMIT_BYTES, prepared->arena, evidence, err));
    FAIL_IF(!evidence->begun, err, NVBW_E_INVALID,
        "%s: the run was broken off before it measured anything, and not all "
        "of its plan is there; begin it anew",
        file);
    FAIL_IF(select_flag(&evidence->plan, "mpi"), err, NVBW_E_INVALID,
        "a run between MPI ranks cannot be resumed, since its ranks are gone: "
        "start it again, with --only for the testcases that are missing");
    TRY(baseline_fetch(dir->path, evidence, prepared->arena, err));
    TRY(finish_check_reports(
        prepared->options, &evidence->plan, dir->path, err));
    TRY(prepare_facts(prepared, err));
    TRY(check_machine(&evidence->facts, &prepared->facts, err));
    return check_plugins(prepared, evidence, err);
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct evidence evidence = { 0 };
    struct run_dir dir;
    struct error err = { 0 };

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "resume needs one run directory");
        return command_fail(&err, EXIT_USAGE);
    }
    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        run_dir_open(options->args.texts[0], &dir, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }

    int exit_code = EXIT_USAGE;

    if (read_back(&prepared, &evidence, &dir, &err) < 0) {
        command_fail(&err, exit_code);
    } else if (go_on(&prepared, &evidence, &dir, &err) < 0) {
        exit_code = command_fail(&err, EXIT_INCOMPLETE);
        finish_broken(options, &evidence, &dir, arena);
    } else {
        exit_code = finish_run(options, &evidence, &dir, arena);
    }
    run_dir_close(&dir);
    return exit_code;
}

const struct command command_resume = {
    .name = "resume",
    .usage = "RUN_DIR [--rerun-failed]",
    .summary = "finishes an interrupted run",
    .most_words = 1,
    .run = run,
};
