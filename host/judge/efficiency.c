/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "efficiency.h"

#include <stdio.h>
#include <string.h>

#include "state.h"

#define H200 "2 x H200, PCIe Gen5 x16, NV18, 2026-11-29"

#define H200_BOTH "2 x H200, PCIe Gen5 x16, 2026-11-30, adaptive and fixed"

/* With the kernels of this project. */
#define H200_KERNELS "2 x H200, 2026-11-30, kernels of nvbw-host"

#define PCIE(by, way, load, efficiency, spread)                                \
    {                                                                          \
        { LINK_PCIE, NVBW_BY_##by, WAY_##way, LOAD_##load }, efficiency,       \
            spread, H200                                                       \
    }
#define NVLINK(by, way, load, efficiency, spread)                              \
    {                                                                          \
        { LINK_NVLINK, NVBW_BY_##by, WAY_##way, LOAD_##load }, efficiency,     \
            spread, H200                                                       \
    }
#define MEMORY(by, way, efficiency, spread)                                    \
    {                                                                          \
        { LINK_MEMORY, NVBW_BY_##by, WAY_##way, LOAD_ALONE }, efficiency,      \
            spread, H200                                                       \
    }

const struct efficiency_row efficiency_builtin[] = {
    PCIE(CE, H2D, ALONE, 0.88, 0.002),
    PCIE(CE, D2H, ALONE, 0.88, 0.002),
    PCIE(CE, H2D, OPPOSED, 0.76, 0.08),
    PCIE(CE, D2H, OPPOSED, 0.80, 0.03),
    PCIE(CE, H2D, SHARED, 0.85, 0.02),
    PCIE(CE, D2H, SHARED, 0.83, 0.06),
    PCIE(CE, H2D, SHARED_OPPOSED, 0.46, 0.06),
    PCIE(CE, D2H, SHARED_OPPOSED, 0.78, 0.04),
    { { LINK_PCIE, NVBW_BY_CE, WAY_BOTH, LOAD_OPPOSED }, 0.76, 0.05,
        H200_BOTH },
    { { LINK_PCIE, NVBW_BY_CE, WAY_BOTH, LOAD_SHARED_OPPOSED }, 0.59, 0.08,
        H200_BOTH },
    PCIE(SM, H2D, ALONE, 0.81, 0.002),
    PCIE(SM, D2H, ALONE, 0.83, 0.002),
    { { LINK_PCIE, NVBW_BY_SM, WAY_H2D, LOAD_OPPOSED }, 0.65, 0.03,
        H200_KERNELS },
    { { LINK_PCIE, NVBW_BY_SM, WAY_D2H, LOAD_OPPOSED }, 0.65, 0.03,
        H200_KERNELS },
    PCIE(SM, H2D, SHARED, 0.80, 0.02),
    PCIE(SM, D2H, SHARED, 0.81, 0.03),
    { { LINK_PCIE, NVBW_BY_SM, WAY_H2D, LOAD_SHARED_OPPOSED }, 0.43, 0.05,
        H200_KERNELS },
    { { LINK_PCIE, NVBW_BY_SM, WAY_D2H, LOAD_SHARED_OPPOSED }, 0.43, 0.05,
        H200_KERNELS },

    NVLINK(CE, PUSH, ALONE, 0.88, 0.002),
    NVLINK(CE, PULL, ALONE, 0.875, 0.002),
    NVLINK(CE, PUSH, OPPOSED, 0.87, 0.01),
    NVLINK(CE, PULL, OPPOSED, 0.865, 0.01),
    NVLINK(CE, PUSH, SHARED, 0.88, 0.01),
    NVLINK(CE, PULL, SHARED, 0.875, 0.01),
    NVLINK(SM, PUSH, ALONE, 0.82, 0.005),
    NVLINK(SM, PULL, ALONE, 0.835, 0.005),
    NVLINK(SM, PUSH, OPPOSED, 0.81, 0.02),
    NVLINK(SM, PULL, OPPOSED, 0.75, 0.02),
    NVLINK(SM, PUSH, SHARED, 0.82, 0.01),
    NVLINK(SM, PULL, SHARED, 0.82, 0.01),
    NVLINK(TMA, PUSH, ALONE, 0.82, 0.01),
    NVLINK(TMA, PULL, ALONE, 0.82, 0.01),

    MEMORY(CE, COPY, 0.87, 0.02),
    MEMORY(SM, COPY, 0.88, 0.02),
    { { LINK_MEMORY, NVBW_BY_TMA, WAY_COPY, LOAD_ALONE }, 0.87, 0.02,
        H200_KERNELS },
    { { LINK_MEMORY, NVBW_BY_SM, WAY_READ, LOAD_ALONE }, 0.94, 0.03,
        H200_KERNELS },
    { { LINK_MEMORY, NVBW_BY_SM, WAY_WRITE, LOAD_ALONE }, 0.97, 0.02,
        H200_KERNELS },
    { { LINK_NONE, 0, WAY_NONE, LOAD_ALONE }, 0.0, 0.0, NULL },
};

int traffic_equal(const struct traffic *one, const struct traffic *other)
{
    return one->link == other->link && one->initiator == other->initiator &&
           one->way == other->way && one->load == other->load;
}

const struct efficiency_row *efficiency_find(
    const struct efficiency_row *table, const struct traffic *traffic)
{
    for (; table->efficiency > 0.0; table++) {
        if (traffic_equal(&table->traffic, traffic)) {
            return table;
        }
    }
    return NULL;
}

void traffic_format(const struct traffic *traffic, char *out, size_t size)
{
    static const char *const ways[] = { [WAY_NONE] = "none",
        [WAY_H2D] = "h2d",
        [WAY_D2H] = "d2h",
        [WAY_PUSH] = "peer push",
        [WAY_PULL] = "peer pull",
        [WAY_COPY] = "local copy",
        [WAY_READ] = "local read",
        [WAY_WRITE] = "local write",
        [WAY_HOST] = "host",
        [WAY_BOTH] = "both ways" };
    static const char *const loads[] = { [LOAD_ALONE] = "alone",
        [LOAD_OPPOSED] = "opposed",
        [LOAD_SHARED] = "shared",
        [LOAD_SHARED_OPPOSED] = "shared and opposed" };
    const char *const initiator = name_of(initiator_names, traffic->initiator);

    snprintf(out, size, "%s %s %s", initiator == NULL ? "?" : initiator,
        ways[traffic->way], loads[traffic->load]);
}

/* ---- the class of a cell ---- */

static enum traffic_way peer_way(
    const struct flow_record *flow, const struct flow_path *path)
{
    return flow->executor == path->to ? WAY_PULL : WAY_PUSH;
}

static enum traffic_way local_way(const struct flow_record *flow)
{
    switch (flow->operation) {
    case NVBW_OP_COPY:
        return WAY_COPY;
    case NVBW_OP_READ:
        return WAY_READ;
    case NVBW_OP_WRITE:
        return WAY_WRITE;
    default:
        return WAY_NONE;
    }
}

static enum traffic_way way_of(
    const struct flow_record *flow, const struct flow_path *path)
{
    switch (path->direction) {
    case FLOW_H2D:
        return WAY_H2D;
    case FLOW_D2H:
        return WAY_D2H;
    case FLOW_PEER:
        return peer_way(flow, path);
    case FLOW_LOCAL:
        return local_way(flow);
    case FLOW_HOST:
        return WAY_HOST;
    case FLOW_NONE:
        break;
    }
    return WAY_NONE;
}

static const struct flow_record *first_counted(const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        if (record->flows[i].counted) {
            return &record->flows[i];
        }
    }
    return NULL;
}

static int is_opposed(const struct flow_path *path, const struct flow_path *by)
{
    return by->link == path->link && by->from == path->to &&
           by->to == path->from && path->direction != FLOW_LOCAL;
}

/* Flows of other GPUs share the host with host traffic, and a peer's links
 * with peer traffic. Local traffic of other GPUs shares nothing. */
static int is_shared(const struct flow_path *path, const struct flow_path *by)
{
    if (path->direction == FLOW_PEER) {
        return by->direction == FLOW_PEER &&
               (by->from == path->from || by->to == path->to ||
                   by->from == path->to || by->to == path->from) &&
               !(by->from == path->from && by->to == path->to) &&
               !is_opposed(path, by);
    }
    if (path->direction != FLOW_H2D && path->direction != FLOW_D2H) {
        return 0;
    }

    const int32_t own = path->from >= 0 ? path->from : path->to;
    const int32_t other = by->from >= 0 ? by->from : by->to;

    return (by->direction == FLOW_H2D || by->direction == FLOW_D2H) &&
           other != own;
}

static enum traffic_load load_of(const struct facts *facts,
    const struct record *record, const struct flow_record *counted,
    const struct flow_path *path)
{
    int opposed = counted->operation == NVBW_OP_SPLIT;
    int shared = 0;

    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_path by = flow_path_of(facts, &record->flows[i]);

        opposed |= is_opposed(path, &by);
        shared |= is_shared(path, &by);
    }
    if (shared) {
        return opposed ? LOAD_SHARED_OPPOSED : LOAD_SHARED;
    }
    return opposed ? LOAD_OPPOSED : LOAD_ALONE;
}

/* 1 if counted flows go both ways. */
static int is_both_ways(const struct facts *facts, const struct record *record)
{
    const struct flow_record *const first = first_counted(record);

    if (first == NULL) {
        return 0;
    }

    const struct flow_path path = flow_path_of(facts, first);

    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_path by = flow_path_of(facts, &record->flows[i]);

        if (record->flows[i].counted && is_opposed(&path, &by)) {
            return 1;
        }
    }
    return 0;
}

