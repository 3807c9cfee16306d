/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A chain in memory: worked out by the CPU, written once and proved. */
#include <inttypes.h>
#include <stdlib.h>

#include "sm_chase.h"

enum { FLUSH_CACHES = 2, LAY_BLOCKS_PER_UNIT = 8, LAY_THREADS = 256 };

/* Whose cache answers loads from the memory. */
static struct gpu *owner_of(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const struct buffer *const src = flow->run->src;

    return src->kind->on_host ? flow->gpu : &cuda->engine->gpus[src->place];
}

/* Who writes the links. Between ranks it is who follows them, for they are
 * addresses as this one has them mapped. */
static struct gpu *writer_of(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    return cuda->peers != NULL ? flow->gpu : owner_of(cuda, flow);
}

static void write_by_cpu(const struct cuda_flow *flow, const uint64_t *list)
{
    const struct chase_flow *const chase = flow->state;
    const struct chain *const chain = &chase->chain;
    const struct buffer *const src = flow->run->src;
    uint64_t at = chain_at(chain, 0);

    for (uint64_t rank = 0; rank < chain->count; rank++) {
        const uint64_t slot = (at - chain->memory) / chain->step;
        uint64_t *const node =
            (void *)((unsigned char *)src->host + (at - src->device));

        *node = list[slot];
        at = list[slot];
    }
}

static int32_t launch_lay(const struct gpu *gpu, const struct chain *chain,
    cu_address list, struct error *err)
{
    struct chase_lay_args args = { chain->memory, list, chain->count,
        chain->step, chain->lines, chain->key };
    const uint64_t wanted = (chain->count + LAY_THREADS - 1) / LAY_THREADS;
    const uint64_t most = (uint64_t)LAY_BLOCKS_PER_UNIT *
                          (gpu->facts->units > 0 ? gpu->facts->units : 1);

    TRY(gpu_launch_chase(gpu, CHASE_KERNEL_chase_lay, gpu->stream, &args,
        wanted < most ? wanted : most, LAY_THREADS, err));
    return gpu_wait(gpu, gpu->stream, CHASE_LIMIT_NS, "laying a chain", err);
}

static int32_t no_room(const struct gpu *gpu, uint64_t bytes, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "%" PRIu64 " MiB more are needed on GPU %d for a moment: use a smaller "
        "footprint",
        (bytes >> 20) + 1, gpu->facts->index);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

/* Memory of the GPU that is freed again at once. */
static int32_t take_room(
    const struct gpu *gpu, uint64_t bytes, cu_address *out, struct error *err)
{
    TRY(gpu_use(gpu, err));

    const cu_result result = gpu->api->memory_alloc(out, bytes);

    if (result == CU_ERROR_OUT_OF_MEMORY) {
        return no_room(gpu, bytes, err);
    }
    CUDA_TRY(
        gpu->api, err, result, "GPU %d: room for a chain", gpu->facts->index);
    return NVBW_OK;
}

static int32_t write_by_gpu(struct gpu *gpu, const struct chain *chain,
    const uint64_t *list, struct error *err)
{
    const uint64_t bytes = chain->count * sizeof *list;
    cu_address room = 0;

    TRY(take_room(gpu, bytes, &room, err));

    int32_t status = gpu_need_chase(gpu, err);

    if (status == NVBW_OK) {
        /* On the stream of the kernel that reads it: a copy from pageable
         * memory may return before it has arrived. */
        const cu_result result =
            gpu->api->copy_down_async(room, list, bytes, gpu->stream);

        status = result == CU_SUCCESS
                     ? launch_lay(gpu, chain, room, err)
                     : cuda_fail(gpu->api, err, result,
                           "GPU %d: a chain was not copied", gpu->facts->index);
    }
    gpu->api->memory_free(room);
    return status;
}

static int32_t write_chain(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct chase_flow *const chase = flow->state;
    uint64_t *const list = calloc(chase->chain.count, sizeof *list);
    int32_t status = NVBW_OK;

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "no memory for a chain of %" PRIu64 " nodes", chase->chain.count);
    chain_list(&chase->chain, list);
    if (flow->run->src->kind->on_host) {
        write_by_cpu(flow, list);
    } else {
        status = write_by_gpu(writer_of(cuda, flow), &chase->chain, list, err);
    }
    free(list);
    return status;
}

/* By writing twice as much as the cache holds. */
static int32_t flush_cache(const struct gpu *gpu, struct error *err)
{
    const uint64_t bytes = FLUSH_CACHES * gpu->facts->l2_bytes;
    cu_address room = 0;

    if (bytes == 0) {
        return NVBW_OK;
    }
    TRY(take_room(gpu, bytes, &room, err));

    const cu_result result =
        gpu->api->set_words_async(room, 1, bytes / 4, gpu->stream);
    const int32_t status =
        result == CU_SUCCESS
            ? gpu_wait(
                  gpu, gpu->stream, CHASE_LIMIT_NS, "emptying a cache", err)
            : cuda_fail(gpu->api, err, result, "GPU %d: emptying a cache",
                  gpu->facts->index);

    gpu->api->memory_free(room);
    return status;
}

