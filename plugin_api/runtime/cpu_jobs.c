/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_jobs.h"

#include "clock.h"

#include <stdatomic.h>

enum { BACKGROUND_CHUNKS = 32 };

static void fill(void *user, uint32_t index)
{
    const struct cpu_session *const cpu = user;
    const struct cpu_member *const member = &cpu->members[index];
    const struct cpu_flow *const flow = member->flow;

    for (uint64_t slice = 0; flow->op != NULL && slice < flow->slices;
         slice++) {
        cpu_flow_fill_share(flow, cpu_flow_share(flow, member->number, slice));
    }
}

static void poison(void *user, uint32_t index)
{
    const struct cpu_session *const cpu = user;
    const struct cpu_member *const member = &cpu->members[index];
    const struct cpu_flow *const flow = member->flow;

    if (flow->op == NULL || !flow->op->dst) {
        return;
    }
    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        const struct cpu_share share =
            cpu_flow_share(flow, member->number, slice);

        cpu_poison(share.dst, share.bytes);
    }
}

static void carry_out(struct cpu_member *member)
{
    struct cpu_flow *const flow = member->flow;
    uint64_t sum = 0;

    if (flow->op == NULL) {
        member->rank_from = flow->chase.at->rank;
        chase_walk(&flow->chase, flow->copies * CPU_CHASE_STEPS);
        return;
    }
    for (uint64_t copy = 0; copy < flow->copies; copy++) {
        const struct cpu_share share =
            cpu_flow_share(flow, member->number, copy % flow->slices);

        sum += flow->op->run(&share);
    }
    member->sum = sum;
}

static void run_counted(struct cpu_session *cpu, struct cpu_member *member)
{
    cpu_wait_for(&cpu->running, cpu->members_count - cpu->counted_count);
    member->start_ns = clock_machine_ns();
    atomic_fetch_add(&cpu->started, 1);
    carry_out(member);
    member->end_ns = clock_machine_ns();
    atomic_fetch_add(&cpu->finished, 1);
}

/* One chunk of a background member's share; returns its bytes. */
static uint64_t run_chunk(struct cpu_member *member, uint32_t chunk)
{
    struct cpu_flow *const flow = member->flow;

    if (flow->op == NULL) {
        chase_walk(&flow->chase, CPU_CHASE_STEPS);
        return cpu_flow_payload(flow);
    }
    struct cpu_share share = cpu_flow_share(flow, member->number, 0);
    const uint64_t lines = share.bytes / CPU_LINE_BYTES;
    const uint64_t begin = lines * chunk / BACKGROUND_CHUNKS * CPU_LINE_BYTES;
    const uint64_t end =
        chunk + 1 == BACKGROUND_CHUNKS
            ? share.bytes
            : lines * (chunk + 1) / BACKGROUND_CHUNKS * CPU_LINE_BYTES;

    share.src += flow->op->src ? begin : 0;
    share.third += flow->op->third ? begin : 0;
    share.dst += flow->op->dst ? begin : 0;
    share.value += begin / sizeof(uint64_t);
    share.bytes = end - begin;
    flow->op->run(&share);
    return share.bytes * flow->op->payload;
}

/* Goes round its share until the counted members are done, once at least.
 * Only whole chunks within the counted time count as progress. */
static void run_background(struct cpu_session *cpu, struct cpu_member *member)
{
    uint32_t chunk = 0;
    uint32_t rounds = 0;

    member->progress = 0;
    while (rounds == 0 || atomic_load(&cpu->finished) < cpu->counted_count) {
        const int within = atomic_load(&cpu->started) > 0;
        const uint64_t bytes = run_chunk(member, chunk);

        if (within && atomic_load(&cpu->finished) < cpu->counted_count) {
            member->progress += bytes;
        }
        if (rounds == 0 && chunk == 0) {
            atomic_fetch_add(&cpu->running, 1);
        }
        chunk = (chunk + 1) % BACKGROUND_CHUNKS;
        rounds += chunk == 0;
    }
}

static void work(void *user, uint32_t index)
{
    struct cpu_session *const cpu = user;
    struct cpu_member *const member = &cpu->members[index];

    if (member->flow->background) {
        run_background(cpu, member);
    } else {
        run_counted(cpu, member);
    }
}

static void note_fault(struct cpu_member *member, uint64_t faults,
    const struct pattern_fault *first, uint64_t begin)
{
    if (faults > 0 && member->faults == 0) {
        member->first = *first;
        member->first.offset += begin;
    }
    member->faults += faults;
}

static void check_chase(struct cpu_member *member)
{
    const struct chase *const chase = &member->flow->chase;
    const uint64_t steps = member->flow->copies * CPU_CHASE_STEPS;
    const struct pattern_fault fault = {
        .expected = (member->rank_from + steps) % chase->count,
        .actual = chase->at->rank,
    };

    note_fault(member, fault.expected != fault.actual, &fault, 0);
}

/* The sums of all copies, against those of the slices that they read. */
static void check_sum(struct cpu_member *member)
{
    const struct cpu_flow *const flow = member->flow;
    struct pattern_fault fault = { .actual = member->sum };

    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        const struct cpu_share share =
            cpu_flow_share(flow, member->number, slice);
        const uint64_t times =
            (flow->copies - slice + flow->slices - 1) / flow->slices;

        fault.expected += times * flow->op->sum(&share);
    }
    note_fault(member, fault.expected != fault.actual, &fault,
        cpu_flow_share_begin(flow, member->number));
}

static void check_destination(struct cpu_member *member)
{
    const struct cpu_flow *const flow = member->flow;
    const uint64_t begin = cpu_flow_share_begin(flow, member->number);

    for (uint64_t slice = 0; slice < flow->slices; slice++) {
        const struct cpu_share share =
            cpu_flow_share(flow, member->number, slice);
        struct pattern_fault first = { 0 };

        note_fault(member, flow->op->check(&share, &first), &first, begin);
    }
}

static void check(void *user, uint32_t index)
{
    const struct cpu_session *const cpu = user;
    struct cpu_member *const member = &cpu->members[index];
    const struct cpu_flow *const flow = member->flow;

    member->faults = 0;
    if (flow->op != NULL && flow->op->dst) {
        check_destination(member);
    } else if (flow->background) {
        return; /* only its progress counts */
    } else if (flow->op == NULL) {
        check_chase(member);
    } else {
        check_sum(member);
    }
}

void cpu_jobs_fill(struct cpu_session *cpu)
{
    cpu_team_run(cpu->team, fill, cpu);
}

void cpu_jobs_poison(struct cpu_session *cpu)
{
    cpu_team_run(cpu->team, poison, cpu);
}

void cpu_jobs_run(struct cpu_session *cpu)
{
    atomic_store(&cpu->running, 0);
    atomic_store(&cpu->started, 0);
    atomic_store(&cpu->finished, 0);
    cpu_team_run(cpu->team, work, cpu);
}

void cpu_jobs_check(struct cpu_session *cpu)
{
    cpu_team_run(cpu->team, check, cpu);
}
