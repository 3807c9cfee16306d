/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory of the host, mapped, placed on a NUMA node and populated, so that
 * neither page faults nor placement happen inside a measurement. Where it
 * really is, is read back afterwards; a container or a virtual machine that
 * refuses the system calls for it gives "unknown", never a failure. */
#ifndef NVBW_HOST_MEMORY_H
#define NVBW_HOST_MEMORY_H

#include "facts.h"
#include "status.h"

enum host_pages {
    HOST_PAGES_NORMAL = 0,  /* as the system pleases */
    HOST_PAGES_ADVISED = 1, /* transparent huge pages are asked for */
    HOST_PAGES_HUGE = 2     /* reserved huge pages, else transparent ones */
};

/* node_seen of what is on several nodes, and of what cannot be told. */
enum { HOST_NODE_MIXED = -1, HOST_NODE_UNKNOWN = -2 };

struct host_memory {
    void *address;        /* of a page's start */
    uint64_t bytes;       /* mapped: whole pages, at least what was asked for */
    int32_t node_seen;    /* the system's number, or HOST_NODE_* */
    enum host_pages kind; /* what it became: HUGE only if reserved */
};

/* Maps and populates. node: where to, NULL: anywhere. NVBW_E_SKIPPED with
 * NVBW_SKIP_MEMORY as code where the system has less to give; *out is set only
 * on success. Belongs to the caller until host_memory_unmap. */
int32_t host_memory_map(const struct node_facts *node, uint64_t bytes,
    enum host_pages pages, struct host_memory *out, struct error *err);
/* A zeroed struct is fine. */
void host_memory_unmap(struct host_memory *memory);

/* Where a sample of the pages of populated memory is. */
int32_t host_memory_node(const void *address, uint64_t bytes);
/* Bytes that the system can give without swapping; UINT64_MAX: unknown. */
uint64_t host_memory_available(void);

/* For buffer kinds: "1", "mixed" or "unknown", as in records. room of at
 * least 16 bytes. */
const char *host_memory_node_text(int32_t node_seen, char *room, size_t bytes);

#endif
