/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* NUMA nodes: those with memory and CPUs. A node without CPUs is memory of a
 * GPU or an expander, no place from which a host feeds its GPUs. */
#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "sysfs.h"

enum { NODE_LIMIT = 1024, KIB = 1024, CACHE_INDEXES = 5 };

static uint64_t meminfo(struct arena *arena, const char *text, const char *key)
{
    const char *const found = text == NULL ? NULL : strstr(text, key);
    char *const value = found == NULL ? NULL : sysfs_value(arena, found, key);

    return value == NULL ? 0 : strtoull(value, NULL, 10) * KIB;
}

/* Bytes of the largest cache that begins at this CPU: one whose first CPU it
 * is, so that every cache is counted once. */
static uint64_t cache_at(const char *root, int cpu)
{
    uint64_t bytes = 0;
    int64_t highest = 0;

    for (int index = 0; index < CACHE_INDEXES; index++) {
        int64_t level = 0;
        int64_t first = -1;
        int64_t size_kib = 0;

        if (!sysfs_number(&level,
                "%s/sys/devices/system/cpu/cpu%d/cache/index%d/level", root,
                cpu, index) ||
            level < highest) {
            continue;
        }
        highest = level;
        sysfs_number(&first,
            "%s/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
            root, cpu, index);
        sysfs_number(&size_kib,
            "%s/sys/devices/system/cpu/cpu%d/cache/index%d/size", root, cpu,
            index);
        bytes = first == cpu ? (uint64_t)size_kib * KIB : 0;
    }
    return bytes;
}

static uint64_t cache_of(const char *root, const char *cpus)
{
    struct cpu_mask all;
    uint64_t bytes = 0;

    if (!affinity_parse(cpus, &all)) {
        return 0;
    }
    for (int cpu = 0; cpu < AFFINITY_CPUS; cpu++) {
        if (CPU_ISSET(
                (size_t)cpu % CPU_SETSIZE, &all.sets[cpu / CPU_SETSIZE])) {
            bytes += cache_at(root, cpu);
        }
    }
    return bytes;
}

/* Those of the list that this process may use. */
static uint32_t count_allowed(const char *cpus)
{
    struct cpu_mask wanted;
    struct cpu_mask mine;
    uint32_t count = 0;

    affinity_current(&mine);
    if (!affinity_parse(cpus, &wanted)) {
        return 0;
    }
    for (size_t i = 0; i < AFFINITY_CPUS / CPU_SETSIZE; i++) {
        cpu_set_t both;

        CPU_AND(&both, &wanted.sets[i], &mine.sets[i]);
        count += (uint32_t)CPU_COUNT(&both);
    }
    return count;
}

static int is_allowed(const char *mems, int number)
{
    struct cpu_mask allowed;

    return mems == NULL || !affinity_parse(mems, &allowed) ||
           CPU_ISSET((size_t)number % CPU_SETSIZE,
               &allowed.sets[number / CPU_SETSIZE]);
}

static int32_t add_node(const char *root, int number, struct arena *arena,
    struct facts *facts, struct error *err)
{
    const char *const text = sysfs_text(
        arena, "%s/sys/devices/system/node/node%d/meminfo", root, number);
    const char *const cpus = sysfs_text(
        arena, "%s/sys/devices/system/node/node%d/cpulist", root, number);
    const uint64_t memory_bytes = meminfo(arena, text, "MemTotal");

    if (memory_bytes == 0 || cpus == NULL) {
        return NVBW_OK;
    }
    facts->nodes = arena_append(
        arena, facts->nodes, &facts->nodes_count, sizeof *facts->nodes);
    FAIL_IF(
        facts->nodes == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    facts->nodes[facts->nodes_count - 1] = (struct node_facts){
        .number = number,
        .cpus = cpus,
        .cpu_count = count_allowed(cpus),
        .memory_bytes = memory_bytes,
        .free_bytes = meminfo(arena, text, "MemFree"),
        .cache_bytes = cache_of(root, cpus),
    };
    return NVBW_OK;
}

/* The file lists the distances to all online nodes in order of number; the
 * facts hold some of these. online: the numbers in that order. */
static int32_t read_distances(const char *root, struct node_facts *node,
    const struct facts *facts, const int *online, uint32_t online_count,
    struct arena *arena, struct error *err)
{
    const char *at = sysfs_text(arena,
        "%s/sys/devices/system/node/node%d/distance", root, node->number);

    node->distances =
        arena_alloc(arena, facts->nodes_count, sizeof *node->distances);
    FAIL_IF(
        node->distances == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    node->distances_count = facts->nodes_count;
    for (uint32_t i = 0; at != NULL && i < online_count; i++) {
        char *end = NULL;
        const unsigned long distance = strtoul(at, &end, 10);
        const int32_t position = facts_find_node(facts, online[i]);

        if (position >= 0) {
            node->distances[position] = (uint32_t)distance;
        }
        at = end;
    }
    return NVBW_OK;
}

/* A kernel without NUMA: all there is is one node. */
static int32_t add_only_node(const char *root, struct arena *arena,
    struct facts *facts, struct error *err)
{
    const char *const text = sysfs_text(arena, "%s/proc/meminfo", root);
    const char *cpus =
        sysfs_text(arena, "%s/sys/devices/system/cpu/online", root);

    facts->nodes = arena_append(
        arena, facts->nodes, &facts->nodes_count, sizeof *facts->nodes);
    FAIL_IF(
        facts->nodes == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    cpus = cpus == NULL ? "0" : cpus;
    facts->nodes[0] = (struct node_facts){
        .cpus = cpus,
        .cpu_count = count_allowed(cpus),
        .memory_bytes = meminfo(arena, text, "MemTotal"),
        .free_bytes = meminfo(arena, text, "MemFree"),
        .cache_bytes = cache_of(root, cpus),
    };
    return NVBW_OK;
}

/* Memory that a virtual machine got after its start may be missing from its
 * only node's own count: seen as 9 of 252 GB. */
static void correct_only_node(
    const char *root, struct arena *arena, struct node_facts *node)
{
    const char *const text = sysfs_text(arena, "%s/proc/meminfo", root);
    const uint64_t all_bytes = meminfo(arena, text, "MemTotal");

    if (all_bytes > node->memory_bytes) {
        node->memory_bytes = all_bytes;
        node->free_bytes = meminfo(arena, text, "MemFree");
    }
}

int32_t topology_numa(const char *root, struct arena *arena,
    struct facts *facts, struct error *err)
{
    const char *const status = sysfs_text(arena, "%s/proc/self/status", root);
    const char *const mems = sysfs_value(arena, status, "Mems_allowed_list");
    const char *const list =
        sysfs_text(arena, "%s/sys/devices/system/node/online", root);
    int online[NODE_LIMIT];
    uint32_t online_count = 0;

    for (int number = 0; list != NULL && number < NODE_LIMIT; number++) {
        if (!is_allowed(list, number)) {
            continue;
        }
        online[online_count++] = number;
        if (is_allowed(mems, number)) {
            TRY(add_node(root, number, arena, facts, err));
        }
    }
    if (facts->nodes_count == 0) {
        TRY(add_only_node(root, arena, facts, err));
    }
    if (online_count == 1 && facts->nodes_count == 1) {
        correct_only_node(root, arena, &facts->nodes[0]);
    }
    for (uint32_t i = 0; i < facts->nodes_count; i++) {
        TRY(read_distances(
            root, &facts->nodes[i], facts, online, online_count, arena, err));
    }
    return NVBW_OK;
}
