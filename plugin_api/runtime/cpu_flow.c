/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_flow.h"

#include "host_memory.h"

#include <string.h>

enum { SLICE_ALIGN = 4096, CHASE_LOAD_BYTES = 8, CHASE_SEED = 20 };
/* Of each buffer, unless one slice alone is larger. */
static const uint64_t SLICES_BYTES = UINT64_C(256) << 20;
static const uint64_t BYTES_MOST = UINT64_C(1) << 46;

static int32_t skip_not_built(struct error *err, const char *what)
{
    error_set(err, NVBW_E_SKIPPED, "CPUs do not carry out %s", what);
    if (err != NULL) {
        err->code = NVBW_SKIP_NOT_BUILT;
    }
    return NVBW_E_SKIPPED;
}

static const struct node_facts *executor_of(
    const struct flow_run *run, const struct session *session)
{
    const int32_t executor = run->record.executor;

    if (executor < 0 || (uint32_t)executor >= session->facts->nodes_count) {
        return NULL;
    }
    return &session->facts->nodes[executor];
}

static int32_t look_at_executor(const struct flow_run *run,
    const struct session *session, struct error *err)
{
    const struct node_facts *const node = executor_of(run, session);

    FAIL_IF(node == NULL, err, NVBW_E_INVALID,
        "executor %d of a flow by CPU is no NUMA node", run->record.executor);
    if (node->cpu_count > 0) {
        return NVBW_OK;
    }
    error_set(err, NVBW_E_SKIPPED,
        "node %d has no CPUs that this process may use", node->number);
    if (err != NULL) {
        err->code = NVBW_SKIP_NO_CPU;
    }
    return NVBW_E_SKIPPED;
}

static int32_t look_at_pattern(const struct nvbw_flow *given, struct error *err)
{
    const int chase = given->operation == NVBW_OP_CHASE;

    if (given->stride != 0 && !chase) {
        return skip_not_built(err, "strided access other than a chase");
    }
    if (given->element != 0) {
        return skip_not_built(err, "accesses of a chosen width (`element`)");
    }
    if (given->load_permille != 0 && given->load_permille != 1000) {
        return skip_not_built(err, "a part of full load (`load_permille`)");
    }
    if (chase && given->offset % CPU_LINE_BYTES != 0) {
        return skip_not_built(err, "a chase of lines that are not aligned");
    }
    return NVBW_OK;
}

static int32_t skip_too_small(
    const struct flow_run *run, const struct cpu_op *op, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "no element of %zu bytes fits %llu: buffer_size is too small for it",
        op != NULL ? (size_t)op->element : (size_t)1,
        (unsigned long long)run->record.bytes);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

int32_t cpu_flow_init(struct cpu_flow *flow, struct flow_run *run,
    const struct session *session, struct error *err)
{
    const struct nvbw_flow *const given = run->given;
    const struct cpu_op *const op = cpu_op_find(given->operation);

    memset(flow, 0, sizeof *flow);
    if (op == NULL && given->operation != NVBW_OP_CHASE) {
        return skip_not_built(err, "this operation");
    }
    TRY(look_at_pattern(given, err));
    TRY(look_at_executor(run, session, err));
    flow->run = run;
    flow->op = op;
    flow->background = (given->flags & NVBW_FLOW_BACKGROUND) != 0;
    flow->bytes = run->record.bytes;
    if (op != NULL) {
        flow->bytes = flow->bytes / op->element * op->element;
    }
    FAIL_IF(run->record.bytes == 0 || flow->bytes > BYTES_MOST ||
                given->offset > BYTES_MOST,
        err, NVBW_E_INVALID, "a flow by CPU of %llu bytes",
        (unsigned long long)run->record.bytes);
    if (flow->bytes == 0) {
        return skip_too_small(run, op, err);
    }
    run->record.bytes = flow->bytes;
    flow->step = (flow->bytes + given->offset + SLICE_ALIGN - 1) / SLICE_ALIGN *
                 SLICE_ALIGN;
    return NVBW_OK;
}

