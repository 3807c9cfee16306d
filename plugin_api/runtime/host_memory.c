/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_memory.h"

#include "affinity.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <numaif.h>

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* Of mmap: which size of reserved page, as log2 in the upper bits. */
static const int HUGE_2_MIB = 21 << 26;
enum { NODES_MAX = 1024, SAMPLE_PAGES = 64, POPULATE_THREADS = 4 };
static const uint64_t POPULATE_SHARED_BYTES = UINT64_C(256) << 20;
static const uint64_t HUGE_BYTES = UINT64_C(2) << 20;
/* Left to everyone else on the machine when asked for more than there is. */
static const uint64_t KEEP_FREE_BYTES = UINT64_C(256) << 20;

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t host_memory_available(void)
{
    FILE *const file = fopen("/proc/meminfo", "re");
    uint64_t available = UINT64_MAX;
    char line[128];

    if (file == NULL) {
        return available;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        uint64_t kib;

        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1) {
            available = kib * 1024;
            break;
        }
    }
    fclose(file);
    return available;
}

/* A preferred node, not a bound one: on a full node, binding would wake the
 * kernel's killer, preferring gives pages elsewhere, which the reading back
 * then shows. Returns 0 where the system refuses. */
static int prefer_node(const struct host_memory *memory, int32_t number)
{
    unsigned long nodes[NODES_MAX / (CHAR_BIT * sizeof(unsigned long))] = { 0 };
    const size_t bits = CHAR_BIT * sizeof nodes[0];

    if (number < 0 || number >= NODES_MAX) {
        return 0;
    }
    nodes[(size_t)number / bits] = 1UL << ((size_t)number % bits);
    return mbind(memory->address, memory->bytes, MPOL_PREFERRED, nodes,
               NODES_MAX, 0) == 0;
}

/* A piece of a mapping, as one thread populates it. */
struct piece {
    unsigned char *at;
    uint64_t bytes;
    pthread_t thread;
    uint32_t started;
};

static void touch(const struct piece *piece)
{
    volatile unsigned char *const at = piece->at;
    const uint64_t step = page_bytes();

    for (uint64_t i = 0; i < piece->bytes; i += step) {
        at[i] = 0;
    }
}

static void *populate_piece(void *user)
{
    const struct piece *const piece = user;

    if (piece->bytes > 0 &&
        madvise(piece->at, piece->bytes, MADV_POPULATE_WRITE) != 0) {
        touch(piece);
    }
    return NULL;
}

/* The kernel clears pages one at a time, so large mappings are populated by
 * several threads, which run where this one may run. */
