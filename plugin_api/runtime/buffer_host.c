/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "buffer_host.h"

#include <inttypes.h>
#include <string.h>

/* A place out of range is memory anywhere. */
static const struct node_facts *node_of(const struct buffer_want *want)
{
    if (want->facts == NULL || want->place < 0 ||
        (uint32_t)want->place >= want->facts->nodes_count) {
        return NULL;
    }
    return &want->facts->nodes[want->place];
}

static int32_t look_at_size(const struct buffer_want *want,
    const struct node_facts *node, struct error *err)
{
    if (node == NULL || node->memory_bytes == 0 ||
        want->bytes <= node->memory_bytes) {
        return NVBW_OK;
    }
    error_set(err, NVBW_E_SKIPPED,
        "%" PRIu64 " MiB asked for on node %d, which has %" PRIu64
        " MiB: use a smaller buffer_size",
        want->bytes >> 20, node->number, node->memory_bytes >> 20);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

int32_t buffer_host_make(const struct buffer_want *want, enum host_pages pages,
    struct buffer *out, struct error *err)
{
    const struct node_facts *const node = node_of(want);
    struct host_memory memory;

    TRY(look_at_size(want, node, err));
    TRY(host_memory_map(node, want->bytes, pages, &memory, err));
    memset(out, 0, sizeof *out);
    out->place = want->place;
    out->executor = want->executor;
    out->bytes = memory.bytes;
    out->host = memory.address;
    out->node_seen = memory.node_seen;
    return NVBW_OK;
}

void buffer_host_destroy(struct buffer *buffer)
{
    struct host_memory memory = { .address = buffer->host,
        .bytes = buffer->bytes };

    host_memory_unmap(&memory);
    buffer->host = NULL;
}
