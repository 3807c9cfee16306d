/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "affinity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct cpu_mask *mask, uint32_t cpu)
{
    CPU_SET_S(cpu, sizeof mask->sets, mask->sets);
}

static int has(const struct cpu_mask *mask, uint32_t cpu)
{
    return CPU_ISSET_S(cpu, sizeof mask->sets, mask->sets) != 0;
}

/* A number at *at, which is moved past it; -1 if there is none in range. */
static int32_t number(const char **at)
{
    if (**at < '0' || **at > '9') {
        return -1;
    }
    char *end;
    const unsigned long value = strtoul(*at, &end, 10);

    *at = end;
    return value < AFFINITY_CPUS ? (int32_t)value : -1;
}

/* One element, "7" or "0-15". */
static int parse_range(const char **at, struct cpu_mask *mask)
{
    const int32_t first = number(at);
    int32_t last = first;

    if (**at == '-') {
        *at += 1;
        last = number(at);
    }
    if (first < 0 || last < first) {
        return 0;
    }
    for (int32_t cpu = first; cpu <= last; cpu++) {
        add(mask, (uint32_t)cpu);
    }
    return 1;
}

int affinity_parse(const char *list, struct cpu_mask *out)
{
    struct cpu_mask mask = { 0 };

    *out = mask;
    if (list == NULL || *list == '\0') {
        return 0;
    }
    for (;;) {
        if (!parse_range(&list, &mask)) {
            return 0;
        }
        if (*list == '\0') {
            break;
        }
        if (*list++ != ',') {
            return 0;
        }
    }
    *out = mask;
    return 1;
}

/* The first CPU from `from` on for which has() is `wanted`, or the end. */
static uint32_t find(const struct cpu_mask *mask, uint32_t from, int wanted)
{
    while (from < AFFINITY_CPUS && has(mask, from) != wanted) {
        from++;
    }
    return from;
}

void affinity_text(const struct cpu_mask *mask, char *out, size_t out_bytes)
{
    size_t used = 0;
    uint32_t cpu = find(mask, 0, 1);

    snprintf(out, out_bytes, "none");
    while (cpu < AFFINITY_CPUS) {
        const uint32_t end = find(mask, cpu, 0);
        const char *const comma = used == 0 ? "" : ",";
        char piece[32];

        if (end - cpu == 1) {
            snprintf(piece, sizeof piece, "%s%u", comma, cpu);
        } else {
            snprintf(piece, sizeof piece, "%s%u-%u", comma, cpu, end - 1);
        }
        if (used + strlen(piece) + sizeof "..." > out_bytes) {
            snprintf(out + used, out_bytes - used, "...");
            return;
        }
        snprintf(out + used, out_bytes - used, "%s", piece);
        used += strlen(piece);
        cpu = find(mask, end, 1);
    }
}

uint32_t affinity_count(const struct cpu_mask *mask)
{
    return (uint32_t)CPU_COUNT_S(sizeof mask->sets, mask->sets);
}

int affinity_pick(const struct cpu_mask *mask, uint32_t n, struct cpu_mask *out)
{
    const uint32_t count = affinity_count(mask);
    struct cpu_mask one = { 0 };

    *out = one;
    if (count == 0) {
        return 0;
    }
    uint32_t cpu = find(mask, 0, 1);

    for (uint32_t i = 0; i < n % count; i++) {
        cpu = find(mask, cpu + 1, 1);
    }
    add(&one, cpu);
    *out = one;
    return 1;
}

/* The CPUs of the core that this CPU belongs to; 0 where it is not known. */
static int siblings_of(uint32_t cpu, struct cpu_mask *out)
{
    char path[96];
    char list[AFFINITY_TEXT_BYTES];

    snprintf(path, sizeof path,
        "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return 0;
    }
    const char *const line = fgets(list, sizeof list, file);

    fclose(file);
    if (line == NULL) {
        return 0;
    }
    list[strcspn(list, "\n")] = '\0';
    return affinity_parse(list, out);
}

void affinity_keep_cores(struct cpu_mask *mask)
{
    for (uint32_t cpu = find(mask, 0, 1); cpu < AFFINITY_CPUS;
         cpu = find(mask, cpu + 1, 1)) {
        struct cpu_mask same;

        if (!siblings_of(cpu, &same)) {
            continue;
        }
        for (uint32_t i = cpu + 1; i < AFFINITY_CPUS; i++) {
            if (has(&same, i)) {
                CPU_CLR_S(i, sizeof mask->sets, mask->sets);
            }
        }
    }
}

void affinity_current(struct cpu_mask *out)
{
    memset(out, 0, sizeof *out);
    if (sched_getaffinity(0, sizeof out->sets, out->sets) != 0) {
        memset(out, 0, sizeof *out);
    }
}

void affinity_allowed(const char *list, struct cpu_mask *out)
{
    struct cpu_mask wanted;
    struct cpu_mask both;

    affinity_current(out);
    if (!affinity_parse(list, &wanted)) {
        return;
    }
    CPU_AND_S(sizeof both.sets, both.sets, wanted.sets, out->sets);
    if (affinity_count(&both) != 0) {
        *out = both;
    }
}

int affinity_set(const struct cpu_mask *mask)
{
    return affinity_count(mask) != 0 &&
           sched_setaffinity(0, sizeof mask->sets, mask->sets) == 0;
}
