/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "copy_size.h"
#include "cuda_session.h"
#include "flow.h"
#include "sm_flow.h"

enum {
    SLICE_ALIGNMENT = 64 << 10,
    CHUNK_BYTES = 16 << 20,
    CHUNK_LEAST = 256 << 10, /* smaller ones are over before they are made */
    /* Fewer slices of large chunks outrun caches too. */
    LOAD_LARGE = 64 << 20,
    LOAD_SLICES_LARGE = 4,
    WARM_UP_BYTES = 32 << 20
};
/* Slices beyond those of a sample, for a sample to begin at: so many
 * placements more. */
enum { SPARE_SLICES = 2 };

/* Background is queued for a little longer than the measured flows take. */
#define BACKGROUND_SPARE   1.25
#define BACKGROUND_UNKNOWN 1.5

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

void slices_chunks(uint64_t bytes, uint64_t *out_count, uint64_t *out_bytes)
{
    uint64_t count = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;

    count = count < CHUNKS_LEAST ? CHUNKS_LEAST : count;
    count = count > CHUNKS_MOST ? CHUNKS_MOST : count;
    *out_count = count;
    *out_bytes = round_up((bytes + count - 1) / count, 4096);
    *out_bytes = *out_bytes < CHUNK_LEAST ? CHUNK_LEAST : *out_bytes;
}

static uint64_t counted_bytes(const struct cuda_flow *flow)
{
    return flow->run->record.bytes * flow->copies;
}

/* What the background has to move to outlast the hub. Its rate is known from
 * the sample before; without one it is taken to be the hub's. */
static double wanted_bytes(const struct cuda_session *cuda,
    const struct cuda_flow *flow, double factor)
{
    const double hub_bytes = (double)counted_bytes(cuda->lead);

    if (flow->rate > 0.0 && cuda->seconds > 0.0) {
        return flow->rate * cuda->queued_seconds * BACKGROUND_SPARE * factor;
    }
    return hub_bytes * BACKGROUND_UNKNOWN * factor;
}

/* How long the hub may wait for the first copies of all background flows. */
static double lead_seconds(const struct cuda_session *cuda)
{
    double lead = 0.0;

    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct cuda_flow *const flow = &cuda->flows[i];
        const double bytes = (double)flow->run->record.bytes;

        if (flow->background && flow->rate > 0.0 && bytes / flow->rate > lead) {
            lead = bytes / flow->rate;
        }
    }
    return lead;
}

/* Comparison plans interfere as nvbandwidth does: by whole copies of twice
 * the measured size. Where a sample has shown that these end too early, as
 * many as its rates ask for; where none of them ended while it lasted, halves
 * of them. */
static void size_fixed(
    const struct cuda_session *cuda, struct cuda_flow *flow, double factor)
{
    struct flow_record *const record = &flow->run->record;
    const double usual = (double)cuda->lead->copies * 0.625 * factor;
    double copies = usual;

    if (cuda->seconds <= 0.0) {
        record->bytes = 2 * cuda->lead->run->record.bytes;
    } else if (flow->rate > 0.0) {
        const double moved = wanted_bytes(cuda, flow, factor) +
                             flow->rate * lead_seconds(cuda) * BACKGROUND_SPARE;

        copies = fmax(usual, ceil(moved / (double)record->bytes));
    } else if (flow->ended) {
        copies = 4.0 * (double)flow->copies;
    } else if (record->bytes >= (uint64_t)2 * SLICE_ALIGNMENT) {
        record->bytes /= 2;
    }
    flow->copies = (uint64_t)fmin(copies + 2.0, CHUNKS_MOST);
    flow->slices = 1;
    flow->single = 1;
}

/* A load's rate is known once it was measured; before, a sample of short ones
 * tells how long the measured flow takes, and is not covered. As many chunks as
 * can be queued, since what it moved is counted in chunks. */
static void size_load(
    const struct cuda_session *cuda, struct cuda_flow *flow, double factor)
{
    const double wanted =
        sm_load_rate(flow) * cuda->queued_seconds * BACKGROUND_SPARE * factor;
    const double count =
        fmin(fmax(wanted / CHUNK_LEAST, CHUNKS_LEAST), CHUNKS_MOST);
    const double bytes = fmax(wanted / floor(count), CHUNK_LEAST);

    flow->copies = (uint64_t)count;
    flow->run->record.bytes = round_up((uint64_t)bytes, 4096);
    flow->slices = bytes >= LOAD_LARGE ? LOAD_SLICES_LARGE : BACKGROUND_SLICES;
}

static void size_background(
    const struct cuda_session *cuda, struct cuda_flow *flow, double factor)
{
    if (flow_is_load(&flow->run->record)) {
        size_load(cuda, flow, factor);
        return;
    }
    if (cuda->session->params.fixed) {
        size_fixed(cuda, flow, factor);
        return;
    }
    slices_chunks((uint64_t)wanted_bytes(cuda, flow, factor) + 1, &flow->copies,
        &flow->run->record.bytes);
    flow->slices =
        flow->copies < BACKGROUND_SLICES ? flow->copies : BACKGROUND_SLICES;
}

