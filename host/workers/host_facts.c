/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Only node 0: it is there on every machine, and a machine whose facts worker
 * fails runs nothing that needs the others. */
static void read_text(const char *file, char *out, size_t size)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    if (fd >= 0) {
        length = read(fd, out, size - 1);
        close(fd);
    }
    out[length > 0 ? length : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* How many numbers a list such as "0-15,32-47" names. */
static uint32_t count_list(const char *text)
{
    uint64_t count = 0;

    while (*text >= '0' && *text <= '9') {
        char *end = NULL;
        const unsigned long first = strtoul(text, &end, 10);
        const unsigned long last =
            *end == '-' ? strtoul(end + 1, &end, 10) : first;

        if (last < first) {
            break;
        }
        count += last - first + 1;
        text = *end == ',' ? end + 1 : end;
    }
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static int32_t read_node(
    struct arena *arena, struct facts *out, struct error *err)
{
    char cpus[1024];
    struct node_facts *const node = arena_alloc(arena, 1, sizeof *node);

    FAIL_IF(node == NULL, err, NVBW_E_SYSTEM, "no memory for facts");
    node->distances = arena_alloc(arena, 1, sizeof *node->distances);
    read_text("/sys/devices/system/node/node0/cpulist", cpus, sizeof cpus);
    if (cpus[0] == '\0') {
        read_text("/sys/devices/system/cpu/online", cpus, sizeof cpus);
    }
    node->cpus = arena_text(arena, cpus);
    FAIL_IF(node->distances == NULL || node->cpus == NULL, err, NVBW_E_SYSTEM,
        "no memory for facts");
    node->cpu_count = count_list(cpus);
    node->memory_bytes = out->memory_bytes;
    node->distances[0] = 10;
    node->distances_count = 1;
    out->nodes = node;
    out->nodes_count = 1;
    return NVBW_OK;
}

int32_t host_facts_read(
    struct arena *arena, struct facts *out, struct error *err)
{
    struct utsname names;
    const long page = sysconf(_SC_PAGESIZE);
    const long pages = sysconf(_SC_PHYS_PAGES);

    *out = (struct facts){ .imex_channel = -1 };
    if (uname(&names) != 0) {
        return error_system(err, "cannot read the system's name");
    }
    out->host = arena_text(arena, names.nodename);
    out->kernel = arena_text(arena, names.release);
    out->cpu = arena_text(arena, names.machine);
    out->os = arena_text(arena, names.sysname);
    FAIL_IF(out->host == NULL || out->kernel == NULL || out->cpu == NULL ||
                out->os == NULL,
        err, NVBW_E_SYSTEM, "no memory for facts");
    out->page_bytes = page > 0 ? (uint64_t)page : 0;
    out->memory_bytes = pages > 0 ? out->page_bytes * (uint64_t)pages : 0;
    return read_node(arena, out, err);
}
