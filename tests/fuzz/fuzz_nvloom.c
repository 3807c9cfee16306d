/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A CSV file of nvloom. What is made of one without a mistake is a plan that
 * loads: nothing in a file gets out of the comment or text it is put in. */
#include <stdlib.h>

#include "arena.h"
#include "fuzz.h"
#include "nvloom_csv.h"
#include "strbuf.h"

enum { ARENA_BYTES = 256 << 20 };

static void loads(const struct strbuf *plan, struct arena *arena)
{
    struct fuzz_file file;

    fuzz_file_open(&file, (const uint8_t *)plan->text, plan->length);

    const char *paths[] = { file.path };
    const struct plan_request request = { .files = paths, .files_count = 1 };
    struct plan made = { 0 };
    struct problems problems = { .arena = arena };
    struct error err = { 0 };

    fuzz_claim(plan_load(&request, arena, &made, &problems, &err) >= 0 &&
                   problems.errors == 0 && made.suites_count > 0,
        "the plan that was made does not load");
    fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct fuzz_part part = { bytes, length };
    char *const text = fuzz_text(&part);
    struct arena arena;
    struct strbuf plan;
    struct problems problems = { .arena = &arena };
    struct error err = { 0 };

    arena_init(&arena, ARENA_BYTES);
    strbuf_init(&plan, NVLOOM_PLAN_BYTES);
    if (nvloom_csv_plan("in.csv", text, &plan, &problems, &err) < 0) {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
    } else if (problems.errors == 0) {
        loads(&plan, &arena);
    }
    strbuf_free(&plan);
    arena_clear(&arena);
    free(text);
    return 0;
}
