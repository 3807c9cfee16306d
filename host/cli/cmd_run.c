/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdlib.h>

#include "dry_run.h"
#include "environment.h"
#include "finish.h"
#include "leave_out.h"
#include "nvbandwidth_mode.h"
#include "plan_copy.h"
#include "prepare.h"
#include "run.h"

static const char *run_pattern(const struct options *options)
{
    return options->run_dir != NULL ? options->run_dir : "nvbw-runs/%h-%t";
}

static int32_t prepare_machine(struct prepared *prepared, struct error *err)
{
    TRY(prepare_plan(prepared, err));
    TRY(prepare_baseline(prepared, err));
    TRY(finish_check_reports(prepared->options, &prepared->plan,
        run_pattern(prepared->options), err));
    TRY(prepare_plugins(prepared, err));
    TRY(prepare_check(prepared, err));
    TRY(prepare_facts(prepared, err));
    return prepare_team(prepared, err);
}

static int32_t prepare_units(struct prepared *prepared, struct error *err)
{
    prepare_doubts(prepared);
    TRY(prepare_baseline_fits(prepared, err));
    TRY(prepare_schedule(prepared, err));
    TRY(prepare_team_units(prepared));
    TRY(prepare_budget(prepared, err));
    return prepare_expect(prepared, err);
}

/* Evidence in memory and journal on disk take the same lines, so a resumed run
 * stands where this one stood. */
struct start {
    struct evidence *evidence;
    struct journal *journal;
    struct arena *arena;
    struct error *err;
};

static int32_t note(
    const struct start *start, uint32_t line_type, const void *object)
{
    TRY(evidence_add(
        start->evidence, start->arena, line_type, object, start->err));
    return journal_add(start->journal, line_type, object, start->err);
}

/* How many pairs are measured, 0: all, and why not all. */
static uint32_t pairs_of(const struct prepared *prepared, const char **out_why)
{
    const char *const given = prepared->options->flags.pairs;

    if (given != NULL) {
        *out_why = "not among the pairs that --targetNumPairs chose";
        return (uint32_t)strtoul(given, NULL, 10);
    }
    *out_why = arena_format(prepared->arena,
        "left out to fit the budget: %u of %u pairs are measured",
        prepared->fit.pairs, prepared->fit.all_pairs);
    return prepared->fit.pairs;
}

/* Pairs that were left out are settled before the run begins. */
static int32_t note_left_out(
    const struct start *start, const struct prepared *prepared)
{
    const char *why = NULL;
    const uint32_t pairs = pairs_of(prepared, &why);

    for (uint32_t i = 0; pairs > 0 && i < prepared->schedule.units_count; i++) {
        struct record *records = NULL;
        uint32_t count = 0;

        TRY(leave_out_pairs(&prepared->schedule.units[i], pairs, why,
            start->arena, &records, &count, start->err));
        for (uint32_t k = 0; k < count; k++) {
            TRY(note(start, LINE_CELL, &records[k]));
        }
    }
    return NVBW_OK;
}

/* Everything that is known before the first unit. */
static int32_t note_all(const struct start *start,
    const struct prepared *prepared, const struct run_header *header)
{
    TRY(note(start, LINE_RUN, header));
    TRY(note(start, LINE_PLAN, &prepared->plan));
    TRY(note(start, LINE_FACTS, &prepared->facts));
    for (uint32_t i = 0; prepare_efficiency(prepared, i) != NULL; i++) {
        TRY(note(start, LINE_EFFICIENCY, prepare_efficiency(prepared, i)));
    }
    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        TRY(note(start, LINE_PLUGIN, &prepared->plugins[i]));
    }
    for (uint32_t i = 0; i < prepared->schedule.units_count; i++) {
        TRY(note(start, LINE_UNIT, &prepared->schedule.units[i]));
    }
    if (prepared->fit_words != NULL) {
        const struct event event = { .what = "warning",
            .unit = -1,
            .gpu = -1,
            .text = prepared->fit_words,
            .now_ns = header->started_ns };

        TRY(note(start, LINE_EVENT, &event));
    }
    TRY(note_left_out(start, prepared));
    TRY(journal_flush(start->journal, start->err));

    /* Where this is missing a part of the plan may be, and a resumed run would
     * pass without it. */
    const struct event begun = { .what = "begun",
        .unit = -1,
        .gpu = -1,
        .text = "all that is planned stands before this",
        .now_ns = header->started_ns };

    TRY(note(start, LINE_EVENT, &begun));
    return journal_flush(start->journal, start->err);
}

