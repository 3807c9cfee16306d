/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Chains of dependent loads: laying them, proving them, following them. */
#ifndef NVBW_CHASE_CUH
#define NVBW_CHASE_CUH

#include "args.h"
#include "pattern.cuh"
#include "spin.cuh"
#include "words.cuh"

/* Past the SM's own cache, which would answer for chains that fit it. */
static __device__ __forceinline__ uint64_t chase_load(uint64_t at)
{
    uint64_t next;

    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at));
    return next;
}

static __device__ __forceinline__ uint32_t chase_unit(void)
{
    uint32_t unit;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    return unit;
}

/* The address is stored before the clock is read, so the store has to wait
 * for the last load and the clock for the store. */
static __device__ __forceinline__ void chase_tell(
    const struct chase_args &a, uint64_t start_ns, uint64_t at)
{
    volatile struct chase_result *const result =
        (volatile struct chase_result *)a.result;

    result->at = at;
    result->end_ns = global_ns();
    result->start_ns = start_ns;
    result->unit = chase_unit();
}

extern "C" __global__ void nvbw_chase(const struct chase_args a)
{
    if (blockIdx.x != a.block || threadIdx.x != 0) {
        return;
    }

    const uint64_t start_ns = global_ns();
    uint64_t at = a.at;

#pragma unroll 4
    for (uint64_t i = 0; i < a.steps; i++) {
        at = chase_load(at);
    }
    chase_tell(a, start_ns, at);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ __forceinline__ uint32_t shared_address(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}

static __device__ __forceinline__ void bulk_begin(
    uint32_t landing, uint32_t barrier, uint64_t at)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"((uint32_t)CHASE_NODE)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::"
        "complete_tx::bytes [%0], [%1], %2, [%3];"
        :
        : "r"(landing), "l"(at), "r"((uint32_t)CHASE_NODE), "r"(barrier)
        : "memory");
}

static __device__ __forceinline__ uint32_t bulk_is_there(
    uint32_t barrier, uint32_t phase)
{
    uint32_t done;

    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(phase)
                 : "memory");
    return done;
}

static __device__ __forceinline__ uint64_t chase_bulk(
    const struct chase_args &a, uint64_t start_ns)
{
    __shared__ alignas(16) volatile uint64_t landing[CHASE_NODE / 8];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t node = shared_address((const void *)landing);
    const uint32_t arrival = shared_address(&barrier);
    uint64_t at = a.at;

    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                 :
                 : "r"(arrival)
                 : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (uint64_t i = 0; i < a.steps; i++) {
        bulk_begin(node, arrival, at);
        while (!bulk_is_there(arrival, i % 2)) {
            if (global_ns() - start_ns > a.limit_ns) {
                return 0;
            }
        }
        at = landing[0];
    }
    return at;
}
#else
/* The host asks no older GPU for it. */
static __device__ __forceinline__ uint64_t chase_bulk(
    const struct chase_args &a, uint64_t start_ns)
{
    return 0;
}
#endif

extern "C" __global__ void nvbw_chase_bulk(const struct chase_args a)
{
    if (blockIdx.x != a.block || threadIdx.x != 0) {
        return;
    }

    const uint64_t start_ns = global_ns();

    chase_tell(a, start_ns, chase_bulk(a, start_ns));
}

extern "C" __global__ void nvbw_chase_lay(const struct chase_lay_args a)
{
    const uint64_t *const list = (const uint64_t *)a.list;

    for (uint64_t i = grid_index(); i < a.count; i += grid_size()) {
        const uint64_t offset =
            CHASE_OFFSET(pattern_word(a.key, i), i, a.step, a.lines);

        *(uint64_t *)(a.memory + offset) = list[i];
    }
}

extern "C" __global__ void nvbw_chase_lap(const struct chase_lap_args a)
{
    const uint64_t segment = grid_index();

    if (segment >= a.segments) {
        return;
    }

    const uint64_t left = a.count - segment * a.steps;
    const uint64_t steps = left < a.steps ? left : a.steps;
    uint64_t at = ((const uint64_t *)a.starts)[segment];

    for (uint64_t i = 0; i < steps; i++) {
        if (at % CHASE_NODE != 0 || at < a.memory ||
            at - a.memory > a.bytes - CHASE_NODE) {
            break;
        }
        at = chase_load(at);
    }
    ((uint64_t *)a.ends)[segment] = at;
}

#endif
