/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Every pair of GPUs of the simulated machine copies, one pair after another,
 * and every destination is compared: what size costs the simulator. Prints
 * GPUs, pairs, seconds of CPU, MiB resident, GB/s of the slowest pair.
 *
 *   sim_scale LIBCUDA_SIM GPUS MIB */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "args.h"
#include "cuda_abi.h"

#define MEMBER(member, symbol, version, parameters)                            \
    cu_result(*member) parameters;
static struct {
    CUDA_FUNCTIONS(MEMBER)
} cu;
#undef MEMBER

struct node {
    struct CUctx_st *context;
    struct CUstream_st *stream;
    struct CUevent_st *start, *end;
    struct CUfunc_st *fill, *compare;
    cu_address src, dst;
};

static void must(cu_result result, const char *what)
{
    if (result != CU_SUCCESS) {
        fprintf(stderr, "sim_scale: %s: %d\n", what, (int)result);
        exit(1);
    }
}

static void open_driver(const char *file)
{
    void *library = dlopen(file, RTLD_NOW);

    if (library == NULL) {
        fprintf(stderr, "sim_scale: %s\n", dlerror());
        exit(1);
    }
#define LOOK_UP(member_, symbol_, version_, parameters_)                       \
    {                                                                          \
        void *found = dlsym(library, #symbol_);                                \
        memcpy(&cu.member_, &found, sizeof found);                             \
    }
    CUDA_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

static void open_node(struct node *node, int device, size_t bytes)
{
    struct CUmod_st *module = NULL;

    must(cu.context_retain(&node->context, device), "context");
    must(cu.context_set(node->context), "context");
    must(cu.stream_create(&node->stream, CU_STREAM_IS_NON_BLOCKING), "stream");
    must(cu.event_create(&node->start, CU_EVENT_IS_DEFAULT), "event");
    must(cu.event_create(&node->end, CU_EVENT_IS_DEFAULT), "event");
    must(cu.module_load(&module, CUDA_SIM_IMAGE "nvbw_fill\nnvbw_compare\n"),
        "module");
    must(cu.module_function(&node->fill, module, "nvbw_fill"), "fill");
    must(cu.module_function(&node->compare, module, "nvbw_compare"), "compare");
    must(cu.memory_alloc(&node->src, bytes), "memory");
    must(cu.memory_alloc(&node->dst, bytes), "memory");
}

static void launch(
    const struct node *node, struct CUfunc_st *function, void *args)
{
    void *parameters[] = { args };

    must(cu.launch(
             function, 64, 1, 1, 256, 1, 1, 0, node->stream, parameters, NULL),
        "kernel");
}

static uint64_t *results;

/* GB/s of a copy from one to the other, by the one; 0: it arrived wrong. */
static double copy_pair(
    const struct node *from, const struct node *to, size_t bytes, uint64_t key)
{
    struct fill_args fill = { from->src, bytes, key };
    struct compare_args compare = { to->dst, bytes, key,
        (uint64_t)(uintptr_t)&results[0], (uint64_t)(uintptr_t)&results[1] };
    float ms = 0;

    results[0] = 0;
    must(cu.context_set(from->context), "context");
    launch(from, from->fill, &fill);
    must(cu.event_record(from->start, from->stream), "event");
    must(cu.copy_async(to->dst, from->src, bytes, from->stream), "copy");
    must(cu.event_record(from->end, from->stream), "event");
    must(cu.stream_synchronize(from->stream), "copy");
    must(cu.event_elapsed(&ms, from->start, from->end), "event");
    must(cu.context_set(to->context), "context");
    launch(to, to->compare, &compare);
    must(cu.stream_synchronize(to->stream), "compare");
    return results[0] == 0 ? (double)bytes / (double)ms / 1e6 : 0;
}

static double copy_all(const struct node *nodes, int count, size_t bytes)
{
    double least = 1e9;

    for (int i = 0; i < count; i++) {
        must(cu.context_set(nodes[i].context), "context");
        for (int j = 0; j < count; j++) {
            if (i != j) {
                must(cu.peer_enable(nodes[j].context, 0), "peer");
            }
        }
    }
    for (int i = 0; i < count * count; i++) {
        if (i / count != i % count) {
            const double rate = copy_pair(&nodes[i / count], &nodes[i % count],
                bytes, (uint64_t)i * 0x9e3779b9 + 1);

            least = rate < least ? rate : least;
        }
    }
    return least;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: sim_scale LIBCUDA_SIM GPUS MIB\n");
        return 2;
    }
    const int count = (int)strtol(argv[2], NULL, 10);
    const size_t bytes = (size_t)strtoull(argv[3], NULL, 10) << 20;
    struct node *nodes = calloc((size_t)count + 1, sizeof *nodes);
    void *page = NULL;
    struct rusage usage;

    if (nodes == NULL) {
        return 1;
    }
    open_driver(argv[1]);
    must(cu.init(0), "cuInit");
    for (int i = 0; i < count; i++) {
        open_node(&nodes[i], i, bytes);
    }
    must(cu.host_alloc(
             &page, 4096, CU_HOST_ALLOC_PORTABLE | CU_HOST_ALLOC_MAPPED),
        "page");
    results = page;
    const double least = copy_all(nodes, count, bytes);

    getrusage(RUSAGE_SELF, &usage);
    printf("%4d GPUs %5d pairs %7.2f s CPU %6ld MiB resident, slowest %.2f "
           "GB/s\n",
        count, count * (count - 1),
        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
        usage.ru_maxrss >> 10, least);
    free(nodes);
    return least > 0 ? 0 : 1;
}
