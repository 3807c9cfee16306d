/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>

#include "judge.h"
#include "nvloom_csv.h"
#include "plan_layer.h"
#include "say.h"

static int convert(const char *file, struct arena *arena, struct strbuf *plan)
{
    struct problems problems = { .arena = arena };
    struct plan_file csv;
    struct error err = { 0 };

    if (plan_file_read(file, arena, &csv, &err) < 0 ||
        nvloom_csv_plan(file, csv.text, plan, &problems, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    for (uint32_t i = 0; i < problems.count; i++) {
        say_problem("CSV file", &problems.list[i]);
    }
    if (problems.errors > 0) {
        error_set(&err, NVBW_E_INVALID,
            "%u mistake%s in %.400s, no plan was made", problems.errors,
            problems.errors == 1 ? "" : "s", file);
        return command_fail(&err, EXIT_USAGE);
    }
    fputs(plan->text, stdout);
    return EXIT_PASSED;
}

static int run(const struct options *options, struct arena *arena)
{
    struct error err = { 0 };
    struct strbuf plan;

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "from-nvloom needs one CSV file");
        return command_fail(&err, EXIT_USAGE);
    }
    strbuf_init(&plan, NVLOOM_PLAN_BYTES);

    const int code = convert(options->args.texts[0], arena, &plan);

    strbuf_free(&plan);
    return code;
}

const struct command command_from_nvloom = {
    .name = "from-nvloom",
    .usage = "FILE.csv > PLAN.cfg",
    .most_words = 1,
    .summary = "makes a plan for the plugin pattern of nvloom's CSV file",
    .run = run,
};
