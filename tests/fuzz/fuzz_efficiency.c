/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A file of efficiencies, as a plan names it. */
#include "arena.h"
#include "efficiency.h"
#include "fuzz.h"

enum { ARENA_BYTES = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct fuzz_file file;
    struct arena arena;
    struct efficiencies found = { 0 };
    struct problems problems = { .arena = &arena };
    struct error err = { 0 };

    fuzz_file_open(&file, bytes, length);
    arena_init(&arena, ARENA_BYTES);

    char *texts[] = { file.path };
    struct plan_value named = {
        .name = "efficiency", .texts = (const char **)texts, .texts_count = 1
    };
    struct plan plan = { .options = &named, .options_count = 1 };

    if (efficiency_load(&plan, NULL, &arena, &found, &problems, &err) < 0) {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
    }
    fuzz_claim(found.count > 0 || problems.errors > 0 || err.text[0] != '\0',
        "a file was passed over without a word");
    arena_clear(&arena);
    fuzz_file_close(&file);
    return 0;
}