/* Between warm-up and start, by a kernel on the flow's own stream. */
static int can_poison_in_stream(const struct cuda_flow *flow)
{
    const struct flow_record *const record = &flow->run->record;

    return record->dst_memory != NVBW_MEM_PAGEABLE &&
           record->dst_memory != NVBW_MEM_HUGE_PAGE &&
           record->dst_memory != NVBW_MEM_MANAGED &&
           record->dst_memory != NVBW_MEM_MULTICAST &&
           (record->flags & NVBW_FLOW_STAGED) == 0;
}

/* Copies, reads and writes of a GPU within its own memory, whose figure may
 * depend on which memory it is. */
static int is_local(const struct cuda_flow *flow)
{
    const struct flow_record *const record = &flow->run->record;
    const int moves = record->operation == NVBW_OP_COPY ||
                      record->operation == NVBW_OP_READ ||
                      record->operation == NVBW_OP_WRITE;
    const int has_own_src = record->src_memory == NVBW_MEM_NONE ||
                            (record->src_memory == NVBW_MEM_DEVICE &&
                                record->src_place == record->executor);
    const int has_own_dst = record->dst_memory == NVBW_MEM_NONE ||
                            (record->dst_memory == NVBW_MEM_DEVICE &&
                                record->dst_place == record->executor);

    return moves && has_own_src && has_own_dst && !flow->initiator->own_slices;
}

/* Kernels that go from slice to slice by themselves take all there are. */
static uint64_t slices_wanted(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const uint64_t least =
        copy_slices_least(cuda->session->facts, &flow->run->record);
    const uint64_t most =
        flow->copies < COPIES_MOST ? flow->copies : COPIES_MOST;

    if (flow->initiator->own_slices) {
        return flow->copies;
    }
    return most > least ? most : least;
}

static void size_counted(
    const struct cuda_session *cuda, struct cuda_flow *flow, uint64_t copies)
{
    const uint64_t repeats = flow->run->given->repeats;

    flow->copies = repeats > 0 ? repeats : copies;
    flow->single = cuda->session->params.fixed || flow->initiator->lay != NULL;
    flow->slices = flow->single ? 1 : slices_wanted(cuda, flow);
    flow->apart = flow->single && flow->initiator->lay == NULL &&
                  !can_poison_in_stream(flow);
    flow->spare = !flow->single && is_local(flow) ? SPARE_SLICES : 0;
    flow->shift = 0;
}

static int32_t get_side(struct cuda_session *cuda, struct cuda_flow *flow,
    uint32_t memory, int32_t place, uint64_t content, struct buffer **out,
    uint64_t *out_step, struct error *err)
{
    struct session *const session = cuda->session;
    const struct flow_record *const record = &flow->run->record;
    /* Chunks of a background change their size from sample to sample; their
     * buffers do not. */
    const uint64_t step = round_up(record->bytes + record->offset,
        flow->background && !flow->single ? CHUNK_BYTES : SLICE_ALIGNMENT);
    struct buffer_want want = { .facts = session->facts,
        .engine = cuda->engine,
        .place = place,
        .executor = record->executor,
        .content = content };

    *out = NULL;
    *out_step = step;
    if (memory == NVBW_MEM_NONE) {
        return NVBW_OK;
    }
    FAIL_IF(__builtin_mul_overflow(
                step, slices_all(flow) + flow->spare, &want.bytes),
        err, NVBW_E_INVALID, "a flow's buffer is larger than 2^64 bytes");
    return buffer_get(session->pool, memory, &want, out, err);
}

static void put_flow(struct cuda_session *cuda, struct cuda_flow *flow)
{
    struct buffer_pool *const pool = cuda->session->pool;

    buffer_put(pool, flow->run->src);
    buffer_put(pool, flow->run->third);
    buffer_put(pool, flow->run->dst);
    flow->run->src = NULL;
    flow->run->third = NULL;
    flow->run->dst = NULL;
    flow->filled = 0;
    flow->standing = 0;
    flow->turn = 0;
    flow->laps = 0;
}

void slices_put(struct cuda_session *cuda)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = cuda_flow_at(cuda, i);

        if (flow != NULL) {
            put_flow(cuda, flow);
        }
    }
}

/* What is wished for in a buffer: what the initiator lays, or a source of
 * the host that stands. Kernels that go from slice to slice have neither. */
static uint64_t content_wanted(
    const struct cuda_flow *flow, uint32_t memory, uint32_t is_back)
{
    const uint32_t operation = flow->run->record.operation;
    const int is_source =
        is_back ? operation == NVBW_OP_SPLIT : operation != NVBW_OP_WRITE;

    if (flow->initiator->lay != NULL) {
        return is_back ? 0 : flow->content;
    }
    return is_source && flow_memory_on_host(memory) &&
                   !flow->initiator->own_slices
               ? contents_tag(flow, is_back)
               : 0;
}

