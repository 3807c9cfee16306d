/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <stdio.h>

#include "baseline_file.h"
#include "compare_text.h"
#include "quantity.h"
#include "text_clean.h"

enum { TEXT_LIMIT = 512 << 20 };
static const double MARGIN_MOST = 0.5;

static int32_t read_margin(
    const struct options *options, double *out, struct error *err)
{
    struct error why = { 0 };

    *out = COMPARE_MARGIN;
    if (options->margin == NULL) {
        return NVBW_OK;
    }
    FAIL_IF(quantity_real(options->margin, NVBW_UNIT_RATIO, out, &why) < 0, err,
        NVBW_E_INVALID, "--margin: %.900s", why.text);
    FAIL_IF(!(*out > 0.0 && *out <= MARGIN_MOST), err, NVBW_E_INVALID,
        "--margin \"%s\" is no margin, write one up to \"50 %%\"",
        options->margin);
    FAIL_IF(quantity_ratio(options->margin, COMPARE_MARGIN, out, &why) < 0, err,
        NVBW_E_INVALID, "--margin: %.900s", why.text);
    return NVBW_OK;
}

static int32_t compare(const struct options *options, struct arena *arena,
    struct strbuf *out, int *out_exit, struct error *err)
{
    struct evidence before = { 0 };
    struct evidence now = { 0 };
    struct comparisons comparisons = { 0 };
    struct compare_request request = {
        .before = &before, .now = &now, .force = options->force
    };

    FAIL_IF(options->args.count != 2, err, NVBW_E_INVALID,
        "compare needs two runs, the old one first: run directories or "
        "baselines");
    TRY(read_margin(options, &request.margin, err));
    TRY(baseline_read(options->args.texts[0], arena, &before, err));
    TRY(baseline_read(options->args.texts[1], arena, &now, err));
    TRY(compare_runs(&request, arena, &comparisons, err));
    *out_exit = comparisons.exit_code;
    if (options->json) {
        return compare_json(&request, &comparisons, out, err);
    }
    compare_text(&request, &comparisons, options->verbose, out);
    return NVBW_OK;
}

static int run(const struct options *options, struct arena *arena)
{
    struct error err = { 0 };
    struct strbuf out;
    int exit_code = EXIT_USAGE;

    strbuf_init(&out, TEXT_LIMIT);
    if (compare(options, arena, &out, &exit_code, &err) < 0) {
        exit_code = command_fail(&err, EXIT_USAGE);
    } else if (!options->quiet || options->json) {
        if (!options->json) {
            text_clean(out.text, 1);
        }
        fputs(out.text, stdout);
    }
    strbuf_free(&out);
    return exit_code;
}

const struct command command_compare = {
    .name = "compare",
    .usage = "OLD NEW [--margin RATIO] [--force] [--json]",
    .summary = "says of each cell SAME, SLOWER, FASTER or UNSURE",
    .most_words = 2,
    .run = run,
};
