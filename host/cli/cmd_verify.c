/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>

#include "judge.h"
#include "run_dir.h"
#include "say.h"

static int run(const struct options *options, struct arena *arena)
{
    struct error err = { 0 };
    const char **bad = NULL;
    uint32_t count = 0;

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "verify needs one run directory");
        return command_fail(&err, EXIT_USAGE);
    }

    const char *const dir = options->args.texts[0];

    if (run_dir_verify(dir, arena, &bad, &count, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    for (uint32_t i = 0; i < count; i++) {
        say("%s/%s", dir, bad[i]);
    }
    if (count == 0 && !options->quiet) {
        printf("%s: all sums are right\n", dir);
    }
    return count == 0 ? EXIT_PASSED : EXIT_FAILED;
}

const struct command command_verify = {
    .name = "verify",
    .usage = "RUN_DIR",
    .summary = "recomputes the sums of a kept run's manifest",
    .most_words = 1,
    .run = run,
};
