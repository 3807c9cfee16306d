/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Kind and NUMA side of host memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnosis.h"
#include "traffic_class.h"

enum { OF_HOST = 1u << ASPECT_HOST | 1u << ASPECT_HOST_SM, TEXT_BYTES = 64 };

/* ---- memory that was seen on another node ---- */

/* The first copy of this GPU whose host memory was read back on a node that is
 * not the GPU's though the plan left the choice to the host. */
static const struct flow_record *far_flow(
    const struct facts *facts, const struct record *record, uint32_t gpu)
{
    char near[TEXT_BYTES];

    snprintf(near, sizeof near, "%d", facts->gpus[gpu].near_node);
    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_record *const flow = &record->flows[i];
        const struct flow_path path = flow_path_of(facts, flow);
        const int32_t own = path.from >= 0 ? path.from : path.to;
        const int32_t place = path.from < 0 ? flow->src_place : flow->dst_place;

        if ((path.direction != FLOW_H2D && path.direction != FLOW_D2H) ||
            own != (int32_t)gpu || !flow->counted || flow->node_seen == NULL ||
            place < 0 || (uint32_t)place >= facts->nodes_count ||
            facts->nodes[place].number != facts->gpus[gpu].near_node ||
            strcmp(flow->node_seen, near) == 0 ||
            strcmp(flow->node_seen, "unknown") == 0) {
            continue;
        }
        return flow;
    }
    return NULL;
}

static int32_t look_placed(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t gpu = 0; gpu < diagnosis->facts->gpus_count; gpu++) {
        const struct flow_record *flow = NULL;

        for (uint32_t i = 0; i < out->count && flow == NULL; i++) {
            if (out->list[i].record != NULL &&
                diagnosis->facts->gpus[gpu].near_node >= 0 &&
                diagnosis->facts->simulated == 0) {
                flow = far_flow(diagnosis->facts, out->list[i].record, gpu);
            }
        }
        if (flow == NULL) {
            continue;
        }
        TRY(diagnosis_report(diagnosis, rule, (int32_t)gpu, -1, NULL,
            arena_format(diagnosis->judging->arena,
                "its node is %d, the memory was seen on %s",
                diagnosis->facts->gpus[gpu].near_node, flow->node_seen)));
        suspects_explain(&diagnosis->suspects, gpu, OF_HOST);
    }
    return NVBW_OK;
}

/* ---- low on one socket or on all ---- */

static int is_low(const struct diagnosis *diagnosis, uint32_t gpu)
{
    return suspects_is_low(
        &diagnosis->suspects, gpu, ASPECT_HOST, SUSPECT_QUIET);
}

/* GPUs of a node, and how many of them are low; the first of these. */
static uint32_t count_low(const struct diagnosis *diagnosis, int32_t node,
    uint32_t *out_all, uint32_t *out_first)
{
    uint32_t low = 0;

    *out_all = 0;
    for (uint32_t i = diagnosis->facts->gpus_count; i > 0; i--) {
        if (diagnosis->facts->gpus[i - 1].near_node != node) {
            continue;
        }
        *out_all += 1;
        if (is_low(diagnosis, i - 1)) {
            *out_first = i - 1;
            low++;
        }
    }
    return low;
}

static int32_t look_socket(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct facts *const facts = diagnosis->facts;

    for (uint32_t i = 0; i < facts->nodes_count; i++) {
        const int32_t node = facts->nodes[i].number;
        uint32_t all = 0;
        uint32_t first = 0;
        const uint32_t low = count_low(diagnosis, node, &all, &first);

        if (low < 2 || low < all) {
            continue;
        }
        TRY(diagnosis_report(diagnosis, rule, -1, -1,
            arena_format(
                diagnosis->judging->arena, "all %u GPUs of node %d", all, node),
            diagnosis_sight(diagnosis,
                suspects_of(&diagnosis->suspects, first, ASPECT_HOST))));
        for (uint32_t gpu = 0; gpu < facts->gpus_count; gpu++) {
            if (facts->gpus[gpu].near_node == node) {
                suspects_explain(&diagnosis->suspects, gpu, OF_HOST);
            }
        }
    }
    return NVBW_OK;
}

