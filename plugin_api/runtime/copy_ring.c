/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "copy_ring.h"

#include <string.h>

#include "clock.h"
#include "cuda_session.h"

static const uint64_t slot_limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;

/* Smaller slots are all overhead. */
enum { SLOT_LEAST = 4096 };

/* The flow's state. */
struct copy_ring {
    struct buffer *buffer;
    uint64_t slot_bytes;
    struct CUevent_st *over[COPY_RING_SLOTS]; /* a slot's copy */
};

static int32_t make(const struct cuda_session *cuda,
    const struct cuda_flow *flow, struct copy_ring *ring, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;
    const int from_host = record->src_memory != NVBW_MEM_DEVICE;
    const struct buffer_want want = { .facts = cuda->session->facts,
        .engine = cuda->engine,
        .place = from_host ? record->src_place : record->dst_place,
        .executor = record->executor,
        .bytes = ring->slot_bytes * COPY_RING_SLOTS };

    TRY(buffer_get(
        cuda->session->pool, NVBW_MEM_PINNED, &want, &ring->buffer, err));
    TRY(gpu_use(flow->gpu, err));
    for (uint32_t i = 0; i < COPY_RING_SLOTS; i++) {
        CUDA_TRY(flow->gpu->api, err,
            flow->gpu->api->event_create(
                &ring->over[i], CU_EVENT_HAS_NO_TIMING),
            "GPU %d: no event", flow->gpu->facts->index);
    }
    return NVBW_OK;
}

int32_t copy_ring_open(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const uint64_t asked = flow->run->record.ring;

    if (asked == 0) {
        return NVBW_OK;
    }

    struct copy_ring *const ring =
        arena_alloc(cuda->session->arena, 1, sizeof *ring);
    const uint64_t slot = asked / COPY_RING_SLOTS / SLOT_LEAST * SLOT_LEAST;

    FAIL_IF(ring == NULL, err, NVBW_E_SYSTEM, "no memory for a ring");
    flow->state = ring;
    ring->slot_bytes = slot > 0 ? slot : SLOT_LEAST;
    return make(cuda, flow, ring, err);
}

void copy_ring_close(struct cuda_session *cuda, struct cuda_flow *flow)
{
    const struct copy_ring *const ring = flow->state;

    for (uint32_t i = 0; ring != NULL && i < COPY_RING_SLOTS; i++) {
        if (ring->over[i] != NULL) {
            flow->gpu->api->event_destroy(ring->over[i]);
        }
    }
    if (ring != NULL) {
        buffer_put(cuda->session->pool, ring->buffer);
    }
}

/* Until a slot's copy is over. */
static int32_t await_slot(const struct cuda_flow *flow,
    const struct copy_ring *ring, uint64_t slot, struct error *err)
{
    const uint64_t deadline_ns = clock_now_ns() + slot_limit_ns;
    struct CUevent_st *const over = ring->over[slot % COPY_RING_SLOTS];

    for (;;) {
        const cu_result result = flow->gpu->api->event_query(over);

        if (result == CU_SUCCESS) {
            return NVBW_OK;
        }
        if (result != CU_ERROR_NOT_READY) {
            return cuda_fail(flow->gpu->api, err, result,
                "GPU %d: a slot of a ring", flow->gpu->facts->index);
        }
        if (clock_now_ns() > deadline_ns) {
            return cuda_hangs(flow, err);
        }
    }
}

/* A copy in progress. */
struct pass {
    const struct cuda_flow *flow;
    const struct copy_ring *ring;
    unsigned char *host;
    cu_address device;
    uint64_t bytes, slots;
};

static unsigned char *memory_of(const struct pass *pass, uint64_t slot)
{
    return (unsigned char *)pass->ring->buffer->host +
           slot % COPY_RING_SLOTS * pass->ring->slot_bytes;
}

static uint64_t bytes_of(const struct pass *pass, uint64_t slot)
{
    const uint64_t left = pass->bytes - slot * pass->ring->slot_bytes;

    return left < pass->ring->slot_bytes ? left : pass->ring->slot_bytes;
}

static int32_t queue_slot(
    const struct pass *pass, uint64_t slot, int to_gpu, struct error *err)
{
    const struct gpu *const gpu = pass->flow->gpu;
    const struct cuda_api *const api = gpu->api;
    const cu_address at = pass->device + slot * pass->ring->slot_bytes;
    const uint64_t bytes = bytes_of(pass, slot);
    const cu_result queued =
        to_gpu ? api->copy_down_async(
                     at, memory_of(pass, slot), bytes, pass->flow->stream)
               : api->copy_up_async(
                     memory_of(pass, slot), at, bytes, pass->flow->stream);

    CUDA_TRY(api, err, queued, "GPU %d: a slot of a ring was not queued",
        gpu->facts->index);
    CUDA_TRY(api, err,
        api->event_record(
            pass->ring->over[slot % COPY_RING_SLOTS], pass->flow->stream),
        "GPU %d: an event was not recorded", gpu->facts->index);
    return NVBW_OK;
}

/* A slot is filled anew only when its last copy is over, also that of the copy
 * before this one: an event that was never recorded is over. */
static int32_t pass_down(const struct pass *pass, struct error *err)
{
    for (uint64_t slot = 0; slot < pass->slots; slot++) {
        TRY(await_slot(pass->flow, pass->ring, slot, err));
        memcpy(memory_of(pass, slot),
            pass->host + slot * pass->ring->slot_bytes, bytes_of(pass, slot));
        TRY(queue_slot(pass, slot, 1, err));
    }
    return NVBW_OK;
}

static int32_t pass_up(const struct pass *pass, struct error *err)
{
    for (uint64_t slot = 0; slot < pass->slots + COPY_RING_SLOTS; slot++) {
        const uint64_t done = slot - COPY_RING_SLOTS;

        if (slot >= COPY_RING_SLOTS && done < pass->slots) {
            TRY(await_slot(pass->flow, pass->ring, done, err));
            memcpy(pass->host + done * pass->ring->slot_bytes,
                memory_of(pass, done), bytes_of(pass, done));
        }
        if (slot < pass->slots) {
            TRY(queue_slot(pass, slot, 0, err));
        }
    }
    return NVBW_OK;
}

int32_t copy_ring_pass(
    const struct cuda_flow *flow, uint64_t number, struct error *err)
{
    const struct flow_run *const run = flow->run;
    const struct copy_ring *const ring = flow->state;
    const int to_gpu = run->src->kind->on_host != 0;
    const uint64_t src = slices_src_offset(flow, number);
    const uint64_t dst = slices_dst_offset(flow, number);
    const struct buffer *const host = to_gpu ? run->src : run->dst;
    const struct buffer *const device = to_gpu ? run->dst : run->src;
    struct pass pass = { .flow = flow,
        .ring = ring,
        .host = (unsigned char *)host->host + (to_gpu ? src : dst),
        .device = device->device + (to_gpu ? dst : src),
        .bytes = slices_bytes(flow, number) };

    pass.slots = (pass.bytes + ring->slot_bytes - 1) / ring->slot_bytes;
    return to_gpu ? pass_down(&pass, err) : pass_up(&pass, err);
}