static int same_executor(const struct cpu_flow *one, const struct cpu_flow *two)
{
    return one->run->record.executor == two->run->record.executor;
}

/* Members that a flow gets of `cores` cores when `sharing` flows want them. */
static uint32_t members_of(const struct cpu_flow *flow, uint32_t asked,
    uint32_t cores, uint32_t sharing)
{
    if (flow->op == NULL) {
        return 1;
    }
    if (asked > 0) {
        return asked;
    }
    return sharing > 0 && cores > sharing ? cores / sharing : 1;
}

void cpu_flow_deal(struct cpu_flow *flows, uint32_t position,
    const struct session *session, struct cpu_mask *masks, uint32_t room)
{
    struct cpu_flow *const flow = &flows[position];
    const uint32_t asked = session->params.threads;
    struct cpu_mask all;
    uint32_t sharing = 0;
    uint32_t taken = 0;

    affinity_allowed(executor_of(flow->run, session)->cpus, &all);
    struct cpu_mask cores = all;

    affinity_keep_cores(&cores);
    for (uint32_t i = 0; i < session->flows_count; i++) {
        if (same_executor(&flows[i], flow)) {
            sharing++;
            taken += i < position ? flows[i].members : 0;
        }
    }
    const uint32_t wanted =
        members_of(flow, asked, affinity_count(&cores), sharing);

    flow->members = wanted < room ? wanted : room;
    const int crowded = asked * sharing > affinity_count(&cores);

    for (uint32_t i = 0; i < flow->members; i++) {
        if (!session->params.affinity ||
            !affinity_pick(crowded ? &all : &cores, taken + i, &masks[i])) {
            affinity_allowed(NULL, &masks[i]);
        }
    }
}

static int32_t get_buffer(const struct session *session, uint32_t memory,
    int32_t place, uint64_t bytes, struct buffer **slot, struct error *err)
{
    const struct buffer_want want = { .facts = session->facts,
        .engine = session->engine,
        .place = place,
        .executor = -1,
        .bytes = bytes };

    if (*slot != NULL) {
        buffer_put(session->pool, *slot);
        *slot = NULL;
    }
    TRY(buffer_get(session->pool, memory, &want, slot, err));
    if ((*slot)->host == NULL) {
        return skip_not_built(err, "flows in memory that they cannot address");
    }
    return NVBW_OK;
}

static int32_t get_buffers(struct cpu_flow *flow, const struct session *session,
    uint64_t bytes, struct error *err)
{
    struct flow_run *const run = flow->run;
    const struct flow_record *const record = &run->record;
    const struct cpu_op chase = { .src = 1 };
    const struct cpu_op *const op = flow->op == NULL ? &chase : flow->op;

    if (op->src) {
        TRY(get_buffer(session, record->src_memory, record->src_place, bytes,
            &run->src, err));
    }
    if (op->third) {
        TRY(get_buffer(session, record->src_memory, record->src_place, bytes,
            &run->third, err));
    }
    if (op->dst) {
        TRY(get_buffer(session, record->dst_memory, record->dst_place, bytes,
            &run->dst, err));
    }
    return NVBW_OK;
}

/* The node of what is read, or of what is written where nothing is. */
static void tell_node(struct cpu_flow *flow, const struct session *session)
{
    struct flow_run *const run = flow->run;
    const struct buffer *const buffer = run->src != NULL ? run->src : run->dst;
    char room[16];

    run->record.node_seen = arena_text(session->arena,
        host_memory_node_text(buffer->node_seen, room, sizeof room));
}

