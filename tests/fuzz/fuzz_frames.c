/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Bytes of a worker: cut into frames, each decoded. What decodes encodes to
 * bytes that decode to the same. */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "fuzz.h"
#include "inbox.h"
#include "wire.h"

enum { ARENA_BYTES = 256 << 20, TEXT_BYTES = 128 << 20 };

static void try_payload(const struct frame *frame)
{
    const struct fields *const fields = wire_fields(frame->type);
    struct arena arena;
    struct strbuf text;
    struct error err = { 0 };

    if (fields == NULL) {
        return;
    }
    arena_init(&arena, ARENA_BYTES);
    strbuf_init(&text, TEXT_BYTES);
    void *const one = arena_alloc(&arena, 1, fields->size);
    void *const two = arena_alloc(&arena, 1, fields->size);

    fuzz_claim(one != NULL && two != NULL, "no memory for an object");
    if (fields_decode(fields, frame->payload, frame->payload_bytes, &arena, one,
            &err) >= 0) {
        fields_encode(fields, one, &text);
        fuzz_claim(fields_decode(
                       fields, text.text, text.length, &arena, two, &err) >= 0,
            "what was encoded does not decode");
        fuzz_claim(fields_equal(fields, one, two),
            "what was encoded decodes to something else");
    } else {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
    }
    strbuf_free(&text);
    arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct inbox inbox = { 0 };
    struct frame frame;
    struct error err = { 0 };

    inbox.bytes = malloc(length + 1);
    fuzz_claim(inbox.bytes != NULL, "no memory for an inbox");
    memcpy(inbox.bytes, bytes, length);
    inbox.end = length;
    inbox.capacity = length + 1;
    while (inbox_next(&inbox, &frame, &err) == 1) {
        try_payload(&frame);
    }
    inbox_free(&inbox);
    return 0;
}
