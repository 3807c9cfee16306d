/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Profiles: what the simulated machine is, read from configs/sim/NAME.cfg.
 * A profile may name a base, whose settings it changes; `gpu` speaks of all
 * GPUs, each group of the list `gpus` of those that it numbers. Rates are
 * GB/s of payload and equal bytes per nanosecond. */
#ifndef SIM_PROFILE_H
#define SIM_PROFILE_H

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_GPUS_MAX = 1024, PROFILE_NODES_MAX = 16, PROFILE_TEXT = 64 };

/* Classes of transfers that have a rate and a cost of their own. */
#define TRANSFER_CLASSES(X)                                                    \
    X(H2D, h2d)                                                                \
    X(D2H, d2h)                                                                \
    X(PEER_READ, peer_read)                                                    \
    X(PEER_WRITE, peer_write)                                                  \
    X(LOCAL, local)                                                            \
    X(H2D_SM, h2d_sm)                                                          \
    X(D2H_SM, d2h_sm)                                                          \
    X(PEER_READ_SM, peer_read_sm)                                              \
    X(PEER_WRITE_SM, peer_write_sm)                                            \
    X(LOCAL_SM, local_sm)                                                      \
    X(READ_SM, read_sm)                                                        \
    X(WRITE_SM, write_sm)                                                      \
    X(PAGEABLE_H2D, pageable_h2d)                                              \
    X(PAGEABLE_D2H, pageable_d2h)                                              \
    X(MANAGED, managed)                                                        \
    X(STAGED, staged)                                                          \
    X(HOST, host)

#define TRANSFER_ENUM(upper, lower) TRANSFER_##upper,
enum transfer_class { TRANSFER_CLASSES(TRANSFER_ENUM) TRANSFER_CLASSES_END };

struct profile_class {
    double rate;    /* alone; 0: no limit of its own */
    double cost_us; /* once per copy or kernel */
    double load;    /* bytes of a shared link per byte of payload */
};

struct profile_link {
    uint32_t gen, width, max_gen, max_width;
    double down, up; /* towards the GPU, from it; 0: no limit */
    double duplex;   /* both together */
    uint32_t uplink; /* number from 1 of the uplink that it shares; 0: none */
    double uplink_rate;   /* of that uplink, each direction */
    uint32_t acs;         /* 1: bridges above it redirect peers to the root */
    double redirect_rate; /* of what the root passes on from it to peers then */
};

struct profile_nvlink {
    uint32_t links, active, version;
    uint32_t switched; /* through switches: every pair has all links */
    double line;       /* GB/s, raw, per link and direction */
    double in, out;    /* of the whole GPU */
    double duplex;     /* in and out together */
};

struct profile_gpu {
    char model[PROFILE_TEXT], uuid[PROFILE_TEXT], pci[PROFILE_TEXT];
    char serial[PROFILE_TEXT], vbios[PROFILE_TEXT], board[PROFILE_TEXT];
    char process[PROFILE_TEXT]; /* that uses the GPU too, or "" */
    uint32_t node;
    uint32_t memory_mib;   /* NVML's total */
    uint32_t reserved_mib; /* of it, the driver keeps this for itself */
    uint32_t l2_kib;
    uint32_t units, compute; /* 90: capability 9.0 */
    uint32_t memory_clock_mhz, sm_clock_mhz, memory_bus_bits;
    uint32_t shared_kib;   /* per SM */
    uint32_t peer, island; /* peers reach each other within an island */
    uint32_t coherent, mig, watchdog, fabric, multicast, vmm;
    uint32_t number; /* the same for all hosts */
    uint32_t engines_h2d, engines_d2h, engines_peer, engines_local;
    uint32_t throttle; /* NVML event reasons */
    uint32_t temperature, power_w, power_limit_w;
    uint32_t ecc_uncorrected, rows_remapped, replays;
    double memory_rate; /* device memory, read and written together */
    double l2_rate;     /* of arrays that the L2 holds, likewise; 0: none */
    double clock_offset_ms, clock_drift_ppm;
    double kernel_us; /* start of a kernel */
    double graph_us;  /* more, before the first kernel of a graph */
    double latency_host_ns, latency_peer_ns, latency_local_ns;
    double latency_bulk_ns; /* more, for a step by a bulk copy */
    /* More under a load that takes the whole way, and how late it rises. */
    double latency_loaded_host_ns, latency_loaded_peer_ns;
    double latency_loaded_local_ns, latency_knee;
    double latency_spread_ns; /* between the fastest SM and the slowest */
    struct profile_link pcie;
    struct profile_nvlink nvlink;
    struct profile_class classes[TRANSFER_CLASSES_END];
};

struct profile_host {
    uint32_t nodes;
    double read, write, total; /* of one node's memory */
    double weight_down, weight_up;
    double between_nodes; /* link from node to node, each direction */
    uint32_t far;         /* host memory lies on another node than the GPU */
    char iommu[16];       /* "off", "passthrough", "translated" */
};

struct profile {
    char name[PROFILE_TEXT];
    char driver_version[PROFILE_TEXT];
    char faults[512];
    uint32_t cuda_version; /* 13000 */
    uint32_t count;
    uint32_t tray;    /* GPUs of each host; 0: all are one host's */
    uint32_t visible; /* of the host that this is; they come first */
    char host_name[PROFILE_TEXT]; /* "": this machine's */
    uint32_t queue_depth;
    uint32_t nvml;             /* 0: no NVML at all */
    uint32_t sparse_above_mib; /* larger buffers are described; 0: none */
    double quantum_us, event_resolution_ns;
    struct profile_host host;
    struct profile_gpu *gpus; /* count of them */
};

/* What programs can have of a GPU's memory, which is the driver's total. */
static inline uint64_t profile_usable_bytes(const struct profile_gpu *gpu)
{
    return gpu->reserved_mib < gpu->memory_mib
               ? (uint64_t)(gpu->memory_mib - gpu->reserved_mib) << 20
               : 0;
}

/* name: a path with a slash, or NAME.cfg in folder. text: sentence for people
 * where something is wrong. 0 or -1. */
int profile_load(const char *name, const char *folder, struct profile *out,
    char *text, size_t text_size);
void profile_free(struct profile *profile);

#endif
