/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Samples timed by the host: from before the first counted call to when the
 * streams are empty, as a program would see it. For copies of pageable memory,
 * during which the thread that asks for them is at work itself; for blocking
 * calls; and where the cost of calls is what is asked for. The streams are
 * looked at without a pause, so that a stream that never ends is noticed. */
#include "affinity.h"
#include "clock.h"
#include "cuda_session.h"
#include "flow.h"

static const uint64_t begin_limit_ns = UINT64_C(60) * 1000 * 1000 * 1000;

enum { SLOWEST_BYTES_PER_NS = 1 };
static const uint64_t spare_ns = UINT64_C(10) * 1000 * 1000 * 1000;

static int by_thread(uint32_t memory)
{
    return memory != NVBW_MEM_NONE && buffer_kinds[memory] != NULL &&
           !buffer_kinds[memory]->gateable;
}

int by_host_is_flow(const struct flow_record *record)
{
    return (record->flags & (NVBW_FLOW_SYNC | NVBW_FLOW_HOST_CLOCK)) != 0 ||
           by_thread(record->src_memory) || by_thread(record->dst_memory);
}

/* The node of the host's memory, else that nearest to the GPU. */
static int32_t node_of(const struct cuda_session *cuda)
{
    const struct facts *const facts = cuda->session->facts;
    const struct flow_record *const record = &cuda->lead->run->record;

    if (flow_memory_on_host(record->src_memory) && record->src_place >= 0) {
        return record->src_place;
    }
    if (flow_memory_on_host(record->dst_memory) && record->dst_place >= 0) {
        return record->dst_place;
    }
    return facts_find_node(facts, facts->gpus[record->executor].near_node);
}

int32_t by_host_open(struct cuda_session *cuda, struct error *err)
{
    const struct facts *const facts = cuda->session->facts;
    struct cpu_mask near;

    if (!cuda->by_host || !cuda->session->params.affinity) {
        return NVBW_OK;
    }

    const int32_t node = node_of(cuda);

    cuda->thread_before =
        arena_alloc(cuda->session->arena, 1, sizeof *cuda->thread_before);
    FAIL_IF(cuda->thread_before == NULL, err, NVBW_E_SYSTEM,
        "no memory for a list of CPUs");
    affinity_current(cuda->thread_before);
    if (node >= 0) {
        affinity_allowed(facts->nodes[node].cpus, &near);
        affinity_set(&near);
    }
    return NVBW_OK;
}

void by_host_close(struct cuda_session *cuda)
{
    if (cuda->thread_before != NULL) {
        affinity_set(cuda->thread_before);
        cuda->thread_before = NULL;
    }
}

int32_t by_host_begin(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; cuda->by_host && i < cuda->count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        flow->over_ns = 0;
        TRY(gpu_wait(flow->gpu, flow->stream, begin_limit_ns,
            "what comes before a sample", err));
    }
    cuda->begun_ns = cuda->by_host ? clock_now_ns() : 0;
    return NVBW_OK;
}

/* 1 in *out_over once the flow's stream is empty. */
static int32_t look(
    struct cuda_flow *flow, uint32_t *out_over, struct error *err)
{
    *out_over = flow->over_ns != 0;
    if (*out_over) {
        return NVBW_OK;
    }
    TRY(gpu_use(flow->gpu, err));

    const cu_result result = flow->gpu->api->stream_query(flow->stream);

    if (result == CU_ERROR_NOT_READY) {
        return NVBW_OK;
    }
    CUDA_TRY(flow->gpu->api, err, result, "GPU %d: a sample",
        flow->gpu->facts->index);
    flow->over_ns = clock_now_ns();
    *out_over = 1;
    return NVBW_OK;
}

static uint64_t limit_ns(const struct cuda_session *cuda)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < cuda->count; i++) {
        bytes += cuda->flows[i].copies * cuda->flows[i].run->record.bytes;
    }
    return spare_ns + bytes / SLOWEST_BYTES_PER_NS;
}

int32_t by_host_end(struct cuda_session *cuda, struct error *err)
{
    const uint64_t deadline_ns = cuda->begun_ns + limit_ns(cuda);
    uint32_t over = cuda->by_host ? 0 : cuda->count;

    while (over < cuda->count) {
        over = 0;
        for (uint32_t i = 0; i < cuda->count; i++) {
            uint32_t is_over = 0;

            TRY(look(&cuda->flows[i], &is_over, err));
            over += is_over;
        }
        if (over < cuda->count && clock_now_ns() > deadline_ns) {
            return cuda_hangs(cuda->hub, err);
        }
    }
    return NVBW_OK;
}

double by_host_seconds(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    uint64_t over_ns = flow != NULL ? flow->over_ns : 0;

    for (uint32_t i = 0; flow == NULL && i < cuda->count; i++) {
        over_ns =
            cuda->flows[i].over_ns > over_ns ? cuda->flows[i].over_ns : over_ns;
    }
    return over_ns > cuda->begun_ns ? (double)(over_ns - cuda->begun_ns) / 1e9
                                    : 1e-9;
}
