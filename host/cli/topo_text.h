/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* `topo` for people: GPUs and their links, NUMA nodes, the matrix of peer
 * paths, and what each link can carry. */
#ifndef NVBW_TOPO_TEXT_H
#define NVBW_TOPO_TEXT_H

#include "ceiling.h"

/* What a link of one GPU can carry in one direction. */
struct topo_limit {
    uint32_t gpu;     /* position in facts->gpus */
    const char *name; /* "pcie", "nvlink", "memory" */
    struct ceiling expected, now;
};

struct topo {
    const struct facts *facts;
    uint32_t *gpus; /* chosen, positions in facts->gpus */
    uint32_t gpus_count;
    struct topo_limit *limits; /* those that can be derived, link by link */
    uint32_t limits_count;
};

/* To stdout. */
void topo_text_print(const struct topo *topo);

#endif