static int32_t carry_out(struct prepared *prepared, struct evidence *evidence,
    struct run_dir *dir, struct error *err)
{
    const struct options *const options = prepared->options;
    struct run_header header;
    struct journal *journal = NULL;

    TRY(run_header_fill(&header, options->argc,
        (const char *const *)options->argv, prepared->arena, err));
    header.untrusted = (uint32_t)options->trust_plugins;
    header.wrapped = options->wrap != NULL;
    TRY(plan_copy(dir, &prepared->plan, prepared->arena, err));
    evidence->baseline = prepared->baseline;
    TRY(baseline_keep(evidence, dir, prepared->arena, err));
    prepared->setup.log_dir =
        arena_format(prepared->arena, "%s/workers", dir->path);
    TRY(journal_open(dir->path, &journal, err));

    const struct start start = { evidence, journal, prepared->arena, err };
    const struct run_parts run = { .setup = &prepared->setup,
        .evidence = evidence,
        .arena = prepared->arena,
        .journal = journal,
        .team = prepared->team };
    int32_t status = note_all(&start, prepared, &header);

    if (status >= 0) {
        status = run_units(options, &run, err);
    }
    journal_close(journal);
    return status;
}

static void tell(const struct error *why)
{
    command_fail(why, EXIT_PASSED);
}

/* A rank but 0 exits with 0 whatever comes: rank 0 tells. */
static int follow(const struct prepared *prepared)
{
    struct error err = { 0 };

    if (prepared->team != NULL &&
        team_follow(prepared->team, run_open_signals(), tell, &err) < 0) {
        command_fail(&err, EXIT_PASSED);
    }
    return EXIT_PASSED;
}

/* Where nobody chose a folder, the hint is what helps. */
static int fail_without_dir(const struct error *why)
{
    struct error err = { 0 };

    if (why->status != NVBW_E_SYSTEM) {
        return command_fail(why, EXIT_USAGE);
    }
    error_set(&err, NVBW_E_SYSTEM,
        "%.900s; --run-dir DIR says where a run is kept", why->text);
    return command_fail(&err, EXIT_USAGE);
}

static int report_units(
    struct prepared *prepared, const struct options *options)
{
    struct evidence evidence = { 0 };
    struct run_dir dir;
    struct error err = { 0 };

    if (run_dir_create(run_pattern(options), &dir, &err) < 0) {
        return fail_without_dir(&err);
    }

    int exit_code = EXIT_INCOMPLETE;

    if (carry_out(prepared, &evidence, &dir, &err) < 0) {
        command_fail(&err, exit_code);
        finish_broken(options, &evidence, &dir, prepared->arena);
    } else {
        exit_code = finish_run(options, &evidence, &dir, prepared->arena);
    }
    run_dir_close(&dir);
    return exit_code;
}

/* From the schedule on: what only rank 0 of an MPI job does. */
static int run_prepared(
    struct prepared *prepared, const struct options *options)
{
    struct error err = { 0 };

    if (prepare_units(prepared, &err) < 0) {
        if (prepared->team != NULL) {
            team_leave(prepared->team);
        }
        return command_fail(&err, EXIT_USAGE);
    }
    return options->dry_run ? dry_run_print(prepared)
                            : report_units(prepared, options);
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared = { 0 };
    struct error err = { 0 };

    if (options->list) {
        return nvbandwidth_mode_list(options, arena);
    }
    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        prepare_machine(&prepared, &err) < 0) {
        return prepare_follows(&prepared) ? EXIT_PASSED
                                          : command_fail(&err, EXIT_USAGE);
    }
    return prepare_follows(&prepared) ? follow(&prepared)
                                      : run_prepared(&prepared, options);
}

const struct command command_run = {
    .name = "run",
    .usage = "[-c PLAN]... [--set PATH=VALUE]... [--report FORMAT=FILE]...",
    .summary = "runs a plan; without -c, the installed plans/quick.cfg",
    .run = run,
};
