/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Reads at a given rate: the load beside which something else is measured.
 * When tiles begin is fixed from the start on, so a wait that was too long is
 * made up for. */
#ifndef NVBW_PACED_CUH
#define NVBW_PACED_CUH

#include "read.cuh"

enum { PACED_WARPS = SM_THREADS / 32, PACED_SLEEP_NS = 32 };

static_assert(PACED_TILE == READ_TILE * SM_VECTOR, "a tile has one size");

static __device__ __forceinline__ void wait_until(uint64_t due_ns)
{
    while (clock_ns() < due_ns) {
        __nanosleep(PACED_SLEEP_NS);
    }
}

/* Warps of neighbouring blocks are spread over one pace too. */
static __device__ __forceinline__ uint64_t first_due(uint64_t pace_ns)
{
    const uint64_t warp = blockIdx.x * PACED_WARPS + threadIdx.x / 32;

    return clock_ns() + pace_ns * (warp * 5 % 64) / 64;
}

extern "C" __global__ void SM_FULL nvbw_read_paced(
    const struct read_paced_args a)
{
    const uint64_t tiles = a.read.span.vectors / READ_TILE;
    uint64_t due = a.pace_ns > 0 ? first_due(a.pace_ns) : 0;
    uint64_t sum = 0;

#pragma unroll 1
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (a.pace_ns > 0) {
            wait_until(due);
            due += a.pace_ns;
        }
        sum += read_tile(a.read.src + a.read.span.lead +
                         (tile * READ_TILE + threadIdx.x) * SM_VECTOR);
    }
    if (blockIdx.x == 0) {
        sum += a.read.span.vectors == 0 ? 0 : read_edges(a.read);
    }
    if (a.read.span.vectors == 0) {
        sum += read_words(a.read);
    }
    add_of_warp(sum, a.read.sums + blockIdx.x % SUM_SLOTS * SUM_STEP);
}

#endif