static void populate(const struct host_memory *memory)
{
    struct piece pieces[POPULATE_THREADS] = { { 0 } };
    const uint64_t count =
        memory->bytes >= POPULATE_SHARED_BYTES ? POPULATE_THREADS : 1;
    const uint64_t each = memory->bytes / count / page_bytes() * page_bytes();

    for (uint64_t i = 0; i < count; i++) {
        struct piece *const piece = &pieces[i];

        piece->at = (unsigned char *)memory->address + i * each;
        piece->bytes = i + 1 < count ? each : memory->bytes - i * each;
        piece->started = i + 1 < count && pthread_create(&piece->thread, NULL,
                                              populate_piece, piece) == 0;
        if (!piece->started) {
            populate_piece(piece);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        if (pieces[i].started) {
            pthread_join(pieces[i].thread, NULL);
        }
    }
}

/* Containers commonly refuse mbind. Pages then come from the node of the CPU
 * that touches them first, so that is done from there. */
static void populate_from(
    const struct host_memory *memory, const struct node_facts *node)
{
    struct cpu_mask before;
    struct cpu_mask there;

    affinity_current(&before);
    affinity_allowed(node->cpus, &there);
    affinity_set(&there);
    populate(memory);
    affinity_set(&before);
}

static void place(
    const struct host_memory *memory, const struct node_facts *node)
{
    if (node == NULL || prefer_node(memory, node->number) ||
        node->cpu_count == 0) {
        populate(memory);
    } else {
        populate_from(memory, node);
    }
}

static void *map_pages(uint64_t bytes, int flags)
{
    void *const address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    return address == MAP_FAILED ? NULL : address;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Reserved huge pages exist only where an administrator set them aside; the
 * mapping fails at once where they do not suffice. */
static int map_huge(uint64_t bytes, struct host_memory *out)
{
    out->bytes = round_up(bytes, HUGE_BYTES);
    out->address = map_pages(out->bytes, MAP_HUGETLB | HUGE_2_MIB);
    out->kind = HOST_PAGES_HUGE;
    return out->address != NULL;
}

/* Mapped with room to spare and cut to a huge page's boundary, since only
 * whole aligned ranges become huge pages. */
static int map_advised(uint64_t bytes, struct host_memory *out)
{
    out->bytes = round_up(bytes, HUGE_BYTES);
    unsigned char *const start = map_pages(out->bytes + HUGE_BYTES, 0);

    if (start == NULL) {
        return 0;
    }
    const uint64_t skip =
        round_up((uintptr_t)start, HUGE_BYTES) - (uintptr_t)start;

    if (skip != 0) {
        munmap(start, skip);
    }
    if (skip != HUGE_BYTES) {
        munmap(start + skip + out->bytes, HUGE_BYTES - skip);
    }
    out->address = start + skip;
    out->kind = HOST_PAGES_ADVISED;
    madvise(out->address, out->bytes, MADV_HUGEPAGE);
    return 1;
}

static int map_normal(uint64_t bytes, struct host_memory *out)
{
    out->bytes = round_up(bytes, page_bytes());
    out->address = map_pages(out->bytes, 0);
    out->kind = HOST_PAGES_NORMAL;
    return out->address != NULL;
}

static int map_kind(
    uint64_t bytes, enum host_pages pages, struct host_memory *out)
{
    if (pages == HOST_PAGES_NORMAL) {
        return map_normal(bytes, out);
    }
    return (pages == HOST_PAGES_HUGE && map_huge(bytes, out)) ||
           map_advised(bytes, out);
}

static int32_t too_little(uint64_t bytes, uint64_t free_bytes,
    const struct node_facts *node, struct error *err)
{
    const int32_t status = error_set(err, NVBW_E_SKIPPED,
        "%" PRIu64 " MiB of host memory for node %d asked for, %" PRIu64
        " MiB available: use a smaller buffer_size",
        bytes >> 20, node == NULL ? -1 : node->number, free_bytes >> 20);

    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return status;
}

int32_t host_memory_map(const struct node_facts *node, uint64_t bytes,
    enum host_pages pages, struct host_memory *out, struct error *err)
{
    FAIL_IF(bytes == 0, err, NVBW_E_INVALID, "host memory of 0 bytes");
    const uint64_t available = host_memory_available();

    if (bytes > UINT64_MAX / 2 || available < KEEP_FREE_BYTES ||
        bytes > available - KEEP_FREE_BYTES) {
        return too_little(bytes, available, node, err);
    }
    struct host_memory memory = { 0 };

    if (!map_kind(bytes, pages, &memory)) {
        return too_little(bytes, available, node, err);
    }
    place(&memory, node);
    memory.node_seen = host_memory_node(memory.address, memory.bytes);
    *out = memory;
    return NVBW_OK;
}

void host_memory_unmap(struct host_memory *memory)
{
    if (memory->address != NULL) {
        munmap(memory->address, memory->bytes);
    }
    memset(memory, 0, sizeof *memory);
}

/* A negative status of a page is an errno: the page is not there, or the
 * system does not tell. */
static int32_t merge_nodes(const int *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] < 0) {
            return HOST_NODE_UNKNOWN;
        }
    }
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i] != nodes[0]) {
            return HOST_NODE_MIXED;
        }
    }
    return nodes[0];
}

int32_t host_memory_node(const void *address, uint64_t bytes)
{
    const uint64_t pages = bytes / page_bytes();
    const uint32_t count =
        pages < SAMPLE_PAGES ? (uint32_t)pages : (uint32_t)SAMPLE_PAGES;
    void *samples[SAMPLE_PAGES];
    int nodes[SAMPLE_PAGES];

    if (count == 0) {
        return HOST_NODE_UNKNOWN;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t page = pages / count * i;

        samples[i] = (unsigned char *)(uintptr_t)address + page * page_bytes();
        nodes[i] = -1;
    }
    if (move_pages(0, count, samples, NULL, nodes, 0) != 0) {
        return HOST_NODE_UNKNOWN;
    }
    return merge_nodes(nodes, count);
}

const char *host_memory_node_text(int32_t node_seen, char *room, size_t bytes)
{
    if (node_seen == HOST_NODE_MIXED) {
        return "mixed";
    }
    if (node_seen < 0) {
        return "unknown";
    }
    snprintf(room, bytes, "%d", node_seen);
    return room;
}