/* ---- The lap ------------------------------------------------------------- */

struct lap {
    uint64_t segments, steps;
    uint64_t words[CHASE_SEGMENTS];
};

static uint64_t rank_after(
    const struct chain *chain, const struct lap *lap, uint64_t segment)
{
    const uint64_t rank = segment * lap->steps;

    return rank < chain->count ? rank : chain->count;
}

static int32_t launch_lap(
    const struct cuda_flow *flow, const struct lap *lap, struct error *err)
{
    const struct chase_flow *const chase = flow->state;
    const struct gpu *const gpu = flow->gpu;
    struct chase_lap_args args = { chase->chain.memory, flow->run->record.bytes,
        chase->room + CHASE_ROOM_STARTS, chase->room + CHASE_ROOM_ENDS,
        lap->segments, lap->steps, chase->chain.count };

    TRY(gpu_launch_chase(gpu, CHASE_KERNEL_chase_lap, gpu->stream, &args,
        (lap->segments + LAP_THREADS - 1) / LAP_THREADS, LAP_THREADS, err));
    return gpu_wait(gpu, gpu->stream, CHASE_LIMIT_NS, "a lap of a chain", err);
}

static int32_t check_ends(
    const struct cuda_flow *flow, const struct lap *lap, struct error *err)
{
    const struct chase_flow *const chase = flow->state;

    for (uint64_t i = 0; i < lap->segments; i++) {
        const uint64_t expected =
            chain_at(&chase->chain, rank_after(&chase->chain, lap, i + 1));

        FAIL_IF(lap->words[i] != expected, err, NVBW_E_DEVICE,
            "GPU %d finds the chain of loads broken between nodes %" PRIu64
            " and %" PRIu64 ": it came to %#" PRIx64 ", not %#" PRIx64,
            flow->gpu->facts->index, i * lap->steps,
            rank_after(&chase->chain, lap, i + 1), lap->words[i], expected);
    }
    return NVBW_OK;
}

static int32_t prove(
    const struct cuda_flow *flow, struct lap *lap, struct error *err)
{
    const struct chase_flow *const chase = flow->state;
    const struct gpu *const gpu = flow->gpu;
    const uint64_t count = chase->chain.count;

    lap->steps = (count + CHASE_SEGMENTS - 1) / CHASE_SEGMENTS;
    lap->segments = (count + lap->steps - 1) / lap->steps;
    for (uint64_t i = 0; i < lap->segments; i++) {
        lap->words[i] = chain_at(&chase->chain, i * lap->steps);
    }
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_down_async(chase->room + CHASE_ROOM_STARTS, lap->words,
            lap->segments * 8, gpu->stream),
        "GPU %d: the starts of a lap", gpu->facts->index);
    TRY(launch_lap(flow, lap, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(
            lap->words, chase->room + CHASE_ROOM_ENDS, lap->segments * 8),
        "GPU %d: the ends of a lap", gpu->facts->index);
    return check_ends(flow, lap, err);
}

static int32_t write_where_missing(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct buffer *const src = flow->run->src;

    if (flow->content == 0 || src->content != flow->content) {
        TRY(write_chain(cuda, flow, err));
        src->content = flow->content;
    }
    return NVBW_OK;
}

/* After all links are there, and before the lap: by the rank whose cache it
 * is. */
static int32_t empty_cache(const struct cuda_session *cuda,
    const struct cuda_flow *flow, struct error *err)
{
    const struct gpu *const owner = owner_of(cuda, flow);

    TRY(team_meet(cuda, "laid", err));
    if (team_owns(cuda, owner)) {
        TRY(flush_cache(owner, err));
    }
    return team_meet(cuda, "emptied", err);
}

static int32_t prove_chain(const struct cuda_flow *flow, struct error *err)
{
    struct lap *const lap = calloc(1, sizeof *lap);

    FAIL_IF(lap == NULL, err, NVBW_E_SYSTEM, "no memory for a lap");

    const int32_t status = prove(flow, lap, err);

    free(lap);
    return status;
}

int32_t chase_lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct chase_flow *const chase = flow->state;
    const struct buffer *const src = flow->run->src;
    const int is_ours = team_owns(cuda, flow->gpu);

    FAIL_IF(src->device == 0, err, NVBW_E_INVALID,
        "a chain of loads by a GPU needs memory that the GPU can address");
    chase->chain.memory = src->device + flow->run->record.offset;
    if (is_ours) {
        TRY(write_where_missing(cuda, flow, err));
    }
    if (chase->chain.random) {
        TRY(empty_cache(cuda, flow, err));
    }
    return is_ours ? prove_chain(flow, err) : NVBW_OK;
}
