/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a session on GPUs needs beside buffers: initiators, access to peers,
 * streams and events. */
#include "copy_size.h"
#include "cuda_session.h"
#include "flow.h"
#include "peers.h"
#include "state.h"

static int32_t not_built(const struct flow_record *record, struct error *err)
{
    const char *const by = name_of(initiator_names, record->initiator);
    const char *const what = name_of(operation_names, record->operation);

    error_set(err, NVBW_E_SKIPPED, "this build has no %s by initiator %s",
        what != NULL ? what : "such operation", by != NULL ? by : "unknown");
    if (err != NULL) {
        err->code = NVBW_SKIP_NOT_BUILT;
    }
    return NVBW_E_SKIPPED;
}

static const struct initiator *initiator_of(const struct flow_record *record)
{
    const int is_chase = record->operation == NVBW_OP_CHASE &&
                         record->initiator != NVBW_BY_PLUGIN;

    if (record->initiator >= INITIATORS_END) {
        return NULL;
    }
    if (flow_is_access(record)) {
        return &accesser_sm;
    }
    if (flow_is_load(record)) {
        return &loader_sm;
    }
    if (flow_is_stream(record)) {
        return &streamer_sm;
    }
    return (is_chase ? chasers : initiators)[record->initiator];
}

static int32_t find_initiator(struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;
    const struct initiator *const found = initiator_of(record);

    if (found == NULL || (found->operations & (1u << record->operation)) == 0) {
        return not_built(record, err);
    }
    flow->initiator = found;
    return NVBW_OK;
}

static int is_staged(const struct cuda_flow *flow)
{
    return (flow->run->record.flags & NVBW_FLOW_STAGED) != 0;
}

/* A staged flow leaves access off both ways, since the driver may use the
 * engine of either GPU. */
static int32_t open_peer(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint32_t memory, int32_t place,
    struct error *err)
{
    struct engine *const engine = cuda->engine;
    const uint32_t gpus = engine->facts->gpus_count;
    const int enabled = !is_staged(flow);

    if (memory != NVBW_MEM_DEVICE || place < 0) {
        return NVBW_OK;
    }

    struct gpu *const peer = &engine->gpus[place];

    TRY(gpu_set_peer(flow->gpu, peer, gpus, enabled, err));
    return enabled ? gpu_prove_peer(flow->gpu, peer, err)
                   : gpu_set_peer(peer, flow->gpu, gpus, 0, err);
}

static int32_t make_event(const struct cuda_flow *flow, unsigned int flags,
    struct CUevent_st **out, struct error *err)
{
    CUDA_TRY(flow->gpu->api, err, flow->gpu->api->event_create(out, flags),
        "GPU %d: no event", flow->gpu->facts->index);
    return NVBW_OK;
}

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;

    FAIL_IF(!flow->initiator->own_slices && record->repeats > COPIES_MOST, err,
        NVBW_E_INVALID,
        "a flow asks for %llu copies a sample, at most %d can be queued",
        (unsigned long long)record->repeats, COPIES_MOST);
    TRY(engine_gpu(cuda->engine, record->executor, &flow->gpu, err));
    flow->opened = 1;
    TRY(open_peer(cuda, flow, record->src_memory, record->src_place, err));
    TRY(open_peer(cuda, flow, record->dst_memory, record->dst_place, err));
    TRY(gpu_use(flow->gpu, err));
    if ((record->flags & (NVBW_FLOW_DEFAULT_STREAM | NVBW_FLOW_SYNC)) == 0) {
        CUDA_TRY(flow->gpu->api, err,
            flow->gpu->api->stream_create(
                &flow->stream, CU_STREAM_IS_NON_BLOCKING),
            "GPU %d: no stream", flow->gpu->facts->index);
    }
    TRY(make_event(flow, CU_EVENT_HAS_NO_TIMING, &flow->ready, err));
    TRY(make_event(flow, CU_EVENT_IS_DEFAULT, &flow->start, err));
    TRY(make_event(flow, CU_EVENT_IS_DEFAULT, &flow->end, err));
    TRY(make_event(flow, CU_EVENT_IS_DEFAULT, &flow->first, err));
    return flow->initiator->open != NULL
               ? flow->initiator->open(cuda, flow, err)
               : NVBW_OK;
}

