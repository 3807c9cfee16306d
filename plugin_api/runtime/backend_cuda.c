/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Samples on GPUs: queue, open the gate, watch, read the clocks. */
#include <math.h>
#include <time.h>

#include "clock.h"
#include "cuda_session.h"
#include "flow.h"

#define CLOCK_GAP_NS    50e3 /* that is always forgiven */
#define CLOCK_GAP_RATIO 0.02
/* What events can tell apart. What takes less is taken to last that long. */
#define CLOCK_TICK_SECONDS 0.5e-6

enum { SLOWEST_BYTES_PER_NS = 1 };
#define NS_PER_S UINT64_C(1000000000)

static const uint64_t look_every_ns = UINT64_C(1) * 1000 * 1000 * 1000;
static const uint64_t sample_spare_ns = UINT64_C(10) * 1000 * 1000 * 1000;

static int32_t open_backend(struct session *session, struct error *err)
{
    struct cuda_session *const cuda =
        arena_alloc(session->arena, 1, sizeof *cuda);

    FAIL_IF(cuda == NULL, err, NVBW_E_SYSTEM, "no memory for a session");
    cuda->session = session;
    cuda->engine = session->engine;
    cuda->all_count = session->flows_count;
    cuda->peers = session->engine->setup.peers;
    cuda->flows =
        arena_alloc(session->arena, cuda->all_count, sizeof *cuda->flows);
    FAIL_IF(cuda->flows == NULL, err, NVBW_E_SYSTEM, "no memory for %u flows",
        cuda->all_count);
    session->state = cuda;

    const int32_t status =
        team_agree(cuda, "open", cuda_session_open(cuda, err), err);

    if (status < 0) {
        engine_note_poison(cuda->engine, status, err);
        cuda_session_close(cuda);
    }
    return status;
}

/* Until memory that was freed for this session is scrubbed. */
static void wait_for_quiet(const struct cuda_session *cuda)
{
    const struct facts *const facts = cuda->session->facts;

    for (uint32_t i = 0; i < facts->gpus_count && !facts->simulated; i++) {
        const uint64_t now_ns = clock_now_ns();
        const uint64_t quiet_ns = cuda->engine->gpus[i].quiet_ns;
        const uint64_t left_ns = quiet_ns > now_ns ? quiet_ns - now_ns : 0;
        const struct timespec left = { .tv_sec = (time_t)(left_ns / NS_PER_S),
            .tv_nsec = (long)(left_ns % NS_PER_S) };

        if (left_ns > 0) {
            nanosleep(&left, NULL);
        }
    }
}

static int32_t prepare_session(struct cuda_session *cuda, uint64_t copies,
    double background, struct error *err)
{
    TRY(slices_get(cuda, copies, background, err));
    wait_for_quiet(cuda);
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (cuda->flows[i].run->record.node_seen == NULL) {
            cuda_describe_node(cuda, cuda->flows[i].run);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = cuda_flow_at(cuda, i);

        if (flow->initiator->lay != NULL) {
            TRY(flow->initiator->lay(cuda, flow, err));
        }
    }
    return stream_plan_try(cuda, err);
}

static int32_t prepare_backend(struct session *session, uint64_t copies,
    double background, struct error *err)
{
    struct cuda_session *const cuda = session->state;
    const int32_t status = team_agree(
        cuda, "prepare", prepare_session(cuda, copies, background, err), err);

    engine_note_poison(cuda->engine, status, err);
    return status;
}

/* A moment as the host saw it, and the looks around that: it was not before the
 * one and not after the other. */
struct moment {
    uint64_t seen_ns; /* 0: not yet */
    uint64_t last_ns, next_ns;
};

/* What the host saw. */
struct watch {
    struct moment start, end;
};

static uint64_t longest_ns(const struct cuda_session *cuda)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < cuda->count; i++) {
        bytes += cuda->flows[i].copies * cuda->flows[i].run->record.bytes;
    }
    return sample_spare_ns + bytes / SLOWEST_BYTES_PER_NS;
}

static void see(
    struct moment *moment, uint32_t word, uint64_t last_ns, uint64_t now_ns)
{
    if (moment->seen_ns != 0 && moment->next_ns == 0) {
        moment->next_ns = now_ns;
    }
    if (moment->seen_ns == 0 && word != 0) {
        moment->last_ns = last_ns;
        moment->seen_ns = now_ns;
    }
}

