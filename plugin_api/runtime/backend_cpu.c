/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The backend of flows that threads carry out, timed by the host's clock: one
 * team for all flows of the session, so that they begin together. A flow's
 * time is from its first member's start to its last member's end.
 *
 * Background flows begin first and go on until the last counted member has
 * ended, so they always cover it. */
#include "session.h"

#include "cpu_jobs.h"

#include <stdlib.h>

enum { CACHE_TIMES = 4, TEAM_MOST = AFFINITY_CPUS, SERIAL_JUDGED_NS = 4000000 };

static struct cpu_session *state_of(const struct session *session)
{
    return session->state;
}

static int32_t init_flows(struct cpu_session *cpu, struct error *err)
{
    struct session *const session = cpu->session;

    for (uint32_t i = 0; i < session->flows_count; i++) {
        struct cpu_flow *const flow = &cpu->flows[i];

        TRY(cpu_flow_init(flow, &session->flows[i], session, err));
        flow->key = pattern_key(session->params.seed, session->epoch, i);
    }
    return NVBW_OK;
}

static void enlist(struct cpu_session *cpu, struct cpu_flow *flow)
{
    flow->first = cpu->members_count;
    for (uint32_t i = 0; i < flow->members; i++) {
        struct cpu_member *const member = &cpu->members[cpu->members_count++];

        member->flow = flow;
        member->number = i;
        cpu->counted_count += !flow->background;
    }
}

static int32_t open_team(struct cpu_session *cpu, struct error *err)
{
    struct cpu_mask *const masks = calloc(TEAM_MOST, sizeof *masks);

    FAIL_IF(masks == NULL, err, NVBW_E_SYSTEM, "no memory for a team");
    for (uint32_t i = 0; i < cpu->session->flows_count; i++) {
        cpu_flow_deal(cpu->flows, i, cpu->session, masks + cpu->members_count,
            TEAM_MOST - cpu->members_count);
        enlist(cpu, &cpu->flows[i]);
    }
    const uint32_t last = cpu->session->flows_count - 1;
    int32_t status = NVBW_OK;

    if (cpu->flows[last].members == 0) {
        status = error_set(err, NVBW_E_INVALID,
            "flows by CPU with more than %d threads together: use a smaller "
            "`threads`",
            TEAM_MOST);
    } else {
        status = cpu_team_open(masks, cpu->members_count, &cpu->team, err);
    }
    free(masks);
    return status;
}

static int32_t backend_open(struct session *session, struct error *err)
{
    struct arena *const arena = session->arena;
    struct cpu_session *const cpu = arena_alloc(arena, 1, sizeof *cpu);

    FAIL_IF(cpu == NULL, err, NVBW_E_SYSTEM, "no memory for a session");
    cpu->session = session;
    cpu->flows = arena_alloc(arena, session->flows_count, sizeof *cpu->flows);
    FAIL_IF(cpu->flows == NULL, err, NVBW_E_SYSTEM, "no memory for flows");
    TRY(init_flows(cpu, err));
    cpu->members = calloc(TEAM_MOST, sizeof *cpu->members);
    FAIL_IF(cpu->members == NULL, err, NVBW_E_SYSTEM,
        "no memory for the members of a team");
    const int32_t status = open_team(cpu, err);

    if (status < 0) {
        free(cpu->members);
        return status;
    }
    session->state = cpu;
    session->copies_least = 1;
    session->copies_limit = 100000;
    return NVBW_OK;
}

/* Pages are there already; what is left to warm up are caches and clocks. */
static void warm_up(struct cpu_session *cpu, uint64_t copies)
{
    uint64_t kept[64];
    const uint32_t count = cpu->session->flows_count;

    if (copies == 0 || count > sizeof kept / sizeof kept[0]) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = cpu->flows[i].copies;
        cpu->flows[i].copies = copies;
    }
    cpu_jobs_run(cpu);
    for (uint32_t i = 0; i < count; i++) {
        cpu->flows[i].copies = kept[i];
    }
}

static int32_t backend_prepare(struct session *session, uint64_t copies,
    double background, struct error *err)
{
    struct cpu_session *const cpu = state_of(session);
    int32_t fresh = 0;

    (void)background; /* it always lasts as long as it must */
    for (uint32_t i = 0; i < session->flows_count; i++) {
        const int32_t status =
            cpu_flow_make_room(&cpu->flows[i], session, copies, err);

        TRY(status);
        fresh |= status;
    }
    if (fresh) {
        cpu_jobs_fill(cpu);
        warm_up(cpu, session->params.warmup);
    }
    return NVBW_OK;
}

