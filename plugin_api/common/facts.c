/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct field pcie_list[] = {
    FIELD(pcie_facts, U32, generation),
    FIELD(pcie_facts, U32, width),
    FIELD(pcie_facts, U32, max_generation),
    FIELD(pcie_facts, U32, max_width),
    FIELD(pcie_facts, U32, gpu_max_generation),
    FIELD(pcie_facts, U32, gpu_max_width),
    FIELD(pcie_facts, U32, max_payload),
    FIELD(pcie_facts, U32, max_read_request),
    FIELD(pcie_facts, I32, relaxed_ordering),
    FIELD(pcie_facts, I32, acs_redirect),
    FIELD(pcie_facts, I32, acs_redirect_switch),
    FIELD(pcie_facts, TEXT, root),
    FIELD_END,
};
static const struct fields pcie_fields = FIELDS(pcie_facts, pcie_list);

static const struct field gpu_list[] = {
    FIELD(gpu_facts, I32, index),
    FIELD(gpu_facts, I32, device),
    FIELD(gpu_facts, TEXT, name),
    FIELD(gpu_facts, TEXT, uuid),
    FIELD(gpu_facts, TEXT, pci),
    FIELD(gpu_facts, TEXT, serial),
    FIELD(gpu_facts, TEXT, vbios),
    FIELD(gpu_facts, TEXT, board),
    FIELD(gpu_facts, I32, near_node),
    FIELD(gpu_facts, U32, compute),
    FIELD(gpu_facts, U32, units),
    FIELD(gpu_facts, U64, memory_bytes),
    FIELD(gpu_facts, U64, free_bytes),
    FIELD(gpu_facts, U64, l2_bytes),
    FIELD(gpu_facts, U64, memory_clock_hz),
    FIELD(gpu_facts, U32, memory_bus_bits),
    FIELD(gpu_facts, U32, copy_engines),
    FIELD_STRUCT(gpu_facts, pcie, &pcie_fields),
    FIELD(gpu_facts, U32, nvlinks),
    FIELD(gpu_facts, U32, nvlinks_active),
    FIELD(gpu_facts, U64, nvlink_rate),
    FIELD(gpu_facts, I32, coherent_link),
    FIELD(gpu_facts, I32, mig),
    FIELD(gpu_facts, I32, display_watchdog),
    FIELD(gpu_facts, I32, confidential),
    FIELD(gpu_facts, I32, multicast),
    FIELD(gpu_facts, I32, fabric),
    FIELD(gpu_facts, TEXT, fabric_cluster),
    FIELD(gpu_facts, U32, fabric_clique),
    FIELD(gpu_facts, TEXT, fabric_state),
    FIELD(gpu_facts, U64, ecc_uncorrected),
    FIELD(gpu_facts, U64, rows_remapped),
    FIELD_LIST(gpu_facts, TEXTS, processes),
    FIELD(gpu_facts, TEXT, trouble),
    FIELD(gpu_facts, TEXT, host),
    FIELD_END,
};
static const struct fields gpu_fields = FIELDS(gpu_facts, gpu_list);

static const struct field node_list[] = {
    FIELD(node_facts, I32, number),
    FIELD(node_facts, TEXT, cpus),
    FIELD(node_facts, U32, cpu_count),
    FIELD(node_facts, U64, memory_bytes),
    FIELD(node_facts, U64, free_bytes),
    FIELD(node_facts, U64, cache_bytes),
    FIELD_LIST(node_facts, U32S, distances),
    FIELD_END,
};
static const struct fields node_fields = FIELDS(node_facts, node_list);

static const struct field pair_list[] = {
    FIELD(pair_facts, U32, from),
    FIELD(pair_facts, U32, to),
    FIELD(pair_facts, I32, access),
    FIELD(pair_facts, U32, nvlinks),
    FIELD(pair_facts, TEXT, path),
    FIELD_END,
};
static const struct fields pair_fields = FIELDS(pair_facts, pair_list);

static const struct field facts_list[] = {
    FIELD(facts, TEXT, host),
    FIELD(facts, TEXT, kernel),
    FIELD(facts, TEXT, cpu),
    FIELD(facts, TEXT, os),
    FIELD(facts, TEXT, machine),
    FIELD(facts, TEXT, driver_version),
    FIELD(facts, U32, cuda_version),
    FIELD(facts, TEXT, nvml_version),
    FIELD(facts, TEXT, driver_file),
    FIELD(facts, TEXT, driver_trouble),
    FIELD(facts, TEXT, nvml_trouble),
    FIELD(facts, U32, simulated),
    FIELD(facts, TEXT, profile),
    FIELD(facts, U32, sm_kernels),
    FIELD(facts, U64, memory_bytes),
    FIELD(facts, U64, page_bytes),
    FIELD(facts, I32, imex_channel),
    FIELD(facts, TEXT, iommu),
    FIELD(facts, TEXT, virtualisation),
    FIELD_STRUCTS(facts, gpus, &gpu_fields),
    FIELD_STRUCTS(facts, nodes, &node_fields),
    FIELD_STRUCTS(facts, pairs, &pair_fields),
    FIELD(facts, U32, ranks),
    FIELD_END,
};
const struct fields facts_fields = FIELDS(facts, facts_list);

const struct pair_facts *facts_pair(
    const struct facts *facts, uint32_t from, uint32_t to)
{
    /* Where all pairs are there, the place follows from the order; on large
     * machines a search per cell would cost more than the judging. */
    const size_t place =
        (size_t)from * (facts->gpus_count - 1) + to - (to > from ? 1 : 0);

    if (place < facts->pairs_count && facts->pairs[place].from == from &&
        facts->pairs[place].to == to) {
        return &facts->pairs[place];
    }
    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        if (facts->pairs[i].from == from && facts->pairs[i].to == to) {
            return &facts->pairs[i];
        }
    }
    return NULL;
}

static int is_same(const char *one, const char *other)
{
    return one != NULL && strcasecmp(one, other) == 0;
}

int32_t facts_find_gpu(const struct facts *facts, const char *text)
{
    char *end = NULL;
    const long number = strtol(text, &end, 10);
    const int is_number = end != text && *end == '\0';

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];

        if ((is_number && gpu->index == number) || is_same(gpu->uuid, text) ||
            is_same(gpu->pci, text)) {
            return (int32_t)i;
        }
    }
    return -1;
}

int32_t facts_find_node(const struct facts *facts, int32_t number)
{
    for (uint32_t i = 0; i < facts->nodes_count; i++) {
        if (facts->nodes[i].number == number) {
            return (int32_t)i;
        }
    }
    return -1;
}

uint32_t facts_connections(const struct facts *facts)
{
    uint32_t connections = CONNECTIONS_LEAST;

    while (
        connections < CONNECTIONS_MOST && connections < 2 * facts->gpus_count) {
        connections *= 2;
    }
    return connections;
}
