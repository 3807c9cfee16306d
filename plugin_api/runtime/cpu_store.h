/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Sixteen bytes at a time, and stores that go past the caches. For the
 * operations of CPUs alone. */
#ifndef NVBW_CPU_STORE_H
#define NVBW_CPU_STORE_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef uint64_t store_lanes __attribute__((vector_size(16)));
typedef double store_doubles __attribute__((vector_size(16)));

static inline int store_is_aligned(const void *to)
{
    return (uintptr_t)to % sizeof(store_lanes) == 0;
}

static inline store_lanes store_load(const void *from)
{
    store_lanes lanes;

    memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

/* `to` is aligned to the lanes. */
static inline void store_past_cache(void *to, store_lanes lanes)
{
#if defined(__SSE2__)
    _mm_stream_si128((__m128i *)to, (__m128i)lanes);
#else
    memcpy(to, &lanes, sizeof lanes);
#endif
}

/* Everything stored so is in memory, for all to see. */
static inline void store_finish(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
