/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of every rank's GPU behind one address: a store there arrives in all
 * of them. Its place is the whole team, so that all ranks make and destroy it
 * at the same time, as they do with what they map of each other. */
#include <stdlib.h>
#include <string.h>

#include "buffer_kinds.h"
#include "engine_state.h"
#include "peers.h"

struct multicast_buffer {
    struct engine *engine;
    struct team_memory memory;
};

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct peers *const peers = want->engine->setup.peers;

    if (peers == NULL) {
        return buffer_needs_mpi(err);
    }

    struct multicast_buffer *const own = calloc(1, sizeof *own);

    FAIL_IF(own == NULL, err, NVBW_E_SYSTEM, "no memory for a buffer");
    own->engine = want->engine;

    const int32_t status =
        peers_map_team(peers, want->engine, want->bytes, &own->memory, err);

    if (status < 0) {
        free(own);
        return status;
    }
    memset(out, 0, sizeof *out);
    out->kind = &buffer_multicast;
    out->place = want->place;
    out->executor = want->executor;
    out->bytes = own->memory.object.bytes;
    out->device = own->memory.object.address;
    out->replica = own->memory.own.address;
    out->node_seen = -2;
    out->state = own;
    return NVBW_OK;
}

static void destroy(struct buffer *buffer)
{
    struct multicast_buffer *const own = buffer->state;

    peers_unmap_team(own->engine, &own->memory);
    free(own);
}

const struct buffer_kind buffer_multicast = {
    .memory = NVBW_MEM_MULTICAST,
    .on_host = 0,
    .gateable = 1,
    .make = make,
    .destroy = destroy,
};
