/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "baseline_file.h"
#include "fleet_report.h"
#include "host_names.h"
#include "report_node.h"

static const size_t FLEET_LIMIT_BYTES = (size_t)4 << 30;
static const size_t NODE_LIMIT_BYTES = (size_t)4 << 30;
static const size_t TEXT_LIMIT_BYTES = (size_t)1 << 30;

struct merge {
    const struct options *options;
    struct arena scratch; /* of one node */
    struct fleet fleet;
};

/* ---- one run ---- */

/* The journal, judged anew: slow, and for runs without a summary too. */
static int32_t read_whole(
    const char *dir, struct arena *arena, struct node *out, struct error *err)
{
    struct evidence evidence = { 0 };
    struct verdicts verdicts = { 0 };

    TRY(baseline_read(dir, arena, &evidence, err));
    TRY(baseline_fetch(dir, &evidence, arena, err));
    TRY(judge_run(&evidence, arena, &verdicts, err));
    return report_node(&evidence, &verdicts, arena, out, err);
}

static int is_there(const char *dir, const char *name, struct arena *arena)
{
    const char *const file = arena_format(arena, "%s/%s", dir, name);

    return file != NULL && access(file, F_OK) == 0;
}

static int32_t read_short(
    const char *dir, struct arena *arena, struct node *out, struct error *err)
{
    const char *const file = arena_format(arena, "%s/summary.ndjson", dir);

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "out of memory");
    FAIL_IF(!is_there(dir, "summary.ndjson", arena) &&
                is_there(dir, "journal.ndjson", arena),
        err, NVBW_E_INVALID,
        "the run was not finished: `nvbw-host resume` finishes it, --full "
        "takes what is there");
    FAIL_IF(!is_there(dir, "summary.ndjson", arena), err, NVBW_E_INVALID,
        "no run is there");
    return node_read(file, arena, out, err);
}

static int32_t add_run(struct merge *merge, const char *dir, struct error *err)
{
    struct node node = { 0 };
    struct error why = { 0 };
    int32_t status = merge->options->full
                         ? read_whole(dir, &merge->scratch, &node, &why)
                         : read_short(dir, &merge->scratch, &node, &why);

    if (status >= 0) {
        status = fleet_add(&merge->fleet, dir, &node, &why);
        FAIL_IF(status == NVBW_E_SYSTEM, err, NVBW_E_SYSTEM, "%s: %.900s", dir,
            why.text);
    }
    return status < 0 ? fleet_add_trouble(&merge->fleet, dir, why.text, err)
                      : NVBW_OK;
}

/* "runs/a" of "runs/a/": what a shell completes is the same run. */
static const char *without_slash(const char *dir, struct arena *arena)
{
    size_t length = strlen(dir);

    while (length > 1 && dir[length - 1] == '/') {
        length--;
    }
    return arena_text_n(arena, dir, length);
}

/* ---- all ---- */

static int32_t add_runs(struct merge *merge, struct error *err)
{
    const struct text_list *const dirs = &merge->options->args;

    FAIL_IF(
        dirs->count == 0, err, NVBW_E_INVALID, "merge needs run directories");
    for (uint32_t i = 0; i < dirs->count; i++) {
        const char *const dir =
            without_slash(dirs->texts[i], merge->fleet.arena);

        FAIL_IF(dir == NULL, err, NVBW_E_SYSTEM, "out of memory");
        TRY(add_run(merge, dir, err));
        arena_clear(&merge->scratch);
    }
    return NVBW_OK;
}

static int32_t write_out(
    const struct options *options, const struct strbuf *text, struct error *err)
{
    FAIL_IF(
        text->failed, err, NVBW_E_SYSTEM, "the fleet's report is too large");
    if (options->output != NULL) {
        return file_write_atomic(
            options->output, text->text, text->length, err);
    }
    fwrite(text->text, 1, text->length, stdout);
    return NVBW_OK;
}

static int32_t report_fleet(
    const struct merge *merge, struct strbuf *text, struct error *err)
{
    if (merge->options->json) {
        TRY(fleet_json(&merge->fleet, text, err));
    } else {
        fleet_text(&merge->fleet, text);
    }
    return write_out(merge->options, text, err);
}

static int32_t merge_all(struct merge *merge, struct error *err)
{
    struct text_list expected = { NULL, 0 };
    struct strbuf text;

    for (uint32_t i = 0; i < merge->options->expected.count; i++) {
        struct error why = { 0 };

        FAIL_IF(host_names_parse(merge->options->expected.texts[i],
                    merge->fleet.arena, &expected, &why) < 0,
            err, NVBW_E_INVALID, "--expect-nodes: %.900s", why.text);
    }
    TRY(add_runs(merge, err));
    TRY(fleet_finish(&merge->fleet, expected.texts, expected.count, err));
    strbuf_init(&text, TEXT_LIMIT_BYTES);

    const int32_t status = report_fleet(merge, &text, err);

    strbuf_free(&text);
    return status;
}

static int run(const struct options *options, struct arena *arena)
{
    struct merge merge = { .options = options };
    struct arena kept;
    struct error err = { 0 };

    (void)arena;
    arena_init(&kept, FLEET_LIMIT_BYTES);
    arena_init(&merge.scratch, NODE_LIMIT_BYTES);
    fleet_begin(&merge.fleet, &kept);

    const int32_t status = merge_all(&merge, &err);
    const int code =
        status < 0 ? command_fail(&err, EXIT_USAGE) : merge.fleet.exit_code;

    arena_clear(&merge.scratch);
    arena_clear(&kept);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .usage = "RUN_DIR... [--expect-nodes HOSTS] [--full] [--json]",
    .summary = "one report of many nodes, outliers and missing ones",
    .run = run,
};
