/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "baseline_file.h"
#include "baseline_several.h"
#include "between_runs.h"

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

static int32_t format(const struct baseline_run *runs, uint32_t count,
    struct arena *arena, struct strbuf *text, uint32_t *out_cells,
    uint32_t *out_left, struct error *err)
{
    return count == 1 ? baseline_format(&runs[0].evidence, &runs[0].verdicts,
                            text, out_cells, out_left, err)
                      : baseline_format_several(
                            runs, count, arena, text, out_cells, out_left, err);
}

static void say(const char *file, const struct baseline_run *runs,
    uint32_t count, uint32_t cells, uint32_t left)
{
    const char *const host = runs[0].evidence.facts.host;

    printf("%s: %u cells of %s", file, cells, host == NULL ? "?" : host);
    if (count > 1) {
        printf(" in %u runs", count);
    }
    if (count > 1 && count < BETWEEN_RUNS_LEAST) {
        printf(
            "; %d and more also say what runs differ by", BETWEEN_RUNS_LEAST);
    }
    if (left > 0) {
        printf("; %u left out, which failed or were not measured", left);
    }
    printf("\n");
}

static int32_t write_baseline(const struct options *options,
    const struct baseline_run *runs, uint32_t count, const char *file,
    struct arena *arena, struct error *err)
{
    struct strbuf text;
    uint32_t cells = 0;
    uint32_t left = 0;

    strbuf_init(&text, BASELINE_LIMIT_BYTES);

    int32_t status = format(runs, count, arena, &text, &cells, &left, err);

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
        say(file, runs, count, cells, left);
    }
    return NVBW_OK;
}

static int32_t read_run(const char *name, struct arena *arena,
    struct baseline_run *out, struct error *err)
{
    out->name = name;
    TRY(baseline_read(name, arena, &out->evidence, err));
    TRY(baseline_fetch(name, &out->evidence, arena, err));
    return judge_run(&out->evidence, arena, &out->verdicts, err);
}

static int32_t make(
    const struct options *options, struct arena *arena, struct error *err)
{
    const uint32_t count = options->args.count;
    struct baseline_run *const runs = arena_alloc(arena, count, sizeof *runs);

    FAIL_IF(runs == NULL, err, NVBW_E_SYSTEM, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        TRY(read_run(options->args.texts[i], arena, &runs[i], err));
    }

    const char *const file = options->output != NULL
                                 ? options->output
                                 : default_name(&runs[0].evidence, arena);

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    FAIL_IF(!options->force && access(file, F_OK) == 0, err, NVBW_E_INVALID,
        "%s is there already; --force replaces it", file);
    return write_baseline(options, runs, count, file, arena, err);
}

static int run(const struct options *options, struct arena *arena)
{
    struct error err = { 0 };

    if (options->args.count == 0) {
        error_set(&err, NVBW_E_INVALID,
            "baseline needs a run directory, or several of one machine");
        return command_fail(&err, EXIT_USAGE);
    }
    return make(options, arena, &err) < 0 ? command_fail(&err, EXIT_USAGE)
                                          : EXIT_PASSED;
}

const struct command command_baseline = {
    .name = "baseline",
    .usage = "RUN_DIR... [-o FILE]",
    .summary = "makes runs what later ones are held against",
    .most_words = UINT32_MAX,
    .run = run,
};
