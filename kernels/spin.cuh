/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The gate. It reads the release word as volatile, so through to the host's
 * memory in each turn, and keeps time by %globaltimer because clocks of SMs
 * change. */
#ifndef NVBW_SPIN_CUH
#define NVBW_SPIN_CUH

#include "args.h"

static __device__ __forceinline__ uint64_t global_ns(void)
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

extern "C" __global__ void nvbw_gate(const struct gate_args a)
{
    const volatile uint32_t *const release =
        (const volatile uint32_t *)a.release;
    volatile uint32_t *const outcome = (volatile uint32_t *)a.outcome;
    const uint64_t begin = global_ns();

    while (*release == 0) {
        if (global_ns() - begin >= a.limit_ns) {
            *outcome = GATE_TIMED_OUT;
            return;
        }
    }
    *outcome = GATE_RELEASED;
}

#endif
