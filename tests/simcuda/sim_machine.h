/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Machine: the one simulated machine of this process. Everything below is
 * used under its lock, which sim_enter takes and sim_leave gives back. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "cuda_abi.h"
#include "sim_core.h"
#include "sim_faults.h"
#include "sim_memory.h"
#include "sim_profile.h"
#include "sim_segment.h"

/* What transfers share: of each GPU, then of each NUMA node. */
enum gpu_resource {
    GPU_PCIE_DOWN,
    GPU_PCIE_UP,
    GPU_PCIE_DUPLEX,
    GPU_NVLINK_IN,
    GPU_NVLINK_OUT,
    GPU_NVLINK_DUPLEX,
    GPU_MEMORY,
    GPU_UPLINK_DOWN, /* of the uplink with its number, not its own */
    GPU_UPLINK_UP,
    GPU_REDIRECT, /* from it to peers by way of the root complex */
    GPU_RESOURCES
};
enum node_resource {
    NODE_READ,
    NODE_WRITE,
    NODE_TOTAL,
    NODE_IN,
    NODE_OUT,
    NODE_RESOURCES
};
enum gpu_slot {
    SLOT_H2D,
    SLOT_D2H,
    SLOT_PEER,
    SLOT_LOCAL,
    SLOT_KERNEL,
    GPU_SLOTS
};

/* The handles that callers hold. */
struct CUctx_st {
    uint32_t gpu, users;
    cu_result sticky; /* returned by every later call, 0: none */
    uint64_t peers[MEMORY_GPUS / 64];
    struct CUstream_st *legacy;
    uint32_t streams_made;
};
struct CUstream_st {
    struct CUstream_st *next;
    struct CUctx_st *context;
    struct sim_stream *queue;
};
struct CUevent_st {
    struct CUevent_st *next;
    struct CUctx_st *context;
    uint32_t flags, users, destroyed;
    uint64_t recorded, completed; /* numbers of records */
    double time_ns;               /* of the latest, by the GPU's clock */
};

struct sim_gpu {
    struct profile_gpu *profile;
    struct CUctx_st context;
    uint64_t used_bytes;
    uint32_t lost, declined; /* as far as this process knows */
};

struct sim_machine {
    struct profile profile;
    struct faults faults;
    struct sim_core *core;
    struct memory_map memory;
    struct sim_gpu *gpus;
    struct CUstream_st *streams;
    struct CUevent_st *events;
    struct segment *shared; /* what other processes count too */
    uint32_t connections, initialised, eager;
    char trouble[512]; /* why there is no machine */
};

/* Functions by number. */
#define SIM_CALL_ENUM(member, symbol, version, parameters) SIM_##symbol,
enum sim_call { CUDA_FUNCTIONS(SIM_CALL_ENUM) SIM_CALLS_END };

/* The machine, made at the first call; NULL never, but see trouble. */
struct sim_machine *sim_machine(void);
/* For who wants to know which kernels are launched. */
void sim_note_kernel(const char *name);

/* Begins a call: takes the lock unless the call is refused, which a fault, an
 * earlier sticky error or a missing cuInit does. */
cu_result sim_enter(enum sim_call call);
cu_result sim_leave(cu_result result);
/* Lets another thread in, without ending the call. */
void sim_lock(void);
void sim_unlock(void);
/* Whether the calling thread holds it. */
int sim_is_locked(void);

#define SIM_CALL(symbol, expression)                                           \
    do {                                                                       \
        const cu_result refused_ = sim_enter(SIM_##symbol);                    \
        return refused_ != CU_SUCCESS ? refused_ : sim_leave(expression);      \
    } while (0)

/* The calling thread's context, or NULL. */
struct CUctx_st *sim_current(void);
void sim_set_current(struct CUctx_st *context);
struct CUctx_st *sim_context_of(uint32_t gpu);

/* Lets virtual time pass until done(arg). Where that never comes, neither
 * does the return. */
void sim_wait(int (*done)(void *arg), void *arg);
/* Waits for all work of a context, as allocating and loading do. */
void sim_drain(struct CUctx_st *context);

uint32_t sim_gpu_resource(uint32_t gpu, enum gpu_resource resource);
uint32_t sim_node_resource(uint32_t node, enum node_resource resource);
int32_t sim_gpu_slot(uint32_t gpu, enum gpu_slot slot);
/* A moment by the clock of a GPU. */
double sim_gpu_clock(const struct sim_gpu *gpu, double now_ns);

#endif