/* Of the members of one flow or, with flow NULL, of all counted ones. */
struct span {
    uint64_t first_start, last_end;
};

static struct span span_of(
    const struct cpu_session *cpu, const struct cpu_flow *flow)
{
    struct span span = { UINT64_MAX, 0 };

    for (uint32_t i = 0; i < cpu->members_count; i++) {
        const struct cpu_member *const m = &cpu->members[i];

        if (m->flow->background || (flow != NULL && m->flow != flow)) {
            continue;
        }
        if (m->start_ns < span.first_start) {
            span.first_start = m->start_ns;
        }
        span.last_end = m->end_ns > span.last_end ? m->end_ns : span.last_end;
    }
    return span;
}

static double seconds_of(const struct span *span)
{
    return span->last_end > span->first_start
               ? (double)(span->last_end - span->first_start) * 1e-9
               : 1e-9;
}

static double progress_of(
    const struct cpu_session *cpu, const struct cpu_flow *flow)
{
    double bytes = 0;

    for (uint32_t i = 0; i < flow->members; i++) {
        bytes += (double)cpu->members[flow->first + i].progress;
    }
    return bytes;
}

/* Bytes, or for a figure in nanoseconds: copies, or loads of a chase. */
static double amount_of(const struct cpu_session *cpu,
    const struct cpu_flow *flow, const struct target *target)
{
    if (target->unit == NVBW_UNIT_NANOSECONDS) {
        return (double)flow->copies *
               (flow->op == NULL ? (double)CPU_CHASE_STEPS : 1.0);
    }
    return flow->background
               ? progress_of(cpu, flow)
               : (double)flow->copies * (double)cpu_flow_payload(flow);
}

static int belongs(
    const struct session *session, const struct cpu_flow *flow, uint32_t target)
{
    return target_totals(&session->targets[target], flow->run) ||
           flow->run->cell == (int32_t)target;
}

/* A total in nanoseconds is the time from first start to last end. */
static void sum_up(
    const struct cpu_session *cpu, uint32_t target, struct sample_figure *out)
{
    const struct session *const session = cpu->session;
    const struct target *const wanted = &session->targets[target];
    struct span span = span_of(cpu, NULL);

    out->amount = 0;
    if (wanted->is_total && wanted->unit == NVBW_UNIT_NANOSECONDS) {
        *out = (struct sample_figure){ seconds_of(&span), 1.0 };
        return;
    }
    for (uint32_t i = 0; i < session->flows_count; i++) {
        const struct cpu_flow *const flow = &cpu->flows[i];

        if (!belongs(session, flow, target)) {
            continue;
        }
        out->amount += amount_of(cpu, flow, wanted);
        if (!wanted->is_total && !flow->background) {
            span = span_of(cpu, flow);
        }
    }
    out->seconds = seconds_of(&span);
}

/* Whether a counted flow began only when another had ended. A thread that the
 * system holds up for a moment can do that to a sample of microseconds, so
 * only samples of the length that counts are judged. */
static int is_serialised(const struct cpu_session *cpu)
{
    const struct span all = span_of(cpu, NULL);
    uint64_t last_start = 0;
    uint64_t first_end = UINT64_MAX;

    for (uint32_t i = 0; i < cpu->session->flows_count; i++) {
        const struct cpu_flow *const flow = &cpu->flows[i];
        const struct span span = span_of(cpu, flow);

        if (flow->background) {
            continue;
        }
        if (span.first_start > last_start) {
            last_start = span.first_start;
        }
        first_end = span.last_end < first_end ? span.last_end : first_end;
    }
    return last_start >= first_end &&
           all.last_end - all.first_start >= SERIAL_JUDGED_NS;
}

static int32_t backend_sample(
    struct session *session, struct sample *out, struct error *err)
{
    struct cpu_session *const cpu = state_of(session);

    (void)err;
    for (uint32_t i = 0; i < session->flows_count; i++) {
        cpu->flows[i].sample++;
    }
    if (session->params.verify) {
        cpu_jobs_poison(cpu);
    }
    cpu_jobs_run(cpu);
    const struct span span = span_of(cpu, NULL);

