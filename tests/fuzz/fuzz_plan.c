/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plan, then overlays, then `--set` texts, one a line; parts are divided by
 * lines "%%". What loads without an error is checked, and its text for the
 * journal reads back as the same plan. */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "fuzz.h"
#include "plan.h"
#include "strbuf.h"

enum {
    ARENA_BYTES = 256 << 20,
    TEXT_BYTES = 64 << 20,
    FILES_MOST = 3,
    SETS_MOST = 16
};

static void is_told(const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        fuzz_claim(
            problems->list[i].text != NULL && problems->list[i].text[0] != '\0',
            "a problem without a sentence");
    }
}

static void reads_back(const struct plan *plan, struct arena *arena)
{
    struct plan again;
    struct strbuf text;
    struct error err = { 0 };

    strbuf_init(&text, TEXT_BYTES);
    fields_encode(&plan_fields, plan, &text);
    fuzz_claim(fields_decode(&plan_fields, text.text, text.length, arena,
                   &again, &err) >= 0 &&
                   fields_equal(&plan_fields, plan, &again),
        "a plan does not read back");
    strbuf_free(&text);
}

static void load(const struct plan_request *request)
{
    struct arena arena;
    struct plan plan = { 0 };
    struct problems problems = { .arena = &arena };
    struct error err = { 0 };

    arena_init(&arena, ARENA_BYTES);
    if (plan_load(request, &arena, &plan, &problems, &err) >= 0) {
        plan_check(&plan, NULL, 0, &problems);
        if (problems.errors == 0) {
            reads_back(&plan, &arena);
        }
    } else {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
    }
    is_told(&problems);
    arena_clear(&arena);
}

/* The last part where there is more than one. */
static uint32_t cut_sets(char *text, const char **sets)
{
    uint32_t count = 0;
    char *rest = text;
    char *next;

    while (count < SETS_MOST && (next = strsep(&rest, "\n")) != NULL) {
        if (next[0] != '\0') {
            sets[count++] = next;
        }
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct fuzz_part rest = { bytes, length };
    struct fuzz_part part;
    struct fuzz_file files[FILES_MOST];
    const char *paths[FILES_MOST];
    const char *sets[SETS_MOST];
    char *text = NULL;
    struct plan_request request = { .files = paths, .sets = sets };

    while (request.files_count < FILES_MOST && fuzz_next_part(&rest, &part)) {
        if (request.files_count > 0 && rest.length == 0) {
            text = fuzz_text(&part);
            request.sets_count = cut_sets(text, sets);
            break;
        }
        struct fuzz_file *const file = &files[request.files_count];

        fuzz_file_open(file, part.bytes, part.length);
        paths[request.files_count++] = file->path;
    }
    load(&request);
    for (uint32_t i = 0; i < request.files_count; i++) {
        fuzz_file_close(&files[i]);
    }
    free(text);
    return 0;
}
