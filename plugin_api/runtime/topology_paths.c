/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The path between each two GPUs, named as nvidia-smi topo -m does. */
#include "topology_parts.h"

static int32_t name_path(
    struct topology *topology, struct pair_facts *pair, struct error *err)
{
    const struct facts *const facts = topology->facts;

    pair->nvlinks = topology_nvml_links(topology, pair->from, pair->to);
    if (pair->nvlinks > 0) {
        pair->path = arena_format(topology->arena, "NV%u", pair->nvlinks);
        FAIL_IF(
            pair->path == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
        return NVBW_OK;
    }
    pair->path = topology_nvml_path(topology, pair->from, pair->to);
    if (pair->path == NULL && !facts->simulated) {
        pair->path = topology_pci_path(
            topology, &facts->gpus[pair->from], &facts->gpus[pair->to]);
    }
    return NVBW_OK;
}

int32_t topology_paths(struct topology *topology, struct error *err)
{
    struct facts *const facts = topology->facts;
    const size_t count = facts->gpus_count;
    uint32_t filled = 0;

    if (count < 2) {
        return NVBW_OK;
    }
    facts->pairs =
        arena_alloc(topology->arena, count * (count - 1), sizeof *facts->pairs);
    FAIL_IF(facts->pairs == NULL, err, NVBW_E_SYSTEM, "no memory for %zu pairs",
        count * (count - 1));
    for (uint32_t from = 0; from < count; from++) {
        for (uint32_t to = 0; to < count; to++) {
            if (from == to) {
                continue;
            }
            facts->pairs[filled] =
                (struct pair_facts){ .from = from, .to = to };
            TRY(name_path(topology, &facts->pairs[filled], err));
            filled++;
        }
    }
    facts->pairs_count = filled;
    topology_access(topology);
    return NVBW_OK;
}
