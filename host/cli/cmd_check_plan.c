/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>

#include "explain_limits.h"
#include "judge.h"
#include "prepare.h"

/* A plan without a name is called by its file, as it was given last. */
static void print_sound(const struct plan *plan)
{
    const char *const name = plan->name != NULL ? plan->name
                             : plan->files_count == 0
                                 ? ""
                                 : plan->files[plan->files_count - 1];

    printf("plan \"%s\" is sound: %u suite%s\n", name, plan->suites_count,
        plan->suites_count == 1 ? "" : "s");
}

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
        print_sound(&prepared.plan);
    }
    return EXIT_PASSED;
}

const struct command command_check_plan = {
    .name = "check-plan",
    .usage = "-c PLAN [--explain-limits]",
    .summary = "checks a plan without a GPU",
    .run = run,
};
