/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the parts of the topology share while it is read. */
#ifndef NVBW_TOPOLOGY_PARTS_H
#define NVBW_TOPOLOGY_PARTS_H

#include "cuda_api.h"
#include "nvml_api.h"
#include "topology.h"

struct topology {
    const char *root;        /* of the file system, "" but in tests */
    const char *driver_file; /* instead of libcuda.so.1, or NULL */
    struct arena *arena;
    struct facts *facts;
    uint32_t has_cuda, has_nvml;
    struct cuda_api cuda;
    struct nvml_api nvml;
    struct nvmlDevice_st **handles; /* beside facts->gpus; NULL: unknown */
};

/* Appends a GPU with every absent number as facts.h says. */
struct gpu_facts *topology_add_gpu(struct topology *topology);

/* The driver's GPUs, or driver_trouble. (topology_cuda.c) */
int32_t topology_cuda(
    struct topology *topology, const char *driver_file, struct error *err);
/* Which GPU can map which other's memory. */
void topology_access(struct topology *topology);

/* Opens NVML and adds the GPUs that the driver does not offer, or says
 * nvml_trouble. (topology_nvml.c) */
int32_t topology_nvml_list(
    struct topology *topology, const char *driver_file, struct error *err);
/* Details, after the GPUs were put in order. (topology_nvml_gpu.c) */
int32_t topology_nvml_details(struct topology *topology, struct error *err);
/* NVLinks between two GPUs, and NVML's name of their path, or NULL. */
uint32_t topology_nvml_links(
    struct topology *topology, uint32_t from, uint32_t to);
const char *topology_nvml_path(
    struct topology *topology, uint32_t from, uint32_t to);

/* Link, node, root port and settings from sysfs. (topology_pci.c) */
void topology_pci(struct topology *topology);
/* "PIX", "PXB", "PHB", "NODE" or "SYS" from the places of two devices under
 * /sys/devices and their nodes; NULL where sysfs does not know them. */
const char *topology_pci_path(const struct topology *topology,
    const struct gpu_facts *from, const struct gpu_facts *to);

/* All pairs. (topology_paths.c) */
int32_t topology_paths(struct topology *topology, struct error *err);

#endif
