/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic classes: what moves bytes over which link, which way, and what else
 * moves at the same time. A vocabulary only; the class of a cell comes from
 * its flows (host/judge/traffic_class.h). Pure. */
#ifndef NVBW_TRAFFIC_H
#define NVBW_TRAFFIC_H

#include <stddef.h>

#include "fields.h"

enum ceiling_link {
    LINK_NONE = 0, /* nothing can be derived */
    LINK_PCIE,
    LINK_NVLINK,
    LINK_MEMORY /* a GPU's own */
};

/* Which way, and for peers who drives it. */
enum traffic_way {
    WAY_NONE = 0,
    WAY_H2D,
    WAY_D2H,
    WAY_PUSH, /* peer, executed by the source */
    WAY_PULL, /* peer, executed by the destination */
    WAY_COPY, /* local */
    WAY_READ,
    WAY_WRITE,
    WAY_HOST,
    WAY_BOTH /* host traffic counted in both directions at once */
};

/* What else moves at the same time, as seen from the counted flow. */
enum traffic_load {
    LOAD_ALONE = 1,
    LOAD_OPPOSED,       /* the same link carries the other direction */
    LOAD_SHARED,        /* other GPUs move bytes too */
    LOAD_SHARED_OPPOSED /* both */
};

struct traffic {
    uint32_t link;      /* LINK_* */
    uint32_t initiator; /* NVBW_BY_* */
    uint32_t way;       /* WAY_* */
    uint32_t load;      /* LOAD_* */
};

/* As efficiency files and journals write them. */
extern const struct name link_names[], way_names[], load_names[];
extern const struct fields traffic_fields;

int traffic_equal(const struct traffic *one, const struct traffic *other);
/* "ce h2d opposed" */
void traffic_format(const struct traffic *traffic, char *out, size_t size);

#endif
