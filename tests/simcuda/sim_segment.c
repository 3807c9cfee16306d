/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_segment.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_MAGIC (UINT64_C(0x3147455357425600) + sizeof(struct segment))

static void *map_file(const char *name)
{
    const int descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat about;
    void *memory = MAP_FAILED;

    if (descriptor < 0) {
        return NULL;
    }
    /* A file of another size is somebody else's. */
    if (fstat(descriptor, &about) == 0 &&
        (about.st_size == 0 ||
            about.st_size == (off_t)sizeof(struct segment)) &&
        ftruncate(descriptor, (off_t)sizeof(struct segment)) == 0) {
        memory = mmap(NULL, sizeof(struct segment), PROT_READ | PROT_WRITE,
            MAP_SHARED, descriptor, 0);
    }
    close(descriptor);
    return memory == MAP_FAILED ? NULL : memory;
}

struct segment *segment_open(void)
{
    const char *name = secure_getenv("NVBW_SIM_SEGMENT");
    struct segment *segment = name == NULL || name[0] == '\0'
                                  ? calloc(1, sizeof *segment)
                                  : map_file(name);
    uint64_t magic = 0;

    if (segment == NULL ||
        __atomic_compare_exchange_n(&segment->magic, &magic, SEGMENT_MAGIC, 0,
            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
        magic == SEGMENT_MAGIC) {
        return segment;
    }
    munmap(segment, sizeof *segment);
    return NULL;
}

uint64_t segment_count(uint64_t *counter)
{
    return __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

uint64_t segment_pass(struct segment *segment, uint64_t now_ns)
{
    uint64_t latest = __atomic_load_n(&segment->now_ns, __ATOMIC_RELAXED);

    while (latest < now_ns &&
           !__atomic_compare_exchange_n(&segment->now_ns, &latest, now_ns, 0,
               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return latest > now_ns ? latest : now_ns;
}
