/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies by bulk copies. Where there are none, a GPU older than compute
 * capability 9.0, the bytes are copied plainly, so that the kernel is right
 * everywhere; who wants bulk copies asks for the capability. */
#ifndef NVBW_TMA_CUH
#define NVBW_TMA_CUH

#include "args.h"
#include "bulk.cuh"
#include "copy.cuh"
#include "vectors.cuh"

static __device__ __forceinline__ struct copy_span tma_copy(
    const struct copy_part &part)
{
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(128) unsigned char room[TMA_TILE * TMA_STAGES];
    __shared__ __align__(8) uint64_t barriers[TMA_STAGES];
    const struct copy_span span = copy_span_of(part);

    if (part.thread == 0) {
        bulk_copy<TMA_TILE, TMA_STAGES>(
            bulk_share<TMA_TILE, TMA_STAGES>(part.dst + span.head,
                part.src + span.head, span.vectors * SM_VECTOR),
            bulk_address(room), bulk_address(barriers));
    }
    return span;
#else
    (void)part;
    return { 0, 0 };
#endif
}

extern "C" __global__ void __launch_bounds__(TMA_THREADS)
    nvbw_tma(const struct copy_args a)
{
    const struct copy_part part = { a.dst, a.src, a.bytes, threadIdx.x,
        TMA_THREADS };

    stamp_start(a.stamps);
    copy_rest(part, tma_copy(part));
    stamp_end(a.stamps);
}

#endif
