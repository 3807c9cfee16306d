/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "baseline_file.h"

/* "node17.baseline.ndjson"; a journal may hold any text as the host's name. */
static const char *default_name(
    const struct evidence *evidence, struct arena *arena)
{
    const char *const host = evidence->facts.host;
    char *const name = arena_format(arena, "%s.baseline.ndjson",
        host == NULL || host[0] == '\0' ? "machine" : host);

    for (char *at = name; at != NULL && *at != '\0'; at++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789._-",
                *at) == NULL ||
            (at == name && *at == '.')) {
            *at = '_';
        }
    }
    return name;
}

static int32_t write_baseline(const struct options *options,
    const struct evidence *evidence, const struct verdicts *verdicts,
    const char *file, struct error *err)
{
    struct strbuf text;
    uint32_t cells = 0;
    uint32_t left = 0;

    strbuf_init(&text, BASELINE_LIMIT_BYTES);

    int32_t status =
        baseline_format(evidence, verdicts, &text, &cells, &left, err);

    if (status >= 0 && cells == 0) {
        status = error_set(err, NVBW_E_INVALID,
            "the run has no cell that was measured and did not fail, so there "
            "is nothing to make a baseline of");
    }
    if (status >= 0) {
        status = file_write_atomic(file, text.text, text.length, err);
    }
    strbuf_free(&text);
    TRY(status);
    if (!options->quiet) {
        printf("%s: %u cells of %s", file, cells,
            evidence->facts.host == NULL ? "?" : evidence->facts.host);
        if (left > 0) {
            printf("; %u left out, which failed or were not measured", left);
        }
        printf("\n");
    }
    return NVBW_OK;
}

static int32_t make(const struct options *options, const char *dir,
    struct arena *arena, struct error *err)
{
    struct evidence evidence = { 0 };
    struct verdicts verdicts = { 0 };

    TRY(baseline_read(dir, arena, &evidence, err));
    TRY(baseline_fetch(dir, &evidence, arena, err));
    TRY(judge_run(&evidence, arena, &verdicts, err));

    const char *const file = options->output != NULL
                                 ? options->output
                                 : default_name(&evidence, arena);

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    FAIL_IF(!options->force && access(file, F_OK) == 0, err, NVBW_E_INVALID,
        "%s is there already; --force replaces it", file);
    return write_baseline(options, &evidence, &verdicts, file, err);
}

static int run(const struct options *options, struct arena *arena)
{
    struct error err = { 0 };

    if (options->args.count != 1) {
        error_set(&err, NVBW_E_INVALID, "baseline needs one run directory");
        return command_fail(&err, EXIT_USAGE);
    }
    return make(options, options->args.texts[0], arena, &err) < 0
               ? command_fail(&err, EXIT_USAGE)
               : EXIT_PASSED;
}

const struct command command_baseline = {
    .name = "baseline",
    .usage = "RUN_DIR [-o FILE]",
    .summary = "makes a run what later ones are held against",
    .run = run,
};
