/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What is launched, and by which calls of the driver. A flow's user points to
 * a struct launch. Its first enqueue, the warm-up, makes what the later ones
 * launch; launch_end() unmakes it after the measurement. */
#ifndef NVBW_LAUNCH_CALLS_H
#define NVBW_LAUNCH_CALLS_H

#include "nvbw/plugin.h"

enum launch_what { LAUNCH_KERNEL, LAUNCH_GRAPH, LAUNCH_EVENT };

/* X(name, version): the driver's functions and since when each is as here; from
 * cuGraphCreate on, those of graphs. */
#define LAUNCH_CALLS(X)                                                        \
    X(cuCtxGetCurrent, 4000)                                                   \
    X(cuCtxSetCurrent, 4000)                                                   \
    X(cuModuleLoadData, 2000)                                                  \
    X(cuModuleGetFunction, 2000)                                               \
    X(cuModuleUnload, 2000)                                                    \
    X(cuLaunchKernel, 4000)                                                    \
    X(cuStreamSynchronize, 2000)                                               \
    X(cuEventCreate, 2000)                                                     \
    X(cuEventRecord, 2000)                                                     \
    X(cuEventSynchronize, 2000)                                                \
    X(cuEventDestroy, 4000)                                                    \
    X(cuGraphCreate, 10000)                                                    \
    X(cuGraphAddKernelNode, 10000)                                             \
    X(cuGraphInstantiateWithFlags, 11040)                                      \
    X(cuGraphLaunch, 10000)                                                    \
    X(cuGraphExecDestroy, 10000)                                               \
    X(cuGraphDestroy, 10000)
#define LAUNCH_CALL_NUMBER(name, version) CALL_##name,
enum { LAUNCH_CALLS(LAUNCH_CALL_NUMBER) LAUNCH_CALLS_END };

struct launch {
    enum launch_what what;
    int waits;      /* 1: for the end of each before the next */
    uint64_t nodes; /* of a graph */
    /* Of this file's own, empty at first. */
    nvbw_driver_fn *calls[LAUNCH_CALLS_END];
    int is_made;
    void *context, *module, *kernel, *graph, *graph_exec, *event;
};

/* Puts work->repeats of them on the stream. */
int32_t launch_enqueue(struct nvbw_ctx *ctx, const struct nvbw_work *work);
void launch_end(struct launch *launch);

#endif
