/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A table of what shapes of kernels give on this machine: threads, vectors a
 * thread, cache hints, blocks, and bulk copies, for reads, writes and copies
 * within a GPU, between GPUs and with the host. Rows "product" are the
 * engine's own kernels. Every destination is compared byte by byte.
 *
 *   kernel_shapes [memory] [host] [split] [peer]    all without a word
 *
 * Takes 30 GiB of the first GPU, 2 of the second and 1 of page-locked memory;
 * changes no clock, limit or mode. */
#include <string.h>

#include "shape_split.cuh"
#include "tma.cuh"

/* ---- Within a GPU ---- */

static void product_read(
    const struct shape_gpu &gpu, const void *src, uint64_t bytes)
{
    const struct read_args args = { shape_at(src), bytes, shape_sums(gpu), 0,
        vector_span_of(shape_at(src), bytes) };
    const uint64_t blocks = (bytes + 16383) / 16384;
    const auto body = [&] {
        nvbw_read<<<(unsigned)blocks, SM_THREADS>>>(args);
    };
    const bool whole = shape_is_read(gpu, bytes, body);

    shape_row("read", "product", blocks, bytes, shape_seconds(body), whole);
}

static void product_write(
    const struct shape_gpu &gpu, void *dst, uint64_t bytes)
{
    const struct write_args args = { shape_at(dst), bytes, SHAPE_KEY, 0,
        vector_span_of(shape_at(dst), bytes) };
    const uint64_t blocks = (bytes + 4095) / 4096;

    OK(cudaMemset(dst, 0x5a, bytes));
    const double seconds = shape_seconds(
        [&] { nvbw_write<<<(unsigned)blocks, SM_THREADS>>>(args); });

    shape_row("write", "product", blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes));
}

static void product_copy(const struct shape_gpu &gpu, const char *path,
    void *dst, const void *src, uint64_t bytes, uint64_t wide_blocks)
{
    const struct copy_args args = { shape_at(dst), shape_at(src), bytes, 0 };
    const uint64_t blocks =
        wide_blocks != 0 ? wide_blocks : (bytes + 4095) / 4096;

    OK(cudaMemset(dst, 0x5a, bytes));
    shape_forget(gpu);
    const double seconds = shape_seconds([&] {
        if (wide_blocks != 0) {
            nvbw_copy_wide<<<(unsigned)blocks, SM_THREADS>>>(args);
        } else {
            nvbw_copy<<<(unsigned)blocks, SM_THREADS>>>(args);
        }
    });

    shape_row(path, "product", blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes));
}

static void driver_copy(const struct shape_gpu &gpu, const char *path,
    void *dst, const void *src, uint64_t bytes)
{
    OK(cudaMemset(dst, 0x5a, bytes));
    const double seconds = shape_seconds(
        [&] { OK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault)); });

    shape_row(
        path, "driver", 0, bytes, seconds, shape_is_whole(gpu, dst, bytes));
}

static void reads(const struct shape_gpu &gpu, const char *memory)
{
    for (uint64_t gib : { 1, 3, 6, 12, 24 }) {
        product_read(gpu, memory, gib * GIB);
    }
    const uint64_t bytes = 12 * GIB;

    try_read<256, 4, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<256, 4, HINT_NONE>(gpu, memory, bytes, 0);
    try_read<256, 4, HINT_AHEAD>(gpu, memory, bytes, 0);
    try_read<256, 1, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<256, 2, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<256, 8, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<128, 4, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<128, 8, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<512, 2, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<512, 4, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<1024, 2, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<1024, 4, HINT_FIRST>(gpu, memory, bytes, 0);
    try_read<256, 4, HINT_FIRST>(gpu, memory, bytes, 8);
    try_read<256, 8, HINT_FIRST>(gpu, memory, bytes, 4);
    try_read<512, 4, HINT_FIRST>(gpu, memory, bytes, 2);
    try_read<256, 4, HINT_FIRST>(gpu, memory, bytes, 64);
}

static void writes(const struct shape_gpu &gpu, char *memory)
{
    for (uint64_t gib : { 1, 3, 6, 12, 24 }) {
        product_write(gpu, memory, gib * GIB);
    }
    const uint64_t bytes = 12 * GIB;

    try_write<256, 1, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<256, 1, HINT_NONE>(gpu, memory, bytes, 0);
    try_write<256, 1, HINT_THROUGH>(gpu, memory, bytes, 0);
    try_write<256, 2, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<256, 4, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<128, 1, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<512, 1, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<1024, 1, HINT_FIRST>(gpu, memory, bytes, 0);
    try_write<256, 1, HINT_FIRST>(gpu, memory, bytes, 8);
    try_write<256, 4, HINT_FIRST>(gpu, memory, bytes, 8);
}

