/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the tables of shapes share: memory with the product's pattern in it,
 * a clock, and a row that says what a shape gave and whether every byte
 * arrived. */
#ifndef SHAPE_BENCH_CUH
#define SHAPE_BENCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include "args.h"
#include "fill.cuh"
#include "read.cuh"
#include "vectors.cuh"
#include "verify.cuh"

#define OK(call) shape_ok((call), #call)

static inline void shape_ok(cudaError_t result, const char *call)
{
    if (result != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
        exit(1);
    }
}

enum { SHAPE_KEY = 12345, SHAPE_SAMPLES = 7, SHAPE_BLOCKS = 1056 };
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct shape_gpu {
    int units;
    uint64_t *words; /* a wrong count, a first offset, then sums */
    char *other;     /* SHAPE_OTHER_BYTES that nothing is measured in */
};
#define SHAPE_OTHER_BYTES GIB

static inline uint64_t shape_at(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

/* Ordinary stores elsewhere: what the caches kept of the arrays that are to be
 * copied makes some shapes quicker. */
static inline void shape_forget(const struct shape_gpu &gpu)
{
    OK(cudaMemset(gpu.other, 0x5a, SHAPE_OTHER_BYTES));
}

static inline void shape_fill(void *memory, uint64_t bytes)
{
    const struct fill_args args = { shape_at(memory), bytes, SHAPE_KEY };

    nvbw_fill<<<SHAPE_BLOCKS, 256>>>(args);
    OK(cudaDeviceSynchronize());
}

static inline bool shape_is_whole(
    const struct shape_gpu &gpu, const void *memory, uint64_t bytes)
{
    const struct compare_args args = { shape_at(memory), bytes, SHAPE_KEY,
        shape_at(gpu.words), shape_at(gpu.words + 1) };
    uint64_t wrong = 1;

    OK(cudaMemset(gpu.words, 0, 8));
    nvbw_compare<<<SHAPE_BLOCKS, 256>>>(args);
    OK(cudaMemcpy(&wrong, gpu.words, sizeof wrong, cudaMemcpyDeviceToHost));
    return wrong == 0;
}

/* What is needed to tell that a read read everything: a sum beside each block's
 * own, cleared before and added up after. */
enum { SHAPE_SUMS = 64, SHAPE_SUM_WORDS = 8192 };

static inline uint64_t shape_sums(const struct shape_gpu &gpu)
{
    return shape_at(gpu.words + SHAPE_SUMS);
}

static inline uint64_t shape_total(const struct shape_gpu &gpu)
{
    std::vector<uint64_t> sums(SHAPE_SUM_WORDS);
    uint64_t total = 0;

    OK(cudaMemcpy(sums.data(), gpu.words + SHAPE_SUMS, SHAPE_SUM_WORDS * 8,
        cudaMemcpyDeviceToHost));
    for (const uint64_t one : sums) {
        total += one;
    }
    return total;
}

template <class BODY>
static bool shape_is_read(
    const struct shape_gpu &gpu, uint64_t bytes, BODY body)
{
    const struct pattern_sum_args args = { bytes, SHAPE_KEY, shape_sums(gpu) };

    OK(cudaMemset(gpu.words + SHAPE_SUMS, 0, SHAPE_SUM_WORDS * 8));
    nvbw_pattern_sum<<<SHAPE_BLOCKS, SM_THREADS>>>(args);
    const uint64_t wanted = shape_total(gpu);

    OK(cudaMemset(gpu.words + SHAPE_SUMS, 0, SHAPE_SUM_WORDS * 8));
    body();
    return shape_total(gpu) == wanted;
}

/* Seconds of one run of the body: the median of several, after one that warms
 * up. */
template <class BODY> static double shape_seconds(BODY body)
{
    std::vector<float> ms(SHAPE_SAMPLES);
    cudaEvent_t start;
    cudaEvent_t end;

    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    body();
    for (float &one : ms) {
        OK(cudaEventRecord(start));
        body();
        OK(cudaEventRecord(end));
        OK(cudaEventSynchronize(end));
        OK(cudaEventElapsedTime(&one, start, end));
    }
    OK(cudaGetLastError());
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    std::sort(ms.begin(), ms.end());
    return ms[SHAPE_SAMPLES / 2] * 1e-3;
}

static inline void shape_row(const char *path, const char *shape,
    uint64_t blocks, uint64_t bytes, double seconds, bool whole)
{
    printf("%-12s %-44s %9llu %6llu MiB %8.2f GB/s%s\n", path, shape,
        (unsigned long long)blocks, (unsigned long long)(bytes / MIB),
        (double)bytes / seconds * 1e-9, whole ? "" : "  WRONG DATA");
    fflush(stdout);
}

/* ---- Loads and stores by cache hint ---- */

enum shape_hint { HINT_NONE, HINT_FIRST, HINT_AHEAD, HINT_THROUGH };
static const char *const shape_hints[] = { "plain", "evict-first",
    "no-allocate 256B", "write-through" };

template <int HINT>
static __device__ __forceinline__ vector shape_load(uint64_t address)
{
    if (HINT == HINT_FIRST) {
        return __ldcs((const vector *)address);
    }
    if (HINT == HINT_AHEAD) {
        vector value;

        asm volatile("ld.global.L1::no_allocate.L2::256B.v2.u64 {%0, %1}, [%2];"
                     : "=l"(value.x), "=l"(value.y)
                     : "l"(address));
        return value;
    }
    return *(const vector *)address;
}

template <int HINT>
static __device__ __forceinline__ void shape_store(
    uint64_t address, vector value)
{
    if (HINT == HINT_FIRST) {
        __stcs((vector *)address, value);
    } else if (HINT == HINT_THROUGH) {
        __stwt((vector *)address, value);
    } else {
        *(vector *)address = value;
    }
}

#endif
