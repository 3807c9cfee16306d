/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A GPU as the engine uses it: its context, the engine's kernels, a stream
 * for the engine's own work and room for words and results. */
#ifndef NVBW_GPU_H
#define NVBW_GPU_H

#include "args.h"
#include "cuda_api.h"
#include "facts.h"
#include "kernel_images.h"

#define GPU_KERNEL_NUMBER(name) GPU_KERNEL_##name,
enum { ENGINE_KERNELS(GPU_KERNEL_NUMBER) GPU_KERNELS };
#define SM_KERNEL_NUMBER(name, args) SM_KERNEL_##name,
enum { SM_KERNELS(SM_KERNEL_NUMBER) SM_KERNELS_END };
#define CHASE_KERNEL_NUMBER(name, args) CHASE_KERNEL_##name,
enum { CHASE_KERNELS(CHASE_KERNEL_NUMBER) CHASE_KERNELS_END };

enum {
    GPU_ROOM_BYTES = 64 << 10, /* of device memory for the engine's results */
    GPU_ROOM_SNAPSHOTS = 0,    /* words copied at start and end */
    GPU_ROOM_RESULTS = 16 << 10,
    GPU_ROOM_SPARE = 32 << 10 /* what the first use of things is tried on */
};

/* A status beside those of the contract: the machine is not the one of the
 * facts. It never leaves the runtime. */
enum { GPU_E_FACTS_CHANGED = -64 };

struct opening;

struct gpu {
    const struct cuda_api *api;
    const struct gpu_facts *facts;
    uint32_t position; /* in facts->gpus */
    uint32_t ready;
    int device;              /* CUdevice, -1: the driver does not offer it */
    uint32_t exchanged;      /* 1: another device is at its PCI address */
    struct opening *opening; /* being opened by another thread, or NULL */
    struct error trouble;    /* of an opening ahead, not told yet */
    struct CUctx_st *context;
    struct CUmod_st *modules[KERNEL_FAMILIES];
    struct CUfunc_st *kernels[GPU_KERNELS];
    struct CUfunc_st *sm_kernels[SM_KERNELS_END];       /* after gpu_need_sm */
    struct CUfunc_st *chase_kernels[CHASE_KERNELS_END]; /* gpu_need_chase */
    struct CUstream_st *stream; /* the engine's own, never gated */
    cu_address room;
    uint64_t quiet_ns; /* when memory that was freed is taken to be scrubbed */
    unsigned char *peers; /* by position: how far access is (gpu_peer.c) */
};

/* Opens these GPUs (those that are open already stay so), contexts in
 * parallel. NVBW_E_SKIPPED with no_device or not_built as code. */
int32_t gpu_open_all(struct gpu *gpus, uint32_t gpus_count,
    const uint32_t *positions, uint32_t count, struct error *err);
void gpu_close(struct gpu *gpu);
/* Opening ahead: begins to open one GPU that will be needed later, and waits
 * for it until a point in time (clock_machine_ns). What goes wrong then, and a
 * thread that still hangs in the driver, are met by who needs the GPU. */
void gpu_open_ahead(struct gpu *gpu);
void gpu_await_ahead(struct gpu *gpu, uint64_t until_ns);

/* The driver's device for each GPU of the facts, by UUID, else PCI address. */
int32_t gpu_find_devices(struct gpu *gpus, uint32_t count, struct error *err);

/* Makes the context current. */
int32_t gpu_use(const struct gpu *gpu, struct error *err);
/* Lets `gpu` address the memory of `peer`, or no longer. */
int32_t gpu_set_peer(struct gpu *gpu, const struct gpu *peer, uint32_t peers,
    int enabled, struct error *err);
/* Once per pair: loads and stores through the enabled access, checked by the
 * owner. NVBW_E_DEVICE where data comes out wrong; an address that cannot be
 * reached is the driver's sticky error. */
int32_t gpu_prove_peer(
    const struct gpu *gpu, const struct gpu *peer, struct error *err);

/* Launches a kernel of the engine over `bytes`, one thread where that is 0.
 * The context must be current. */
int32_t gpu_launch(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t bytes, struct error *err);

/* Loads a family of kernels, if it is not loaded yet. The context must be
 * current. NVBW_E_SKIPPED with not_built as code where this build has none. */
int32_t gpu_load_family(struct gpu *gpu, uint32_t family, struct error *err);
/* The kernels that move bytes (gpu_sm.c). */
int32_t gpu_need_sm(struct gpu *gpu, struct error *err);
/* Whether a kernel for compute capability 9.0 can run: NVBW_E_SKIPPED where the
 * GPU is older, or this build's compiler was. what: "bulk copies". */
int32_t gpu_need_hopper(
    const struct gpu *gpu, const char *what, struct error *err);
/* Threads of a block of each. */
uint32_t gpu_sm_threads(uint32_t kernel);
/* Launches one of them with so many blocks. The context must be current. */
int32_t gpu_launch_sm(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, struct error *err);

/* The same for the kernels that follow chains (gpu_chase.c). */
int32_t gpu_need_chase(struct gpu *gpu, struct error *err);
int32_t gpu_launch_chase(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, uint32_t threads,
    struct error *err);

/* Waits, polling, until the stream is empty. */
int32_t gpu_wait(const struct gpu *gpu, struct CUstream_st *stream,
    uint64_t limit_ns, const char *what, struct error *err);

#endif
