/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include "baseline_file.h"
#include "finish.h"

/* Journals of up to a gigabyte are read. */
static int run(const struct options *options, struct arena *arena)
{
    struct evidence evidence = { 0 };
    struct verdicts verdicts = { 0 };
    struct error err = { 0 };

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "report needs one run directory");
        return command_fail(&err, EXIT_USAGE);
    }

    const char *const dir = options->args.texts[0];
    const char *const file = arena_format(arena, "%s/journal.ndjson", dir);

    if (evidence_read(file, JOURNAL_LIMIT_BYTES, arena, &evidence, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    if (baseline_fetch(dir, &evidence, arena, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    evidence.plan.reports_count = 0; /* the plan's have been written */
    if (finish_check_reports(options, &evidence.plan, NULL, &err) < 0 ||
        judge_run(&evidence, arena, &verdicts, &err) < 0 ||
        finish_reports(options, &evidence, &verdicts, dir, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    return EXIT_PASSED;
}

const struct command command_report = {
    .name = "report",
    .usage = "RUN_DIR --report FORMAT=FILE...",
    .summary = "writes any report of a kept run again",
    .most_words = 1,
    .run = run,
};
