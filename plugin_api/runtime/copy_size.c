/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "copy_size.h"

#include <math.h>

#include "flow.h"

/* Every copy costs some microseconds beside its bytes: about 2 us to or from
 * the host, 3.6 us within a GPU, 4.5 us between GPUs, 10 to 20 us for a kernel
 * to get going and to end. These sizes keep that at a few parts in a
 * thousand. */
#define SIZE_SLOW  (UINT64_C(128) << 20)
#define SIZE_C2C   (UINT64_C(512) << 20)
#define SIZE_FAST  (UINT64_C(1) << 30)
#define SIZE_LOCAL (UINT64_C(4) << 30)
/* Fixed mode's, as nvbandwidth has it. */
#define SIZE_FIXED (UINT64_C(512) << 20)
/* CPUs outrun their own node's last-level cache, of which a large server has
 * 384 MiB; where a machine does not say what it has, as many VMs do not, that
 * much is assumed. */
#define SIZE_CPU      (UINT64_C(512) << 20)
#define CACHE_ASSUMED (UINT64_C(384) << 20)

/* Reads and writes of a GPU's own memory: so many times its L2, each copy where
 * there is room, else the copies of a sample together. */
#define ONE_SIDED_CACHES 200
/* Host footprints go on until the caches of the node are outrun this often. */
#define HOST_CACHES 4
/* Of single accesses, of which a part of the bytes is used: outruns caches of
 * 100 MB twenty times. */
#define SIZE_ACCESS           (UINT64_C(2) << 30)
#define SIZE_ACCESS_SIMULATED (UINT64_C(4) << 20)
/* Of a sample: shorter ones are over before any interference moves on. */
#define BYTES_LEAST (UINT64_C(8) << 20)
/* The bytes of a simulated machine are moved by a CPU, so fast paths get
 * small copies, and few; of a GPU's own memory such that what a copy costs
 * once is a few percent of it, as limits allow. */
#define SIZE_SIMULATED       (UINT64_C(64) << 20)
#define SIZE_SIMULATED_LOCAL (UINT64_C(256) << 20)
#define BYTES_SIMULATED      (UINT64_C(512) << 20)

enum {
    /* Of a GPU's memory that one copy may be at most: of copies there are two
     * buffers of seven, of reads and writes one. */
    MEMORY_SHARE = 24,
    MEMORY_SHARE_ONE_SIDED = 16,
    NODE_SHARE = 12, /* of a node's, where three buffers may be needed */
    SIZE_STEP = 1 << 20,
    COPIES_FOR_CACHE = 16, /* at most for the sake of a cache */
    /* Of local samples: a GPU's own memory comes up to its rate in some
     * milliseconds: reads in samples of two copies were 0.6 % low on an
     * H200. */
    COPIES_LOCAL = 4
};

static int on_gpu(uint32_t memory)
{
    return memory != NVBW_MEM_NONE && !flow_memory_on_host(memory);
}

static uint64_t between_gpus(
    const struct facts *facts, const struct flow_record *flow)
{
    if (!on_gpu(flow->src_memory) || !on_gpu(flow->dst_memory) ||
        flow->src_place < 0 || flow->dst_place < 0) {
        return SIZE_FAST;
    }
    if (flow->src_place == flow->dst_place) {
        return SIZE_LOCAL;
    }

    const struct pair_facts *const pair =
        facts_pair(facts, (uint32_t)flow->src_place, (uint32_t)flow->dst_place);

    return pair != NULL && pair->nvlinks > 0 ? SIZE_FAST : SIZE_SLOW;
}

static uint64_t of_path(
    const struct facts *facts, const struct flow_record *flow)
{
    /* Of a split half goes each way. */
    const uint64_t ways = flow->operation == NVBW_OP_SPLIT ? 2 : 1;

    if (flow_memory_on_host(flow->src_memory) ||
        flow_memory_on_host(flow->dst_memory)) {
        return facts->gpus[flow->executor].coherent_link == 1
                   ? SIZE_C2C
                   : ways * SIZE_SLOW;
    }
    return between_gpus(facts, flow);
}

static int is_one_sided(const struct flow_record *flow)
{
    return (flow->operation == NVBW_OP_READ ||
               flow->operation == NVBW_OP_WRITE) &&
           (on_gpu(flow->src_memory) || on_gpu(flow->dst_memory)) &&
           (flow->src_place == flow->executor ||
               flow->dst_place == flow->executor);
}