void traffic_of_record(
    const struct facts *facts, const struct record *record, struct traffic *out)
{
    const struct flow_record *const flow = first_counted(record);

    *out = (struct traffic){ .load = LOAD_ALONE };
    if (flow == NULL) {
        return;
    }

    const struct flow_path path = flow_path_of(facts, flow);

    out->link = path.link;
    out->initiator = flow->initiator;
    out->way = path.link == LINK_PCIE && is_both_ways(facts, record)
                   ? WAY_BOTH
                   : way_of(flow, &path);
    out->load = load_of(facts, record, flow, &path);
}

const char *traffic_direction(
    const struct facts *facts, const struct record *record)
{
    static const char *const words[] = { [FLOW_NONE] = NULL,
        [FLOW_H2D] = "h2d",
        [FLOW_D2H] = "d2h",
        [FLOW_PEER] = "d2d",
        [FLOW_LOCAL] = "local",
        [FLOW_HOST] = "h2h" };
    const struct flow_record *const first = first_counted(record);

    if (first == NULL) {
        return NULL;
    }

    if (is_both_ways(facts, record)) {
        return "both";
    }

    const struct flow_path path = flow_path_of(facts, first);

    return first->operation == NVBW_OP_SPLIT && record->metric != NULL &&
                   strcmp(record->metric, "total") == 0
               ? "both"
               : words[path.direction];
}
