/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of one rank's GPU that all ranks of an MPI job map. All of them make
 * and destroy it at the same time, so their pools stay alike. */
#include <stdlib.h>
#include <string.h>

#include "buffer_kinds.h"
#include "engine_state.h"
#include "peers.h"

struct fabric_buffer {
    struct engine *engine;
    struct shared_memory memory;
};

int32_t buffer_needs_mpi(struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "memory that ranks share needs MPI: start it under mpirun or srun "
        "with --mpi");
    if (err != NULL) {
        err->code = NVBW_SKIP_NO_MPI;
    }
    return NVBW_E_SKIPPED;
}

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    struct peers *const peers = want->engine->setup.peers;

    if (peers == NULL) {
        return buffer_needs_mpi(err);
    }

    struct fabric_buffer *const own = calloc(1, sizeof *own);

    FAIL_IF(own == NULL, err, NVBW_E_SYSTEM, "no memory for a buffer");
    own->engine = want->engine;

    const int32_t status = peers_map(peers, want->engine, (uint32_t)want->place,
        want->bytes, &own->memory, err);

    if (status < 0) {
        free(own);
        return status;
    }
    memset(out, 0, sizeof *out);
    out->kind = &buffer_fabric;
    out->place = want->place;
    out->executor = want->executor;
    out->bytes = own->memory.bytes;
    out->device = own->memory.address;
    out->node_seen = -2;
    out->state = own;
    return NVBW_OK;
}

static void destroy(struct buffer *buffer)
{
    struct fabric_buffer *const own = buffer->state;

    peers_unmap(own->engine, &own->memory);
    free(own);
}

const struct buffer_kind buffer_fabric = {
    .memory = NVBW_MEM_FABRIC,
    .on_host = 0,
    .gateable = 1,
    .make = make,
    .destroy = destroy,
};