/* Copies that the driver stages may block the thread that queues them, so
 * they are not gated either. */
static void list_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, uint32_t number)
{
    struct session *const session = cuda->session;
    const struct flow_record *const record = &session->flows[number].record;

    flow->run = &session->flows[number];
    flow->run->state = flow;
    flow->number = number;
    flow->gpu = &cuda->engine->gpus[record->executor];
    flow->background = (record->flags & NVBW_FLOW_BACKGROUND) != 0;
    cuda->background_count += flow->background;
    cuda->by_host = cuda->by_host || by_host_is_flow(record);
    cuda->gated = cuda->gated && !is_staged(flow) && !cuda->by_host;
}

static void count_flow(struct cuda_session *cuda, struct cuda_flow *flow)
{
    flow->slot = cuda->count++;
    if (!flow->background) {
        cuda->hub = cuda->hub != NULL ? cuda->hub : flow;
        cuda->counted_count++;
    }
}

static int is_ours(const struct cuda_session *cuda, uint32_t number)
{
    const int32_t executor = cuda->session->flows[number].record.executor;

    return cuda->peers == NULL || (int32_t)cuda->peers->rank == executor;
}

/* Ours first, then those of other ranks. */
static void list_flows(struct cuda_session *cuda)
{
    uint32_t at = 0;

    cuda->gated = cuda->session->params.gate;
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (is_ours(cuda, i)) {
            list_flow(cuda, &cuda->flows[at], i);
            count_flow(cuda, &cuda->flows[at++]);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (!is_ours(cuda, i)) {
            list_flow(cuda, &cuda->flows[at++], i);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count && cuda->lead == NULL; i++) {
        struct cuda_flow *const flow = cuda_flow_at(cuda, i);

        cuda->lead = flow->background ? NULL : flow;
    }
}

/* Flows that queue on one GPU's streams, at most; other ranks' have queues of
 * their own. */
static uint32_t count_busiest(const struct cuda_session *cuda)
{
    uint32_t most = 0;

    for (uint32_t i = 0; cuda->peers != NULL && i < cuda->all_count; i++) {
        uint32_t beside = 0;

        for (uint32_t k = 0; k < cuda->all_count; k++) {
            beside += cuda->flows[k].gpu == cuda->flows[i].gpu;
        }
        most = beside > most ? beside : most;
    }
    return cuda->peers != NULL ? most : cuda->all_count;
}

static int32_t check_flows(const struct cuda_session *cuda, struct error *err)
{
    FAIL_IF(cuda->count > WORD_FLOWS, err, NVBW_E_INVALID,
        "%u flows at once, at most %d are possible", cuda->count, WORD_FLOWS);
    FAIL_IF(count_busiest(cuda) > WORD_FLOWS - OTHER_OPERATIONS &&
                cuda->peers != NULL,
        err, NVBW_E_INVALID,
        "%u flows at once on one rank, at most %d are "
        "possible",
        count_busiest(cuda), WORD_FLOWS - OTHER_OPERATIONS);
    FAIL_IF(cuda->lead == NULL, err, NVBW_E_INVALID,
        "a measurement has background flows only");
    FAIL_IF(cuda->background_count > 0 && !cuda->gated &&
                (cuda->session->params.gate || cuda->by_host),
        err, NVBW_E_INVALID,
        "flows that are staged or timed by the host, as those of pageable and "
        "managed memory are, cannot have background flows: their copies block "
        "the thread that queues them");
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        FAIL_IF(cuda->all_count > 1 &&
                    (cuda->flows[i].run->record.flags & NVBW_FLOW_SYNC) != 0,
            err, NVBW_E_INVALID,
            "blocking calls come one after another, so a flow of them is "
            "measured alone");
    }
    return NVBW_OK;
}