static int32_t get_sides(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct flow_run *const run = flow->run;
    const struct flow_record *const record = &run->record;

    TRY(get_side(cuda, flow, record->src_memory, record->src_place,
        content_wanted(flow, record->src_memory, 0), &run->src, &run->src_step,
        err));
    if (flow_is_stream(record) && flow_has_third(record)) {
        TRY(get_side(cuda, flow, record->src_memory, record->src_place, 0,
            &run->third, &run->src_step, err));
    }
    return get_side(cuda, flow, record->dst_memory, record->dst_place,
        content_wanted(flow, record->dst_memory, 1), &run->dst, &run->dst_step,
        err);
}

static int32_t get_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct error first = { 0 };

    flow->run->record.copies = flow->copies;
    if (flow->spare > 0) {
        if (get_sides(cuda, flow, &first) >= 0) {
            return NVBW_OK;
        }
        put_flow(cuda, flow);
        /* Else the larger source, idle now, is taken again. */
        buffer_pool_empty(cuda->session->pool);
        flow->spare = 0;
    }
    return get_sides(cuda, flow, err);
}

int32_t slices_get(struct cuda_session *cuda, uint64_t copies,
    double background, struct error *err)
{
    slices_put(cuda);
    if (cuda->seconds > 0.0 && cuda->lead->copies > 0) {
        cuda->queued_seconds =
            cuda->seconds * (double)copies / (double)cuda->lead->copies;
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (!cuda->flows[i].background) {
            size_counted(cuda, &cuda->flows[i], copies);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (cuda->flows[i].background) {
            size_background(cuda, &cuda->flows[i], background);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        TRY(get_flow(cuda, cuda_flow_at(cuda, i), err));
    }
    return NVBW_OK;
}

static int is_warm_up_apart(const struct cuda_flow *flow)
{
    return !flow->single || flow->apart;
}

uint64_t slices_src_number(const struct cuda_flow *flow, uint64_t copy)
{
    if (copy == COPY_WARM_UP) {
        return is_warm_up_apart(flow) ? flow->slices : 0;
    }
    return (copy + flow->turn + flow->laps) % flow->slices;
}

uint64_t slices_dst_number(const struct cuda_flow *flow, uint64_t copy)
{
    if (copy == COPY_WARM_UP) {
        return is_warm_up_apart(flow) ? flow->slices : 0;
    }
    return (copy + flow->turn) % flow->slices;
}

/* A link wakes with the first bytes; a GPU's own memory and kernels reach their
 * rate only after some milliseconds: with a short warm-up reads came out 2 %
 * low on an H200. */
uint64_t slices_bytes(const struct cuda_flow *flow, uint64_t copy)
{
    const uint64_t bytes = flow->run->record.bytes;
    const int is_short =
        copy == COPY_WARM_UP && !flow->single && !is_local(flow);

    return is_short && bytes > WARM_UP_BYTES ? WARM_UP_BYTES : bytes;
}

uint64_t slices_used(const struct cuda_flow *flow)
{
    return flow->copies < flow->slices ? flow->copies : flow->slices;
}

static int has_source_that_stands(const struct cuda_flow *flow)
{
    struct way ways[WAYS];
    const uint32_t count = ways_of(flow, ways);
    int stands = 0;

    for (uint32_t i = 0; i < count; i++) {
        stands |= way_stands(flow, &ways[i]);
    }
    return stands;
}

void slices_turn(struct cuda_flow *flow)
{
    const uint64_t next = flow->turn + flow->copies;

    flow->turn = next % flow->slices;
    if (has_source_that_stands(flow)) {
        flow->laps += next / flow->slices;
    }
}

uint64_t slices_src_at(const struct cuda_flow *flow, uint64_t slice)
{
    return (flow->shift + slice) * flow->run->src_step +
           flow->run->record.offset;
}

uint64_t slices_dst_at(const struct cuda_flow *flow, uint64_t slice)
{
    return (flow->shift + slice) * flow->run->dst_step +
           flow->run->record.offset;
}

uint64_t slices_src_offset(const struct cuda_flow *flow, uint64_t copy)
{
    return slices_src_at(flow, slices_src_number(flow, copy));
}

uint64_t slices_dst_offset(const struct cuda_flow *flow, uint64_t copy)
{
    return slices_dst_at(flow, slices_dst_number(flow, copy));
}

uint64_t slices_all(const struct cuda_flow *flow)
{
    return flow->slices + (is_warm_up_apart(flow) ? 1 : 0);
}

uint64_t slices_footprint(const struct cuda_flow *flow)
{
    const struct flow_run *const run = flow->run;
    const uint64_t one_side = flow->slices * run->record.bytes;

    return (run->src != NULL ? one_side : 0) +
           (run->third != NULL ? one_side : 0) +
           (run->dst != NULL ? one_side : 0);
}

void slices_move(struct cuda_session *cuda)
{
    cuda->moves++;
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];
        const uint64_t places = flow->spare + 1;
        const uint64_t had =
            cuda->moves + 1 < places ? cuda->moves + 1 : places;

        if (flow->spare == 0) {
            continue;
        }
        flow->shift = flow->shift < flow->spare ? flow->shift + 1 : 0;
        flow->filled = 0;
        cuda->placements =
            (uint32_t)had > cuda->placements ? (uint32_t)had : cuda->placements;
    }
}
