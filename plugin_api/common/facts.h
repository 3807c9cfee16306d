/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Facts: what the machine is, as one worker of role `facts` read it from the
 * driver, NVML, sysfs and libnuma. The only source for schedule, limits and
 * diagnosis. Absent: 0 for counts and sizes, NULL for text, -1 for numbers
 * where 0 means something. */
#ifndef NVBW_FACTS_H
#define NVBW_FACTS_H

#include "fields.h"

/* A PCI Express link. width 0: unknown. */
struct pcie_facts {
    uint32_t generation, width;         /* now; read while idle it may be less
                                           than under load */
    uint32_t max_generation, max_width; /* what GPU and slot allow together */
    uint32_t gpu_max_generation, gpu_max_width;
    uint32_t max_payload, max_read_request; /* bytes */
    int32_t relaxed_ordering;               /* 1, 0, -1: not readable */
    int32_t acs_redirect;        /* of any bridge up to the root, its port too;
                                    1, 0, -1: not readable */
    int32_t acs_redirect_switch; /* of those below the root port only */
    const char *root;            /* root port's address */
};

struct gpu_facts {
    int32_t index;  /* in PCI order on the machine: what people write */
    int32_t device; /* CUdevice in a worker that sees all GPUs; -1 if the
                       driver does not offer it */
    const char *name, *uuid, *pci, *serial, *vbios, *board;
    int32_t near_node; /* the system's NUMA node number, -1: unknown */
    uint32_t compute;  /* 90: capability 9.0 */
    uint32_t units;    /* SMs */
    uint64_t memory_bytes, free_bytes, l2_bytes;
    uint64_t memory_clock_hz; /* at most; data rate is twice that */
    uint32_t memory_bus_bits;
    uint32_t copy_engines;
    struct pcie_facts pcie;
    uint32_t nvlinks; /* fitted */
    uint32_t nvlinks_active;
    uint64_t nvlink_rate;     /* bytes/s, raw, per link and direction */
    int32_t coherent_link;    /* 1: C2C to its CPU */
    int32_t mig;              /* 1: this is a slice or MIG is on */
    int32_t display_watchdog; /* 1: kernels are killed after some seconds */
    int32_t confidential;
    int32_t multicast, fabric; /* attributes; not proof */
    const char *fabric_cluster;
    uint32_t fabric_clique;
    const char *fabric_state;
    uint64_t ecc_uncorrected, rows_remapped;
    const char **processes; /* "pid name" of others that use it */
    uint32_t processes_count;
    const char *trouble; /* why it cannot be used, or NULL */
    const char *host;    /* of an MPI job: the host that it is in, else NULL */
};

struct node_facts {
    int32_t number;     /* the system's */
    const char *cpus;   /* list format, "0-15,32-47" */
    uint32_t cpu_count; /* of those this process may use */
    uint64_t memory_bytes, free_bytes, cache_bytes; /* last-level cache, all
                                                       of the node's */
    uint32_t *distances; /* to each node, in order of node_facts */
    uint32_t distances_count;
};

/* From one GPU to another, in order of gpu_facts; rows first, no diagonal. */
struct pair_facts {
    uint32_t from, to; /* positions in gpus */
    int32_t access;    /* 1: `from` can map the memory of `to` */
    uint32_t nvlinks;
    const char *path; /* "NV18", "PIX", "PXB", "PHB", "NODE", "SYS" */
};

struct facts {
    const char *host, *kernel, *cpu, *os;
    const char *machine; /* vendor and product of the board, if readable */
    const char *driver_version;
    uint32_t cuda_version; /* of the driver: 13000 is 13.0 */
    const char *nvml_version;
    const char *driver_file;    /* library used */
    const char *driver_trouble; /* why there is no driver, or NULL */
    const char *nvml_trouble;
    uint32_t simulated;  /* 1: the simulated driver */
    const char *profile; /* of the simulated driver */
    uint32_t sm_kernels; /* 1: this build carries kernels for real GPUs */
    uint64_t memory_bytes, page_bytes;
    int32_t imex_channel;       /* 1: one can be used, 0: no, -1: unknown */
    const char *iommu;          /* "off", "passthrough", "translated" or NULL */
    const char *virtualisation; /* hypervisor's name or NULL */
    struct gpu_facts *gpus;
    uint32_t gpus_count;
    struct node_facts *nodes;
    uint32_t nodes_count;
    struct pair_facts *pairs;
    uint32_t pairs_count;
    /* Of an MPI job: how many ranks it has. Then `gpus` are not those of a
     * host but of the ranks, one each and in their order, numbered by rank;
     * the rest is rank 0's host. 0: this is no MPI job. */
    uint32_t ranks;
};

extern const struct fields facts_fields;

/* The pair, or NULL. Positions in facts->gpus. */
const struct pair_facts *facts_pair(
    const struct facts *facts, uint32_t from, uint32_t to);
/* Position in facts->gpus of a GPU named by index, UUID or PCI address, or
 * -1. */
int32_t facts_find_gpu(const struct facts *facts, const char *text);
/* Position in facts->nodes of the system's node number, or -1. */
int32_t facts_find_node(const struct facts *facts, int32_t number);

/* CUDA_DEVICE_MAX_CONNECTIONS of this machine's workers: as many streams of one
 * GPU as run side by side when all the others send to it and it to them, the
 * driver's default at least. Each costs a context some 15 ms at its start (seen
 * on H200), so small machines do not have the 32 that are the driver's most. */
enum { CONNECTIONS_LEAST = 8, CONNECTIONS_MOST = 32 };
uint32_t facts_connections(const struct facts *facts);

#endif