static void close_flow(struct cuda_session *cuda, struct cuda_flow *flow)
{
    if (!flow->opened || gpu_use(flow->gpu, NULL) < 0) {
        return;
    }
    if (flow->initiator->close != NULL) {
        flow->initiator->close(cuda, flow);
    }

    const struct cuda_api *const api = flow->gpu->api;
    struct CUevent_st *const events[] = { flow->ready, flow->start, flow->first,
        flow->end };

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i] != NULL) {
            api->event_destroy(events[i]);
        }
    }
    if (flow->stream != NULL) {
        api->stream_destroy(flow->stream);
    }
}

static void close_event(
    const struct cuda_session *cuda, struct CUevent_st *event)
{
    if (event != NULL && gpu_use(cuda->hub->gpu, NULL) == NVBW_OK) {
        cuda->hub->gpu->api->event_destroy(event);
    }
}

static void flag_missed(const struct cuda_session *cuda)
{
    for (uint32_t i = 0; i < cuda->session->targets_count; i++) {
        const struct target *const target = &cuda->session->targets[i];

        if (target->units_missed > 0) {
            settle_flag(cuda->session->arena, target->record, "sms_missed");
        }
    }
}

void cuda_session_close(struct cuda_session *cuda)
{
    by_host_close(cuda);
    if (cuda->engine->poisoned) {
        return;
    }
    flag_missed(cuda);
    slices_put(cuda);
    team_close(cuda);
    close_event(cuda, cuda->last_end);
    close_event(cuda, cuda->covered);
    for (uint32_t i = 0; i < cuda->count; i++) {
        close_flow(cuda, &cuda->flows[i]);
    }
}

static int32_t open_hub(struct cuda_session *cuda, struct error *err)
{
    if (cuda->hub == NULL) {
        return NVBW_OK;
    }
    TRY(gpu_use(cuda->hub->gpu, err));
    if (cuda->counted_count > 1) {
        TRY(make_event(cuda->hub, CU_EVENT_IS_DEFAULT, &cuda->last_end, err));
    }
    return cuda->background_count > 0
               ? make_event(cuda->hub, CU_EVENT_IS_DEFAULT, &cuda->covered, err)
               : NVBW_OK;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* Copies of a sample at least: more where flows show by their pace that they
 * run together, and where a kernel takes all slices at once. */
static uint64_t count_least(const struct cuda_session *cuda)
{
    const struct facts *const facts = cuda->session->facts;
    const struct flow_record *const record = &cuda->lead->run->record;
    uint64_t least = copy_count_least(facts, record);

    if (cuda->all_count > 1 + cuda->background_count) {
        least = larger(least, COPIES_PACED);
    }
    return cuda->lead->initiator->own_slices
               ? larger(least, copy_slices_least(facts, record))
               : least;
}

int32_t cuda_session_open(struct cuda_session *cuda, struct error *err)
{
    struct session *const session = cuda->session;

    list_flows(cuda);
    TRY(check_flows(cuda, err));
    TRY(by_host_open(cuda, err));
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        TRY(find_initiator(&cuda->flows[i], err));
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        if (flow->initiator->plan != NULL) {
            TRY(flow->initiator->plan(cuda, flow, err));
        }
    }
    for (uint32_t i = 0; i < cuda->count; i++) {
        TRY(open_flow(cuda, &cuda->flows[i], err));
    }
    TRY(open_hub(cuda, err));
    TRY(team_open(cuda, err));
    session->copies_least = count_least(cuda);
    session->copies_limit =
        STREAM_OPERATIONS - OTHER_OPERATIONS - count_busiest(cuda);
    session->copies_limit = session->copies_limit < COPIES_MOST
                                ? session->copies_limit
                                : COPIES_MOST;
    session->copies_limit = copy_count_most(
        session->facts, &cuda->lead->run->record, session->copies_limit);
    if (cuda->lead->initiator->bounds != NULL) {
        cuda->lead->initiator->bounds(
            cuda, cuda->lead, &session->copies_least, &session->copies_limit);
    }
    session->copies_least = session->copies_least < session->copies_limit
                                ? session->copies_least
                                : session->copies_limit;
    return NVBW_OK;
}
