/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What is queued for one sample, stage by stage over all flows:
 *
 *   gate     all streams closed
 *   warm-up  a copy of its own slice; in fixed mode then fresh poison
 *   ready    each stream waits for the one before it, so the last one's event
 *            stands for all; then all wait for that
 *   running  background flows, chunk by chunk, each counted in a word
 *   start    the hub waits until every background flow runs and records the
 *            start; the others wait for that and record their own
 *   copies   counted flows, each recording its first copy (overlap.c) and
 *            its end
 *   end      the hub waits for all ends and records the last one; where there
 *            is a background it takes stock of it and records when
 *
 * The start and the end are also written to words that the host stamps. */
#include "cuda_session.h"

static const uint64_t try_limit_ns = UINT64_C(60) * 1000 * 1000 * 1000;

static int32_t write_word(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint32_t word, uint32_t value,
    struct error *err)
{
    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->stream_write_value(flow->stream,
            engine_word(cuda->engine, word), value, CU_WRITE_DEFAULT),
        "GPU %d: a stream cannot write a word", flow->gpu->facts->index);
    return NVBW_OK;
}

static int32_t wait_word(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint32_t word, uint32_t value,
    struct error *err)
{
    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->stream_wait_value(
            flow->stream, engine_word(cuda->engine, word), value, CU_WAIT_GEQ),
        "GPU %d: a stream cannot wait for a word", flow->gpu->facts->index);
    return NVBW_OK;
}

int32_t cuda_record_event(
    const struct cuda_flow *flow, struct CUevent_st *event, struct error *err)
{
    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->event_record(event, flow->stream),
        "GPU %d: an event was not recorded", flow->gpu->facts->index);
    return NVBW_OK;
}

static int32_t wait_event(
    const struct cuda_flow *flow, struct CUevent_st *event, struct error *err)
{
    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->stream_wait_event(flow->stream, event, 0),
        "GPU %d: a stream cannot wait for an event", flow->gpu->facts->index);
    return NVBW_OK;
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    return flow->initiator->enqueue(cuda, flow, first, count, err);
}

/* The one slice of fixed mode must not look right from the warm-up alone. */
static int32_t poison_again(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    (void)cuda;
    if (!flow->single || flow->apart || flow->background) {
        return NVBW_OK;
    }
    return contents_poison_again(flow, err);
}

static uint64_t warm_ups(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const struct measure_params *const params = &cuda->session->params;

    return params->fixed && !flow->background ? params->warmup : 1;
}

/* What has no room behind the gate beside the copies is run before it. */
static uint64_t warm_ups_ahead(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const uint64_t taken = flow->copies + OTHER_OPERATIONS + cuda->count;
    const uint64_t room =
        taken < STREAM_OPERATIONS ? STREAM_OPERATIONS - taken : 1;
    const uint64_t times = warm_ups(cuda, flow);

    return cuda->gated && times > room ? times - room : 0;
}

static int32_t warm_up(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t times, struct error *err)
{
    TRY(gpu_use(flow->gpu, err));
    for (uint64_t i = 0; i < times; i++) {
        TRY(enqueue(cuda, flow, COPY_WARM_UP, 1, err));
    }
    return NVBW_OK;
}

static int32_t warm_up_all(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        TRY(warm_up(cuda, flow,
            warm_ups(cuda, flow) - warm_ups_ahead(cuda, flow), err));
        TRY(poison_again(cuda, flow, err));
    }
    return NVBW_OK;
}

/* Before the gate closes, so that these have left the queues when it does. */
static int32_t warm_up_ahead(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];
        const uint64_t times = warm_ups_ahead(cuda, flow);

        if (times > 0) {
            TRY(warm_up(cuda, flow, times, err));
            TRY(gpu_wait(
                flow->gpu, flow->stream, try_limit_ns, "warming up", err));
        }
    }
    return NVBW_OK;
}

static int32_t get_ready(struct cuda_session *cuda, struct error *err)
{
    const struct cuda_flow *const last = &cuda->flows[cuda->count - 1];

    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        TRY(gpu_use(flow->gpu, err));
        if (i > 0) {
            TRY(wait_event(flow, cuda->flows[i - 1].ready, err));
        }
        TRY(cuda_record_event(flow, flow->ready, err));
    }
    for (uint32_t i = 0; i + 1 < cuda->count; i++) {
        TRY(gpu_use(cuda->flows[i].gpu, err));
        TRY(wait_event(&cuda->flows[i], last->ready, err));
    }
    return NVBW_OK;
}

static int32_t run_background(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    TRY(gpu_use(flow->gpu, err));
    for (uint64_t i = 0; i < flow->copies; i++) {
        TRY(enqueue(cuda, flow, i, 1, err));
        if (i == 0) {
            TRY(write_word(cuda, flow, WORD_RUNNING + flow->slot, 1, err));
        }
        TRY(write_word(
            cuda, flow, WORD_PROGRESS + flow->slot, (uint32_t)i + 1, err));
    }
    return write_word(cuda, flow, WORD_DONE + flow->slot, 1, err);
}

static int32_t start_hub(struct cuda_session *cuda, struct error *err)
{
    struct cuda_flow *const hub = cuda->hub;

    TRY(gpu_use(hub->gpu, err));
    for (uint32_t i = 0; i < cuda->count; i++) {
        if (cuda->flows[i].background) {
            TRY(wait_word(
                cuda, hub, WORD_RUNNING + cuda->flows[i].slot, 1, err));
        }
    }
    if (cuda->background_count > 0) {
        TRY(cover_snapshot(cuda, 0, err));
    }
    TRY(write_word(cuda, hub, WORD_START, 1, err));
    return cuda_record_event(hub, hub->start, err);
}