int32_t cuda_hangs(const struct cuda_flow *flow, struct error *err)
{
    error_set(err, NVBW_E_CUDA,
        "GPU %d: a stream did not end in time; the GPU may hang, see dmesg "
        "for Xid lines",
        flow->gpu->facts->index);
    if (err != NULL) {
        err->code = CU_ERROR_TIMEOUT;
    }
    return NVBW_E_CUDA;
}

/* A stream that failed writes no more words. */
static int32_t look_for_errors(
    const struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        TRY(gpu_use(flow->gpu, err));

        const cu_result result = flow->gpu->api->stream_query(flow->stream);

        if (result != CU_ERROR_NOT_READY) {
            CUDA_TRY(flow->gpu->api, err, result, "GPU %d: a sample",
                flow->gpu->facts->index);
        }
    }
    return NVBW_OK;
}

/* Only words until the measured flows have ended, so that the host sees them
 * as soon as it can; then the driver is asked whether all streams are empty.
 * What takes long enough for a look or two not to matter is looked at. */
static int32_t watch_words(struct cuda_session *cuda, uint64_t begun_ns,
    uint64_t deadline_ns, struct watch *watch, struct error *err)
{
    const volatile uint32_t *const words = cuda->engine->words;
    uint64_t last_ns = begun_ns;
    uint64_t looked_ns = begun_ns;

    while (cuda->count > 0 && watch->end.next_ns == 0) {
        const uint64_t now_ns = clock_now_ns();

        /* In this order: a sample that has ended has started. */
        const uint32_t has_ended = words[WORD_END];
        const uint32_t has_started = words[WORD_START];

        see(&watch->start, has_started, last_ns, now_ns);
        see(&watch->end, has_ended, last_ns, now_ns);
        last_ns = now_ns;
        if (now_ns - looked_ns > look_every_ns) {
            TRY(look_for_errors(cuda, err));
            looked_ns = now_ns;
        }
        if (now_ns > deadline_ns) {
            return cuda_hangs(cuda->hub, err);
        }
    }
    return NVBW_OK;
}

static int32_t watch_streams(
    struct cuda_session *cuda, uint64_t deadline_ns, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];
        const uint64_t now_ns = clock_now_ns();
        const uint64_t left_ns =
            now_ns < deadline_ns ? deadline_ns - now_ns : 0;

        TRY(gpu_wait(flow->gpu, flow->stream, left_ns, "a sample", err));
    }
    return NVBW_OK;
}

int32_t cuda_elapsed(const struct cuda_flow *flow, struct CUevent_st *start,
    struct CUevent_st *end, double *out_seconds, struct error *err)
{
    float ms = 0.0f;

    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->event_elapsed(&ms, start, end),
        "GPU %d: events do not tell the time", flow->gpu->facts->index);
    FAIL_IF(!(ms >= 0.0f), err, NVBW_E_CUDA,
        "GPU %d: a sample ended before it began", flow->gpu->facts->index);
    *out_seconds = fmax((double)ms * 1e-3, CLOCK_TICK_SECONDS);
    return NVBW_OK;
}

static int32_t own_seconds(const struct cuda_session *cuda,
    const struct cuda_flow *flow, double *out, struct error *err)
{
    if (cuda->by_host) {
        *out = by_host_seconds(cuda, flow);
        return NVBW_OK;
    }
    return flow->initiator->seconds != NULL
               ? flow->initiator->seconds(flow, out, err)
               : cuda_elapsed(flow, flow->start, flow->end, out, err);
}

static int32_t seconds_of(const struct cuda_session *cuda,
    const struct cuda_flow *flow, double *out, struct error *err)
{
    if (cuda->peers != NULL) {
        *out = flow->seconds; /* shared already */
        return NVBW_OK;
    }
    return own_seconds(cuda, flow, out, err);
}

/* Bytes, or repeats where the figure is the time of one. A chain of loads has
 * no bytes to speak of: a total beside it is that of the others. */
double cuda_amount(const struct cuda_flow *flow, uint32_t unit)
{
    if (unit != NVBW_UNIT_NANOSECONDS &&
        flow->run->record.operation == NVBW_OP_CHASE) {
        return 0.0;
    }

    double each = unit == NVBW_UNIT_NANOSECONDS
                      ? 1.0
                      : (double)flow_counted_bytes(&flow->run->record);

    if (flow->initiator->amount != NULL) {
        each = flow->initiator->amount(flow);
    }
    return each * (double)flow->copies;
}

