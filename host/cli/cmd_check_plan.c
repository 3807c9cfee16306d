/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>

#include "explain_limits.h"
#include "judge.h"
#include "prepare.h"

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct error err = { 0 };

    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        prepare_plan(&prepared, &err) < 0 ||
        prepare_baseline(&prepared, &err) < 0 ||
        prepare_plugins(&prepared, &err) < 0 ||
        prepare_check(&prepared, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    if (options->explain_limits) {
        return explain_limits_print(&prepared);
    }
    if (!options->quiet) {
        printf("plan \"%s\" is sound: %u suites\n",
            prepared.plan.name == NULL ? "" : prepared.plan.name,
            prepared.plan.suites_count);
    }
    return EXIT_PASSED;
}

const struct command command_check_plan = {
    .name = "check-plan",
    .usage = "-c PLAN [--explain-limits]",
    .summary = "checks a plan without a GPU",
    .run = run,
};