int32_t cpu_flow_make_room(struct cpu_flow *flow, const struct session *session,
    uint64_t copies, struct error *err)
{
    const uint64_t repeats = flow->run->given->repeats;
    uint64_t most = flow->step < SLICES_BYTES ? SLICES_BYTES / flow->step : 1;

    if (session->params.fixed || flow->background || flow->op == NULL) {
        most = 1;
    }
    flow->copies = repeats != 0 ? repeats : copies;
    flow->slices = flow->copies < most ? flow->copies : most;
    flow->run->record.copies = flow->copies;
    if (flow->slices <= flow->room) {
        return 0;
    }
    flow->room = 0;
    TRY(get_buffers(flow, session, flow->slices * flow->step, err));
    flow->room = flow->slices;
    flow->run->src_step = flow->step;
    flow->run->dst_step = flow->step;
    tell_node(flow, session);
    if (flow->op == NULL) {
        TRY(chase_build(
            (unsigned char *)flow->run->src->host + flow->run->given->offset,
            flow->bytes, flow->run->given->stride, CHASE_SEED, &flow->chase,
            err));
    }
    return 1;
}

void cpu_flow_release(struct cpu_flow *flow, const struct session *session)
{
    struct buffer **const slots[] = { &flow->run->src, &flow->run->third,
        &flow->run->dst };

    for (uint32_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        if (*slots[i] != NULL) {
            buffer_put(session->pool, *slots[i]);
            *slots[i] = NULL;
        }
    }
    flow->room = 0;
}

uint64_t cpu_flow_share_begin(const struct cpu_flow *flow, uint32_t member)
{
    if (member >= flow->members) {
        return flow->bytes;
    }
    return flow->bytes * member / flow->members / CPU_LINE_BYTES *
           CPU_LINE_BYTES;
}

static unsigned char *slice_at(
    const struct cpu_flow *flow, const struct buffer *buffer, uint64_t at)
{
    return buffer == NULL
               ? NULL
               : (unsigned char *)buffer->host + flow->run->given->offset + at;
}

struct cpu_share cpu_flow_share(
    const struct cpu_flow *flow, uint32_t member, uint64_t slice)
{
    const uint64_t begin = cpu_flow_share_begin(flow, member);
    const uint64_t at = slice * flow->step + begin;
    const uint64_t word = begin / sizeof(uint64_t);

    return (struct cpu_share){
        .src = slice_at(flow, flow->run->src, at),
        .third = slice_at(flow, flow->run->third, at),
        .dst = slice_at(flow, flow->run->dst, at),
        .bytes = cpu_flow_share_begin(flow, member + 1) - begin,
        .src_key = pattern_key_at(pattern_key(flow->key, slice, 1), word),
        .third_key = pattern_key_at(pattern_key(flow->key, slice, 2), word),
        .value = pattern_key(flow->key, slice, 3 + flow->sample) + word,
    };
}

void cpu_flow_fill_share(const struct cpu_flow *flow, struct cpu_share share)
{
    if (flow->op->src) {
        flow->op->fill(
            (unsigned char *)(uintptr_t)share.src, share.bytes, share.src_key);
    }
    if (flow->op->third) {
        flow->op->fill((unsigned char *)(uintptr_t)share.third, share.bytes,
            share.third_key);
    }
    if (flow->op->dst) {
        cpu_poison(share.dst, share.bytes);
    }
}

uint64_t cpu_flow_payload(const struct cpu_flow *flow)
{
    return flow->op == NULL ? (uint64_t)CPU_CHASE_STEPS * CHASE_LOAD_BYTES
                            : flow->op->payload * flow->bytes;
}

uint64_t cpu_flow_traffic(const struct cpu_flow *flow)
{
    return flow->op == NULL ? (uint64_t)CPU_CHASE_STEPS * CPU_LINE_BYTES
                            : flow->op->traffic * flow->bytes;
}

uint64_t cpu_flow_footprint(const struct cpu_flow *flow)
{
    if (flow->op == NULL) {
        return flow->bytes;
    }
    return (flow->op->src + flow->op->third + flow->op->dst) * flow->slices *
           flow->bytes;
}