static double away_ns(const struct moment *moment)
{
    return (double)(moment->next_ns - moment->last_ns);
}

/* The ranks of a simulated machine wait for each other in real time while its
 * own goes on by leaps of whatever rank looks at it. */
static int has_one_clock(const struct cuda_session *cuda)
{
    return cuda->peers == NULL || !cuda->session->facts->simulated;
}

/* A host that lost its CPU at the start or at the end does not know how long
 * the sample took, which says nothing against the GPU's clock. */
static void judge_clock(const struct cuda_session *cuda,
    const struct watch *watch, double seconds, struct sample *sample)
{
    const double device_ns = seconds * 1e9;
    const double host_ns = (double)(watch->end.seen_ns - watch->start.seen_ns);
    const double forgiven_ns = fmax(CLOCK_GAP_NS, CLOCK_GAP_RATIO * device_ns);
    const double unseen_ns = away_ns(&watch->start) + away_ns(&watch->end);

    if (!cuda->gated || sample->state != SAMPLE_GOOD || !has_one_clock(cuda)) {
        return;
    }
    sample->clock_gap_ns = fabs(host_ns - device_ns);
    if (sample->clock_gap_ns <= forgiven_ns) {
        return;
    }
    sample->state = SAMPLE_CLOCK;
    if (unseen_ns > forgiven_ns) {
        sample->state = SAMPLE_UNWATCHED;
        sample->clock_gap_ns = unseen_ns;
    }
}

/* Flows of one cell each have their own time; a cell of several flows, and
 * the total, go from the first start to the last end. Where there are several
 * parts that is the longest of their flows, as all begin at one moment and
 * events of different contexts cannot be compared. */
static int32_t figure(struct cuda_session *cuda, uint32_t target,
    double background_bytes, struct sample *sample, struct error *err)
{
    const struct target *const what = &cuda->session->targets[target];
    struct sample_figure *const out = &sample->figures[target];
    const int in_parts = flow_parts(cuda->session->request) > 1;
    double longest = 0.0;
    uint32_t flows = 0;

    out->amount = what->is_total ? background_bytes : 0.0;
    out->seconds = sample->seconds;
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];
        const int forward = flow->run->cell == (int32_t)target;
        const int reverse = flow->run->reverse == (int32_t)target;
        const int split = flow->run->record.operation == NVBW_OP_SPLIT;

        if (flow->background ||
            !(forward || reverse || target_totals(what, flow->run))) {
            continue;
        }
        out->amount += cuda_amount(flow, what->unit) *
                       (split && !what->is_total ? 0.5 : 1.0);
        flows++;
        if (in_parts || !what->is_total) {
            double seconds = 0.0;

            TRY(seconds_of(cuda, flow, &seconds, err));
            longest = fmax(longest, seconds);
        }
    }
    if (in_parts || (flows == 1 && !what->is_total)) {
        out->seconds = longest;
    }
    if (what->is_total && cuda->peers != NULL) {
        team_total(cuda, target, out);
    }
    if (what->is_total) {
        cuda->coarse = cuda->step_bytes > COARSE_RATIO * out->amount;
    }
    if (what->is_total && what->unit == NVBW_UNIT_NANOSECONDS) {
        out->amount = 1.0;
    }
    return NVBW_OK;
}

/* What this process saw of the flows that it carried out. */
static int32_t read_own(struct cuda_session *cuda, const struct watch *watch,
    struct sample *sample, double *out_background_bytes, struct error *err)
{
    struct cuda_flow *const hub = cuda->hub;

    if (hub == NULL) {
        return NVBW_OK;
    }
    if (cuda->gated && gate_timed_out(cuda)) {
        sample->state = SAMPLE_GATE_TIMEOUT;
        return NVBW_OK;
    }
    TRY(gpu_use(hub->gpu, err));
    TRY(cuda_elapsed(hub, hub->start,
        cuda->last_end != NULL ? cuda->last_end : hub->end, &sample->seconds,
        err));
    if (cuda->by_host) {
        sample->seconds = by_host_seconds(cuda, NULL);
    }
    TRY(cover_judge(cuda, sample->seconds, sample, out_background_bytes, err));
    if (!cuda->session->request->any_order) {
        TRY(together_judge(cuda, sample, err));
    }
    if (!cuda->session->request->any_order && sample->state == SAMPLE_GOOD) {
        TRY(overlap_judge(cuda, sample, err));
    }
    judge_clock(cuda, watch, sample->seconds, sample);
    for (uint32_t i = 0; cuda->peers != NULL && i < cuda->count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        TRY(own_seconds(cuda, flow, &flow->seconds, err));
    }
    return NVBW_OK;
}