static uint64_t size_wanted(
    const struct facts *facts, const struct flow_record *flow)
{
    const uint64_t size = of_path(facts, flow);
    const uint64_t needed =
        facts->gpus[flow->executor].l2_bytes * ONE_SIDED_CACHES;

    if (flow_is_access(flow)) {
        return facts->simulated ? SIZE_ACCESS_SIMULATED : SIZE_ACCESS;
    }

    if (facts->simulated && size > SIZE_SLOW) {
        return size == SIZE_LOCAL || is_one_sided(flow) ? SIZE_SIMULATED_LOCAL
                                                        : SIZE_SIMULATED;
    }
    return is_one_sided(flow) && needed > size ? needed : size;
}

/* `wanted`, or as many whole steps as `share` has; one at least. */
static uint64_t within(uint64_t wanted, uint64_t share)
{
    const uint64_t most = share < SIZE_STEP ? SIZE_STEP : share;

    return wanted <= most ? wanted : most / SIZE_STEP * SIZE_STEP;
}

static uint64_t of_cpus(
    const struct facts *facts, const struct flow_record *flow)
{
    const struct node_facts *const node = &facts->nodes[flow->executor];
    const uint64_t cache =
        node->cache_bytes > 0 ? node->cache_bytes : CACHE_ASSUMED;
    const uint64_t wanted =
        HOST_CACHES * cache > SIZE_CPU ? HOST_CACHES * cache : SIZE_CPU;
    const uint64_t share = node->memory_bytes / NODE_SHARE;

    return within(wanted, share > SIZE_CPU ? share : SIZE_CPU);
}

uint64_t copy_size(const struct facts *facts, const struct flow_record *flow,
    const struct measure_params *params)
{
    if (params->buffer_bytes != 0) {
        return params->buffer_bytes;
    }
    if (params->fixed) {
        return SIZE_FIXED;
    }
    if (flow->initiator == NVBW_BY_CPU) {
        return facts->simulated ? SIZE_CPU : of_cpus(facts, flow);
    }
    return within(size_wanted(facts, flow),
        facts->gpus[flow->executor].memory_bytes /
            (is_one_sided(flow) ? MEMORY_SHARE_ONE_SIDED : MEMORY_SHARE));
}

/* `wanted` bytes in copies of the flow. */
static uint64_t count_for(const struct flow_record *flow, double wanted)
{
    const double count = ceil(wanted / (double)flow->bytes);

    return count < COPIES_FOR_CACHE ? (uint64_t)count
                                    : (uint64_t)COPIES_FOR_CACHE;
}

uint64_t copy_slices_least(
    const struct facts *facts, const struct flow_record *flow)
{
    const int src = flow_memory_on_host(flow->src_memory);
    const int32_t place = src ? flow->src_place : flow->dst_place;

    if (flow->bytes == 0 || place < 0 ||
        !(src || flow_memory_on_host(flow->dst_memory))) {
        return 0;
    }
    return count_for(
        flow, HOST_CACHES * (double)facts->nodes[place].cache_bytes);
}

/* Within the memory of the GPU that moves the bytes. */
static int is_local(const struct flow_record *flow)
{
    return (on_gpu(flow->src_memory) || on_gpu(flow->dst_memory)) &&
           (flow->src_memory == NVBW_MEM_NONE ||
               (on_gpu(flow->src_memory) &&
                   flow->src_place == flow->executor)) &&
           (flow->dst_memory == NVBW_MEM_NONE ||
               (on_gpu(flow->dst_memory) && flow->dst_place == flow->executor));
}

uint64_t copy_count_least(
    const struct facts *facts, const struct flow_record *flow)
{
    if (flow->bytes == 0) {
        return COPY_SIZE_COPIES;
    }

    const double caches =
        is_one_sided(flow)
            ? ONE_SIDED_CACHES * (double)facts->gpus[flow->executor].l2_bytes
            : 0.0;
    const uint64_t small = BYTES_LEAST / flow->bytes;
    const uint64_t wanted = count_for(flow, caches);
    const uint64_t least = small > wanted ? small : wanted;
    const uint64_t bottom = is_local(flow) ? COPIES_LOCAL : COPY_SIZE_COPIES;

    return least > bottom ? least : bottom;
}

uint64_t copy_count_most(
    const struct facts *facts, const struct flow_record *flow, uint64_t limit)
{
    if (!facts->simulated || flow->bytes == 0) {
        return limit;
    }

    const uint64_t most = BYTES_SIMULATED / flow->bytes;
    const uint64_t count = most > COPY_SIZE_COPIES ? most : COPY_SIZE_COPIES;

    return count < limit ? count : limit;
}