static void copies(const struct shape_gpu &gpu, char *dst, char *src)
{
    for (uint64_t gib : { 1, 2, 4, 12 }) {
        product_copy(gpu, "copy", dst, src, gib * GIB, 0);
        driver_copy(gpu, "copy", dst, src, gib * GIB);
    }
    const uint64_t bytes = 4 * GIB;

    try_copy<256, 1, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_NONE>(gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_FIRST, HINT_FIRST, 64, 37>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_NONE, 64, 37>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_FIRST, 8, 3>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_FIRST, 16, 7>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_FIRST, 64, 37>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_NONE, HINT_FIRST, 256, 97>(
        gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 1, HINT_AHEAD, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<128, 1, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<512, 1, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<1024, 1, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 2, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<256, 4, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
    try_copy<512, 4, HINT_FIRST, HINT_FIRST>(gpu, "copy", dst, src, bytes, 0);
}

static void product_tma(const struct shape_gpu &gpu, const char *path,
    void *dst, const void *src, uint64_t bytes, uint64_t blocks)
{
    const struct copy_args args = { shape_at(dst), shape_at(src), bytes, 0 };
    const uint64_t grid =
        blocks != 0 ? blocks : bytes / (TMA_TILE * TMA_STAGES);

    OK(cudaMemset(dst, 0x5a, bytes));
    const double seconds =
        shape_seconds([&] { nvbw_tma<<<(unsigned)grid, TMA_THREADS>>>(args); });

    shape_row(path, "product, bulk", grid, bytes, seconds,
        shape_is_whole(gpu, dst, bytes));
}

static void bulks(const struct shape_gpu &gpu, char *dst, char *src)
{
    const uint64_t bytes = 4 * GIB;
    const uint64_t units = (uint64_t)gpu.units;

    for (uint64_t gib : { 1, 4, 12 }) {
        product_tma(gpu, "copy", dst, src, gib * GIB, 0);
    }
    try_bulk<512, 2>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<1024, 1>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<1024, 2>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<1024, 2, 1, 64>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<1024, 2, 1, 128>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 1>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 1, 1, 64>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 1, 1, 128>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 2>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 2, 1, 128>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<2048, 4>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 1>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 1, 1, 128>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 1, 1, 256>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 2>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 2, 0>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 2, 1, 256>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<4096, 4>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<8192, 1, 1, 256>(gpu, "copy", dst, src, bytes, 0);
    try_bulk<8192, 2>(gpu, "copy", dst, src, bytes, 0);
    for (uint64_t each : { 2, 4, 8, 16, 24 }) {
        try_bulk<2048, 4>(gpu, "copy", dst, src, bytes, each * units);
        try_bulk<4096, 2>(gpu, "copy", dst, src, bytes, each * units);
    }
    for (uint64_t each : { 2, 4 }) {
        try_bulk<4096, 4>(gpu, "copy", dst, src, bytes, each * units);
        try_bulk<8192, 4>(gpu, "copy", dst, src, bytes, each * units);
        try_bulk<16384, 2>(gpu, "copy", dst, src, bytes, each * units);
    }
}

/* ---- Over a link ---- */

static void link(const struct shape_gpu &gpu, const char *path, char *dst,
    char *src, uint64_t bytes)
{
    driver_copy(gpu, path, dst, src, bytes);
    for (uint64_t blocks : { 8, 17, 34, 66, 132, 264, 528 }) {
        product_copy(gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 34, 132, 264, 528, 1056 }) {
        product_tma(gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 4, 16, 66, 132, 264 }) {
        try_copy<256, 8, HINT_FIRST, HINT_FIRST>(
            gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 32, 132, 264 }) {
        try_copy<512, 2, HINT_FIRST, HINT_FIRST>(
            gpu, path, dst, src, bytes, blocks);
        try_copy<512, 8, HINT_NONE, HINT_NONE>(
            gpu, path, dst, src, bytes, blocks);
        try_copy<128, 8, HINT_FIRST, HINT_THROUGH>(
            gpu, path, dst, src, bytes, blocks);
        try_copy<64, 4, HINT_FIRST, HINT_FIRST>(
            gpu, path, dst, src, bytes, blocks);
    }
    try_copy<256, 1, HINT_FIRST, HINT_FIRST>(gpu, path, dst, src, bytes, 0);
    try_copy<256, 4, HINT_FIRST, HINT_FIRST>(gpu, path, dst, src, bytes, 0);
    for (uint64_t blocks : { 16, 66, 132, 264 }) {
        try_bulk<4096, 4>(gpu, path, dst, src, bytes, blocks);
        try_bulk<16384, 2>(gpu, path, dst, src, bytes, blocks);
    }
    try_bulk<4096, 2>(gpu, path, dst, src, bytes, 0);
}

static void product_split(const struct shape_gpu &gpu, char *dst, char *src,
    uint64_t bytes, uint64_t blocks)
{
    const struct split_args args = { shape_at(dst), shape_at(src), bytes, 1,
        0 };

    prepare_split(dst, src, bytes);
    const double seconds = shape_seconds(
        [&] { nvbw_split<<<(unsigned)blocks, SM_THREADS>>>(args); });

    shape_row("both ways", "product", blocks, bytes, seconds,
        shape_is_whole(gpu, dst, bytes) && shape_is_whole(gpu, src, bytes));
}

static void splits(const struct shape_gpu &gpu, char *dst, char *src)
{
    const uint64_t bytes = 512 * MIB;
    const char *const path = "both ways";

    for (uint64_t blocks : { 8, 17, 34, 66, 132, 264, 528 }) {
        product_split(gpu, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 8, 34, 132, 264 }) {
        try_turns<256, 1>(gpu, path, dst, src, bytes, blocks);
        try_turns<256, 2>(gpu, path, dst, src, bytes, blocks);
        try_turns<256, 8>(gpu, path, dst, src, bytes, blocks);
        try_turns<512, 4>(gpu, path, dst, src, bytes, blocks);
        try_turns<128, 4>(gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 17, 33, 65, 131, 263 }) {
        try_bulk_turns<2048, 4>(gpu, path, dst, src, bytes, blocks);
        try_bulk_turns<4096, 4>(gpu, path, dst, src, bytes, blocks);
        try_bulk_turns<16384, 4>(gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 32, 132, 264 }) {
        try_split<256, 4, 0, HINT_FIRST>(gpu, path, dst, src, bytes, blocks);
        try_split<256, 4, 2, HINT_FIRST>(gpu, path, dst, src, bytes, blocks);
        try_split<256, 8, 2, HINT_FIRST>(gpu, path, dst, src, bytes, blocks);
        try_split<512, 8, 0, HINT_NONE>(gpu, path, dst, src, bytes, blocks);
    }
    for (uint64_t blocks : { 48, 96, 132 }) {
        try_split<256, 4, 3, HINT_FIRST>(gpu, path, dst, src, bytes, blocks);
        try_split<256, 4, 4, HINT_FIRST>(gpu, path, dst, src, bytes, blocks);
        try_split<256, 4, 2, HINT_THROUGH>(gpu, path, dst, src, bytes, blocks);
    }
}

/* ---- What was asked for ---- */

static void run_memory(const struct shape_gpu &gpu)
{
    char *memory;
    char *dst;

    OK(cudaMalloc(&memory, 24 * GIB));
    shape_fill(memory, 24 * GIB);
    reads(gpu, memory);
    writes(gpu, memory);
    dst = memory + 12 * GIB;
    copies(gpu, dst, memory);
    bulks(gpu, dst, memory);
    OK(cudaFree(memory));
}

static void run_host(const struct shape_gpu &gpu, bool both, bool one)
{
    const uint64_t bytes = 512 * MIB;
    char *host;
    char *memory;

    OK(cudaHostAlloc(&host, bytes, cudaHostAllocPortable));
    OK(cudaMalloc(&memory, bytes));
    if (one) {
        shape_fill(host, bytes);
        link(gpu, "h2d", memory, host, bytes / 2);
        shape_fill(memory, bytes);
        link(gpu, "d2h", host, memory, bytes / 2);
    }
    if (both) {
        splits(gpu, memory, host);
    }
    OK(cudaFree(memory));
    OK(cudaFreeHost(host));
}

static void run_peer(const struct shape_gpu &gpu)
{
    char *own;
    char *other;

    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&other, GIB));
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&own, GIB));
    shape_fill(own, GIB);
    link(gpu, "peer write", other, own, GIB);
    shape_fill(other, GIB);
    link(gpu, "peer read", own, other, GIB);
    OK(cudaFree(own));
    OK(cudaFree(other));
}

static bool wants(int count, char **words, const char *word)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return count < 2;
}

int main(int argc, char **argv)
{
    cudaDeviceProp about;
    struct shape_gpu gpu;
    int gpus = 0;
    int reachable = 0;

    OK(cudaGetDeviceCount(&gpus));
    OK(cudaGetDeviceProperties(&about, 0));
    if (gpus > 1) {
        OK(cudaDeviceCanAccessPeer(&reachable, 0, 1));
    }
    gpu.units = about.multiProcessorCount;
    OK(cudaMalloc(&gpu.words, 1 << 20));
    OK(cudaMalloc(&gpu.other, SHAPE_OTHER_BYTES));
    printf("%s, %d multiprocessors, %d GPUs\n", about.name, gpu.units, gpus);
    printf("%-12s %-44s %9s %10s\n", "path", "shape", "blocks", "bytes");
    if (wants(argc, argv, "memory")) {
        run_memory(gpu);
    }
    if (wants(argc, argv, "host") || wants(argc, argv, "split")) {
        run_host(gpu, wants(argc, argv, "split"), wants(argc, argv, "host"));
    }
    if (reachable != 0 && wants(argc, argv, "peer")) {
        run_peer(gpu);
    }
    return 0;
}