static int32_t read_sample(struct cuda_session *cuda, const struct watch *watch,
    struct sample *sample, struct error *err)
{
    double background_bytes = 0.0;

    TRY(read_own(cuda, watch, sample, &background_bytes, err));
    TRY(team_share_sample(cuda, sample, err));
    if (sample->state == SAMPLE_GATE_TIMEOUT) {
        return NVBW_OK;
    }
    cuda->seconds = sample->seconds;
    for (uint32_t i = 0; i < cuda->session->targets_count; i++) {
        TRY(figure(cuda, i, background_bytes, sample, err));
    }
    return NVBW_OK;
}

static int32_t begin_flows(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        if (flow->initiator->begin != NULL) {
            TRY(flow->initiator->begin(cuda, flow, err));
        }
    }
    return NVBW_OK;
}

/* 1 if how fast a load is alone is still to be measured, which it is before the
 * first sample. */
static int wants_full_rate(const struct cuda_session *cuda)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        if (flow_is_load(&flow->run->record) && !(flow->full_rate > 0.0)) {
            return 1;
        }
    }
    return 0;
}

/* Until all ranks have queued theirs. A load is alone when no rank fills its
 * memory any more. */
static int32_t queue_sample(struct cuda_session *cuda, struct error *err)
{
    TRY(contents_set(cuda, err));
    if (wants_full_rate(cuda)) {
        TRY(team_meet(cuda, "filled", err));
    }
    TRY(begin_flows(cuda, err));
    TRY(team_clear(cuda, err));
    TRY(stream_plan_queue(cuda, err));
    return team_meet(cuda, "queued", err);
}

static int32_t take_sample(
    struct cuda_session *cuda, struct sample *sample, struct error *err)
{
    struct watch watch = { 0 };

    cuda->session->epoch++;

    const int32_t queued = queue_sample(cuda, err);

    /* What was queued before the failure must not wait for the gate's own
     * timeout: whoever tidies up waits for it. */
    if (queued < 0) {
        gate_open(cuda);
        return queued;
    }

    const uint64_t begun_ns = clock_now_ns();
    const uint64_t deadline_ns = begun_ns + longest_ns(cuda);

    gate_open(cuda);
    TRY(team_opened(cuda, err));
    TRY(watch_words(cuda, begun_ns, deadline_ns, &watch, err));
    TRY(watch_streams(cuda, deadline_ns, err));
    return read_sample(cuda, &watch, sample, err);
}

static int32_t sample_backend(
    struct session *session, struct sample *out, struct error *err)
{
    struct cuda_session *const cuda = session->state;
    const int32_t status =
        team_agree(cuda, "sample", take_sample(cuda, out, err), err);

    engine_note_poison(cuda->engine, status, err);
    return status;
}

static int32_t compare_all(struct cuda_session *cuda, struct error *err)
{
    TRY(verify_counted(cuda, err));
    if (cuda->background_count > 0 && !cuda->background_verified) {
        TRY(verify_background(cuda, err));
        cuda->background_verified = 1;
    }
    return NVBW_OK;
}

static int32_t verify_backend(struct session *session, struct error *err)
{
    struct cuda_session *const cuda = session->state;
    const int32_t status =
        team_agree(cuda, "verify", team_verify(cuda, compare_all, err), err);

    engine_note_poison(cuda->engine, status, err);
    return status;
}

static void move_backend(struct session *session)
{
    slices_move(session->state);
}

static void close_backend(struct session *session)
{
    struct cuda_session *const cuda = session->state;

    cuda_describe_records(cuda);
    cuda_session_close(cuda);
}

const struct backend backend_cuda = {
    .name = "cuda",
    .clock = "events",
    .gated = 1,
    .open = open_backend,
    .prepare = prepare_backend,
    .sample = sample_backend,
    .verify = verify_backend,
    .move = move_backend,
    .close = close_backend,
};
