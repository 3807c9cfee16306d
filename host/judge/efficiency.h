/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic classes and how much of a link each can reach on a healthy machine.
 * Pure: class and efficiency come from flows and facts, never from the name of
 * a testcase. */
#ifndef NVBW_EFFICIENCY_H
#define NVBW_EFFICIENCY_H

#include "ceiling.h"

/* What else moves at the same time, as seen from the counted flow. */
enum traffic_load {
    LOAD_ALONE = 1,
    LOAD_OPPOSED,       /* the same link carries the other direction */
    LOAD_SHARED,        /* other GPUs move bytes too */
    LOAD_SHARED_OPPOSED /* both */
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

struct traffic {
    enum ceiling_link link;
    uint32_t initiator; /* NVBW_BY_* */
    enum traffic_way way;
    enum traffic_load load;
};

/* The class of a cell by its first counted flow; way WAY_NONE if it has no
 * flow that moves bytes. */
void traffic_of_record(const struct facts *facts, const struct record *record,
    struct traffic *out);
int traffic_equal(const struct traffic *one, const struct traffic *other);
/* "ce h2d opposed" */
void traffic_format(const struct traffic *traffic, char *out, size_t size);

/* For a limit's `direction`: "h2d", "d2h", "d2d", "h2h", "local", or "both"
 * where the counted flows go both ways; NULL: unknown. */
const char *traffic_direction(
    const struct facts *facts, const struct record *record);

struct efficiency_row {
    struct traffic traffic;
    double efficiency; /* of the link's payload, of a healthy machine */
    double spread;     /* seen among healthy cells, relative */
    const char *source;
};

/* A table ends with efficiency 0. Of rows for one class the first counts. */
extern const struct efficiency_row efficiency_builtin[];
const struct efficiency_row *efficiency_find(
    const struct efficiency_row *table, const struct traffic *traffic);

#endif
