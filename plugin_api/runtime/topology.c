/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "kernel_images.h"
#include "sysfs.h"
#include "topology_parts.h"

enum { NODES_LIMIT = 64 };

struct gpu_facts *topology_add_gpu(struct topology *topology)
{
    struct facts *const facts = topology->facts;

    facts->gpus = arena_append(
        topology->arena, facts->gpus, &facts->gpus_count, sizeof *facts->gpus);
    if (facts->gpus == NULL) {
        return NULL;
    }

    struct gpu_facts *const gpu = &facts->gpus[facts->gpus_count - 1];

    *gpu = (struct gpu_facts){ .index = -1,
        .device = -1,
        .near_node = -1,
        .pcie = { .relaxed_ordering = -1, .acs_redirect = -1 } };
    return gpu;
}

static int by_address(const void *one, const void *other)
{
    const struct gpu_facts *const a = one;
    const struct gpu_facts *const b = other;

    return strcmp(a->pci == NULL ? "" : a->pci, b->pci == NULL ? "" : b->pci);
}

/* PCI order; the numbers stand where NVML has no better ones. */
static void order_gpus(struct facts *facts)
{
    if (facts->gpus_count > 0) {
        qsort(facts->gpus, facts->gpus_count, sizeof *facts->gpus, by_address);
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        facts->gpus[i].index = (int32_t)i;
    }
}

/* A simulated machine may have nodes that this one lacks: its first node
 * stands for them. */
static int32_t add_simulated_nodes(struct topology *topology, struct error *err)
{
    struct facts *const facts = topology->facts;

    for (uint32_t i = 0; facts->simulated && i < facts->gpus_count; i++) {
        const int32_t number = facts->gpus[i].near_node;
        struct node_facts node;

        if (number < 0 || facts->nodes_count >= NODES_LIMIT ||
            facts_find_node(facts, number) >= 0) {
            continue;
        }
        node = facts->nodes[0];
        node.number = number;
        node.distances = NULL;
        node.distances_count = 0;
        facts->nodes = arena_append(topology->arena, facts->nodes,
            &facts->nodes_count, sizeof *facts->nodes);
        FAIL_IF(facts->nodes == NULL, err, NVBW_E_SYSTEM,
            "no memory for the facts");
        facts->nodes[facts->nodes_count - 1] = node;
    }
    return NVBW_OK;
}

static void read_driver_version(struct topology *topology)
{
    if (topology->facts->driver_version == NULL &&
        !topology->facts->simulated) {
        topology->facts->driver_version = sysfs_text(
            topology->arena, "%s/sys/module/nvidia/version", topology->root);
    }
}

/* A GPU without a name would be nobody's. */
static void name_gpus(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (facts->gpus[i].name == NULL) {
            facts->gpus[i].name = "unknown GPU";
        }
    }
}

static int32_t read_gpus(
    struct topology *topology, const char *driver_file, struct error *err)
{
    TRY(topology_cuda(topology, driver_file, err));
    TRY(topology_nvml_list(topology, driver_file, err));
    order_gpus(topology->facts);
    TRY(topology_nvml_details(topology, err));
    topology_pci(topology);
    name_gpus(topology->facts);
    read_driver_version(topology);
    TRY(add_simulated_nodes(topology, err));
    return topology_paths(topology, err);
}

int32_t topology_read(const char *driver_file, struct arena *arena,
    struct facts *out, struct error *err)
{
    struct topology *const topology = arena_alloc(arena, 1, sizeof *topology);

    FAIL_IF(topology == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    *out = (struct facts){ .driver_file = driver_file == NULL ? "libcuda.so.1"
                                                              : driver_file,
        .sm_kernels = (uint32_t)kernel_images_built };
    topology->root = "";
    topology->arena = arena;
    topology->facts = out;
    TRY(topology_host(topology->root, arena, out, err));
    TRY(topology_numa(topology->root, arena, out, err));
    return read_gpus(topology, driver_file, err);
}