/* Every measured GPU's host traffic is under what is usual and none is worse
 * than the others: they share a cause, and with several nodes that is the way
 * to memory. */
static int32_t look_far(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct facts *const facts = diagnosis->facts;
    struct sight worst = { .utilisation = INFINITY };
    uint32_t low = 0;

    if (facts->nodes_count < 2) {
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct sight *const least =
            suspects_least(&diagnosis->suspects, i, ASPECT_HOST);

        if ((diagnosis->suspects.explained[i] & OF_HOST) != 0 ||
            isnan(least->utilisation)) {
            continue;
        }
        if (suspects_of(&diagnosis->suspects, i, ASPECT_HOST)->ratio <
                SUSPECT_QUIET ||
            !(least->utilisation < SUSPECT_USUAL)) {
            return NVBW_OK;
        }
        low++;
        if (least->utilisation < worst.utilisation) {
            worst = *least;
        }
    }
    if (low * 2 <= facts->gpus_count) {
        return NVBW_OK;
    }
    worst.ratio = NAN;
    return diagnosis_report(diagnosis, rule, -1, -1,
        arena_format(
            diagnosis->judging->arena, "%u of %u GPUs", low, facts->gpus_count),
        diagnosis_sight(diagnosis, &worst));
}

/* ---- kind ---- */

static int is_pageable(const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        if (record->flows[i].counted &&
            (record->flows[i].src_memory == NVBW_MEM_PAGEABLE ||
                record->flows[i].dst_memory == NVBW_MEM_PAGEABLE)) {
            return 1;
        }
    }
    return 0;
}

static int32_t look_kind(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct verdicts *const out = diagnosis->out;

    for (uint32_t i = 0; i < out->count; i++) {
        const struct verdict *const verdict = &out->list[i];

        if (verdict->state == STATE_FAIL && verdict->record != NULL &&
            is_pageable(verdict->record) &&
            verdict->utilisation < SUSPECT_USUAL) {
            return diagnosis_report(diagnosis, rule, -1, -1,
                diagnosis->judging->evidence->units[verdict->unit].testcase,
                arena_format(diagnosis->judging->arena, "%.0f %% of the link",
                    verdict->utilisation * 100.0));
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "memory_kind",
        .looks_at = "failing cells whose host memory is pageable",
        .look = look_kind,
        .sentence = "fails with pageable memory, which the driver copies twice",
        .action = "measure with pinned memory, or lower this limit",
        .next = "the same testcase with memory = \"pinned\" tells the link's "
                "share" },
    { .id = "memory_placed",
        .looks_at = "the node on which host memory was read back",
        .look = look_placed,
        .sentence = "copied from and to memory of another NUMA node",
        .action = "fix affinity: cpuset and memory policy of this container",
        .next = "`nvbw-host topo` shows nodes and what this process may use" },
    { .id = "socket_low",
        .looks_at = "GPUs of one node that are all low to and from the host",
        .look = look_socket,
        .sentence = "are slow to and from the host",
        .action = "look at this socket's memory: missing modules, one channel, "
                  "power profile; fix affinity",
        .next = "hostmem's testcases on this node tell memory from root "
                "complex" },
    { .id = "numa_side",
        .looks_at = "all GPUs under 70 % of their links, with several nodes",
        .look = look_far,
        .sentence = "get less from the host than is usual",
        .action = "fix affinity: host memory seems to lie behind another "
                  "socket; check what the VM tells of its nodes",
        .next = "run again with the memory bound to each node in turn" },
};

const struct diagnosis_family diagnose_memory = { "memory kind and NUMA side",
    rules, sizeof rules / sizeof rules[0] };
