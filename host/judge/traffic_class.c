/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "traffic_class.h"

#include <string.h>

static enum traffic_way peer_way(
    const struct flow_record *flow, const struct flow_path *path)
{
    return flow->executor == path->to ? WAY_PULL : WAY_PUSH;
}

static enum traffic_way local_way(const struct flow_record *flow)
{
    if (flow->stride != 0) {
        return WAY_NONE;
    }
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

const char *traffic_gpu(const struct facts *facts, const struct record *record)
{
    const struct flow_record *const flow = first_counted(record);

    if (flow == NULL) {
        return NULL;
    }

    const struct flow_path path = flow_path_of(facts, flow);
    const int32_t gpu = path.from >= 0 ? path.from : path.to;

    return gpu < 0 ? NULL : facts->gpus[gpu].name;
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
