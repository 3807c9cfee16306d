/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvbandwidth_mode.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "judge.h"
#include "nvbandwidth_names.h"
#include "version.h"

/* ---- Plan ---------------------------------------------------------------- */

int32_t nvbandwidth_mode_plan(struct prepared *prepared, struct error *err)
{
    const struct options *const options = prepared->options;
    struct nvbandwidth_flags flags = options->flags;

    FAIL_IF(options->pair.count > 0 && options->devices != NULL, err,
        NVBW_E_INVALID, "--pair and --devices exclude each other");
    flags.testcases = options->only.texts;
    flags.testcases_count = options->only.count;
    flags.prefixes = options->prefixes.texts;
    flags.prefixes_count = options->prefixes.count;
    flags.pair = options->pair.texts;
    flags.pair_count = options->pair.count;
    flags.json = options->json;
    flags.verbose = options->verbose;
    return nvbandwidth_plan(
        &flags, prepared->arena, &prepared->plan, &prepared->problems, err);
}

int32_t nvbandwidth_mode_settle(struct prepared *prepared, struct error *err)
{
    return nvbandwidth_plan_settle(prepared->arena, &prepared->plan,
        &prepared->plugins, &prepared->plugins_count, err);
}

/* ---- -l ------------------------------------------------------------------ */

static const char *summary_of(const struct prepared *prepared, const char *name)
{
    for (uint32_t i = 0; i < prepared->plugins_count; i++) {
        const struct testcase_schema *const found =
            schema_testcase(&prepared->plugins[i], name);

        if (found != NULL) {
            return found->summary;
        }
    }
    return "No plugin here offers it.";
}

/* The form that scripts read: "INDEX, NAME:" and a line with a tab. */
static void print_list(const struct prepared *prepared, uint32_t version)
{
    printf("nvbandwidth Version: v0.%u\nBuilt from Git version: nvbw-host %s\n"
           "\nIndex, Name:\n\tDescription\n=======================\n",
        version, NVBW_BUILD);
    for (uint32_t i = 0; i < nvbandwidth_count(version); i++) {
        const char *const name = nvbandwidth_at(version, i)->name;

        printf("%u, %s:\n\t%s\n\n", i, name, summary_of(prepared, name));
    }
}

int nvbandwidth_mode_list(const struct options *options, struct arena *arena)
{
    const uint32_t version = nvbandwidth_version(options->flags.version);
    struct prepared prepared;
    struct error err = { 0 };

    if (version == 0) {
        error_set(&err, NVBW_E_INVALID,
            "--nvbandwidth-version \"%.80s\" is not one of 0.8, 0.10",
            options->flags.version);
        return command_fail(&err, EXIT_USAGE);
    }
    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        prepare_plugins(&prepared, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    print_list(&prepared, version);
    return EXIT_PASSED;
}
