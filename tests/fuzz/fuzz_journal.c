/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A journal: read, judged, and written in every format of reports. */
#include "arena.h"
#include "evidence.h"
#include "fuzz.h"
#include "judge.h"
#include "report.h"

enum { ARENA_BYTES = 512 << 20, TEXT_BYTES = 256 << 20 };

static void report(
    const struct evidence *evidence, const struct verdicts *verdicts)
{
    const struct report_input input = { .evidence = evidence,
        .verdicts = verdicts,
        .run_dir = "run",
        .columns = 80 };

    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        struct error err = { 0 };
        struct strbuf text;

        strbuf_init(&text, TEXT_BYTES);
        fuzz_claim(
            format->write(&input, &text, &err) >= 0 || err.text[0] != '\0',
            "a refusal without a sentence");
        strbuf_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct fuzz_file file;
    struct arena arena;
    struct evidence evidence = { 0 };
    struct verdicts verdicts = { 0 };
    struct error err = { 0 };

    fuzz_file_open(&file, bytes, length);
    arena_init(&arena, ARENA_BYTES);
    if (evidence_read(file.path, 64 << 20, &arena, &evidence, &err) >= 0 &&
        judge_run(&evidence, &arena, &verdicts, &err) >= 0) {
        report(&evidence, &verdicts);
    } else {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
    }
    arena_clear(&arena);
    fuzz_file_close(&file);
    return 0;
}
