/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Two baselines or journals, divided by a line "%%" (one alone is held against
 * itself): read and compared, as text and JSON, and the second judged with the
 * first as its baseline. */
#include "arena.h"
#include "baseline_file.h"
#include "compare.h"
#include "compare_text.h"
#include "fuzz.h"

enum { ARENA_BYTES = 512 << 20, TEXT_BYTES = 256 << 20 };

static int read_part(
    const struct fuzz_part *part, struct arena *arena, struct evidence *out)
{
    struct fuzz_file file;
    struct error err = { 0 };

    fuzz_file_open(&file, part->bytes, part->length);
    const int32_t status = baseline_read(file.path, arena, out, &err);

    fuzz_file_close(&file);
    fuzz_claim(
        status >= 0 || err.text[0] != '\0', "a refusal without a sentence");
    return status >= 0;
}

static void compare(
    struct evidence *before, struct evidence *now, struct arena *arena)
{
    const struct compare_request request = {
        .before = before, .now = now, .margin = COMPARE_MARGIN, .force = 1
    };
    struct comparisons comparisons = { 0 };
    struct verdicts verdicts = { 0 };
    struct strbuf text;
    struct error err = { 0 };

    strbuf_init(&text, TEXT_BYTES);
    if (compare_runs(&request, arena, &comparisons, &err) >= 0) {
        compare_text(&request, &comparisons, 1, &text);
        compare_json(&request, &comparisons, &text, &err);
    }
    now->baseline = before;
    judge_run(now, arena, &verdicts, &err);
    strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct fuzz_part rest = { bytes, length };
    struct fuzz_part one = rest;
    struct fuzz_part other;
    struct arena arena;
    struct evidence before = { 0 };
    struct evidence now = { 0 };

    fuzz_next_part(&rest, &one);
    if (!fuzz_next_part(&rest, &other)) {
        other = one;
    }
    arena_init(&arena, ARENA_BYTES);
    if (read_part(&one, &arena, &before) && read_part(&other, &arena, &now)) {
        compare(&before, &now, &arena);
    }
    arena_clear(&arena);
    return 0;
}
