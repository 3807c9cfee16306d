/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Summaries of nodes, divided by lines "%%": read and merged to a fleet, which
 * is written as text and JSON. */
#include "arena.h"
#include "fleet.h"
#include "fleet_report.h"
#include "fuzz.h"
#include "node.h"

enum { ARENA_BYTES = 512 << 20, TEXT_BYTES = 256 << 20 };

static void add(struct fleet *fleet, const struct fuzz_part *part)
{
    struct fuzz_file file;
    struct arena arena;
    struct node node = { 0 };
    struct error err = { 0 };
    int32_t status;

    fuzz_file_open(&file, part->bytes, part->length);
    arena_init(&arena, ARENA_BYTES);
    status = node_read(file.path, &arena, &node, &err);
    if (status >= 0) {
        status = fleet_add(fleet, "runs/node", &node, &err);
    }
    fuzz_claim(
        status >= 0 || err.text[0] != '\0', "a refusal without a sentence");
    if (status < 0) {
        fleet_add_trouble(fleet, "runs/node", err.text, &err);
    }
    arena_clear(&arena);
    fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const expected[] = { "node1", "node2" };
    struct fuzz_part rest = { bytes, length };
    struct fuzz_part part;
    struct arena arena;
    struct fleet fleet;
    struct strbuf text;
    struct error err = { 0 };

    arena_init(&arena, ARENA_BYTES);
    strbuf_init(&text, TEXT_BYTES);
    fleet_begin(&fleet, &arena);
    while (fuzz_next_part(&rest, &part)) {
        add(&fleet, &part);
    }
    if (fleet_finish(&fleet, expected, 2, &err) >= 0) {
        for (const struct fleet_format *format = fleet_formats;
             format->name != NULL; format++) {
            strbuf_reset(&text);
            format->write(&fleet, &text, &err);
        }
    }
    strbuf_free(&text);
    arena_clear(&arena);
    return 0;
}