static int32_t start_others(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        if (flow->background || flow == cuda->hub) {
            continue;
        }
        TRY(gpu_use(flow->gpu, err));
        TRY(wait_event(flow, cuda->hub->start, err));
        TRY(cuda_record_event(flow, flow->start, err));
    }
    return NVBW_OK;
}

/* Copies from `from` on, at most `count`, and the events that come between
 * and after them. */
static int32_t copy_some(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t from, uint64_t count, struct error *err)
{
    const uint64_t left = from < flow->copies ? flow->copies - from : 0;
    uint64_t some = count < left ? count : left;

    if (flow->background || some == 0) {
        return NVBW_OK;
    }
    TRY(gpu_use(flow->gpu, err));
    if (from == 0 && overlap_has_pace(cuda, flow)) {
        TRY(enqueue(cuda, flow, from++, 1, err));
        TRY(cuda_record_event(flow, flow->first, err));
        some--;
    }
    if (some > 0) {
        TRY(enqueue(cuda, flow, from, some, err));
    }
    return from + some == flow->copies ? cuda_record_event(flow, flow->end, err)
                                       : NVBW_OK;
}

/* Without a gate copies begin while others are queued, and some block this
 * thread. More streams than the driver has connections for share them, and
 * what is queued on one connection starts in that order. Either way the flows
 * take turns, lest one is over before the next: so many rounds. */
static uint64_t count_rounds(const struct cuda_session *cuda)
{
    const int takes_turns =
        !cuda->gated ||
        cuda->counted_count > facts_connections(cuda->session->facts);
    uint64_t least = cuda->hub->copies;

    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        least =
            !flow->background && flow->copies < least ? flow->copies : least;
    }
    /* A flow alone is queued in one call, which a plugin's kernel counts on. */
    return takes_turns && cuda->counted_count > 1 && least > 0 ? least : 1;
}

/* A flow of more copies than others makes more of them in a round. */
static int32_t copy_counted(struct cuda_session *cuda, struct error *err)
{
    const uint64_t rounds = count_rounds(cuda);

    for (uint64_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < cuda->count; i++) {
            struct cuda_flow *const flow = &cuda->flows[i];
            const uint64_t from = flow->copies * round / rounds;
            const uint64_t to = flow->copies * (round + 1) / rounds;

            TRY(copy_some(cuda, flow, from, to - from, err));
        }
    }
    return NVBW_OK;
}

static int32_t end_hub(struct cuda_session *cuda, struct error *err)
{
    struct cuda_flow *const hub = cuda->hub;

    TRY(gpu_use(hub->gpu, err));
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        if (!flow->background && flow != hub) {
            TRY(wait_event(hub, flow->end, err));
        }
    }
    if (cuda->counted_count > 1) {
        TRY(cuda_record_event(hub, cuda->last_end, err));
    }
    TRY(write_word(cuda, hub, WORD_END, 1, err));
    if (cuda->background_count == 0) {
        return NVBW_OK;
    }
    TRY(cover_snapshot(cuda, 1, err));
    return cuda_record_event(hub, cuda->covered, err);
}

int32_t stream_plan_queue(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t word = 0; word < WORDS; word++) {
        cuda->engine->words[word] = 0;
    }
    if (cuda->count == 0) {
        return team_queue(cuda, err);
    }
    TRY(warm_up_ahead(cuda, err));
    TRY(team_queue(cuda, err));
    if (cuda->gated) {
        TRY(gate_close(cuda, err));
    }
    TRY(warm_up_all(cuda, err));
    TRY(get_ready(cuda, err));
    for (uint32_t i = 0; i < cuda->count; i++) {
        if (cuda->flows[i].background) {
            TRY(run_background(cuda, &cuda->flows[i], err));
        }
    }
    TRY(start_hub(cuda, err));
    TRY(start_others(cuda, err));
    TRY(by_host_begin(cuda, err));
    TRY(copy_counted(cuda, err));
    TRY(by_host_end(cuda, err));
    return end_hub(cuda, err);
}

static int32_t try_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    TRY(gpu_use(flow->gpu, err));
    TRY(enqueue(cuda, flow, COPY_WARM_UP, 1, err));
    TRY(poison_again(cuda, flow, err));
    TRY(write_word(cuda, flow, WORD_RUNNING + flow->slot, 1, err));
    TRY(wait_word(cuda, flow, WORD_RUNNING + flow->slot, 0, err));
    TRY(cuda_record_event(flow, flow->ready, err));
    TRY(cuda_record_event(flow, flow->start, err));
    return cuda_record_event(flow, flow->end, err);
}

int32_t stream_plan_try(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        TRY(try_flow(cuda, &cuda->flows[i], err));
    }
    if (cuda->background_count > 0 && cuda->hub != NULL) {
        TRY(gpu_use(cuda->hub->gpu, err));
        TRY(cover_snapshot(cuda, 0, err));
    }
    for (uint32_t i = 0; i < cuda->count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];

        TRY(gpu_wait(
            flow->gpu, flow->stream, try_limit_ns, "a first copy", err));
    }
    return NVBW_OK;
}