    out->state = is_serialised(cpu) ? SAMPLE_SERIALISED : SAMPLE_GOOD;
    out->seconds = seconds_of(&span);
    for (uint32_t i = 0; i < session->targets_count; i++) {
        sum_up(cpu, i, &out->figures[i]);
    }
    return NVBW_OK;
}

/* How a flow is verified, and how much of a sample. */
static const char *verified_how(
    const struct cpu_flow *flow, uint64_t *out_bytes)
{
    const uint64_t each = cpu_flow_payload(flow);

    *out_bytes = flow->copies * each;
    if (flow->op == NULL) {
        return "all";
    }
    if (!flow->op->dst) {
        return "sum";
    }
    *out_bytes = flow->slices * each;
    return flow->slices < flow->copies ? "last copy" : "all";
}

static void note_verified(const struct cpu_session *cpu,
    const struct cpu_flow *flow, struct record *record)
{
    uint64_t bytes;

    if (!flow->background) {
        record->verified = verified_how(flow, &bytes);
        record->verified_bytes += bytes;
    }
    for (uint32_t i = 0; i < flow->members; i++) {
        const struct cpu_member *const member = &cpu->members[flow->first + i];

        if (member->faults > 0 && record->mismatches == 0) {
            record->mismatch_offset = member->first.offset;
            record->mismatch_expected = member->first.expected;
            record->mismatch_actual = member->first.actual;
        }
        record->mismatches += member->faults;
    }
}

/* Wrong background data spoils every cell that it ran beside. */
static int concerns(
    const struct session *session, const struct cpu_flow *flow, uint32_t target)
{
    return flow->background || belongs(session, flow, target);
}

static int32_t backend_verify(struct session *session, struct error *err)
{
    struct cpu_session *const cpu = state_of(session);

    (void)err;
    cpu_jobs_check(cpu);
    for (uint32_t t = 0; t < session->targets_count; t++) {
        for (uint32_t i = 0; i < session->flows_count; i++) {
            if (concerns(session, &cpu->flows[i], t)) {
                note_verified(cpu, &cpu->flows[i], session->targets[t].record);
            }
        }
    }
    return NVBW_OK;
}

static uint64_t cache_of(
    const struct session *session, const struct cpu_flow *flow)
{
    return session->facts->nodes[flow->run->record.executor].cache_bytes;
}

/* The flow's own words on its measurement; a total takes the first flow's
 * and adds up what can be added. */
static void describe(
    struct session *session, const struct cpu_flow *flow, struct record *record)
{
    const uint64_t cache = cache_of(session, flow);

    if (record->copies == 0 || record->footprint_bytes == 0) {
        record->copies = flow->copies;
        record->copy_bytes = flow->bytes;
        record->warmup = session->params.warmup;
    }
    record->footprint_bytes += cpu_flow_footprint(flow);
    if (cpu_flow_traffic(flow) != cpu_flow_payload(flow)) {
        record->traffic_bytes += flow->copies * cpu_flow_traffic(flow);
    }
    if (!session->params.verify) {
        record->verified = "off";
    }
    if (cache == 0) {
        settle_flag(session->arena, record, "cache_unknown");
        return;
    }
    record->footprint_over_cache =
        (double)record->footprint_bytes / (double)cache;
    if (cpu_flow_footprint(flow) / CACHE_TIMES < cache) {
        settle_flag(session->arena, record, "cache_bound");
    }
}

static void backend_close(struct session *session)
{
    struct cpu_session *const cpu = state_of(session);

    for (uint32_t t = 0; t < session->targets_count; t++) {
        for (uint32_t i = 0; i < session->flows_count; i++) {
            const struct cpu_flow *const flow = &cpu->flows[i];

            if (flow->room > 0 && belongs(session, flow, t)) {
                describe(session, flow, session->targets[t].record);
            }
        }
    }
    cpu_team_close(cpu->team);
    free(cpu->members);
    for (uint32_t i = 0; i < session->flows_count; i++) {
        cpu_flow_release(&cpu->flows[i], session);
    }
    session->state = NULL;
}

const struct backend backend_cpu = {
    .name = "cpu",
    .clock = "host",
    .gated = 0,
    .open = backend_open,
    .prepare = backend_prepare,
    .sample = backend_sample,
    .verify = backend_verify,
    .close = backend_close,
};
