/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sm_chase.h"

#include <inttypes.h>

#include "flow.h"

enum {
    /* Of a launch, which costs some 3 us: half a millisecond over a link, and
     * half of that within a GPU. */
    STEPS_LINK = 500,
    STEPS_LOCAL = 2000,
    STEPS_FIXED_ALL = 1000000, /* nvbandwidth's, over all SMs */
    STRETCH = 1024,
    SAMPLE_LOADS = 16 * 1024, /* of the short stretches together, at least */
    LAPS_LONG = 3,            /* against one */
    SAMPLES_LEAST = 8
};

/* So many lines outrun a cache of 200 MB twenty times; in more memory nodes
 * stand further apart. What a simulated machine follows is walked by a CPU. */
#define NODES_MOST      (UINT64_C(32) << 20)
#define NODES_SIMULATED (UINT64_C(16) << 10)

/* No load takes longer, however congested its path. */
#define STEP_LIMIT_NS UINT64_C(100000)

/* ---- Sizes --------------------------------------------------------------- */

/* SMs of a sample, so that the first look at the samples has seen them all. */
static uint64_t units_a_sample(
    const struct cuda_session *cuda, const struct chase_flow *chase)
{
    const struct measure_params *const params = &cuda->session->params;
    uint32_t samples = params->min_samples > SAMPLES_LEAST
                           ? params->min_samples
                           : (uint32_t)SAMPLES_LEAST;

    samples = samples < params->max_samples ? samples : params->max_samples;
    samples = params->fixed ? params->samples : samples;
    samples = samples > 0 ? samples : 1;
    return (chase->units + samples - 1) / samples;
}

static uint64_t launches_most(const struct cuda_session *cuda)
{
    const uint64_t used = OTHER_OPERATIONS + cuda->all_count;
    const uint64_t room =
        used + 2 < STREAM_OPERATIONS ? STREAM_OPERATIONS - used : 2;

    return room < COPIES_MOST ? room : (uint64_t)COPIES_MOST;
}

static uint64_t stretches(
    const struct cuda_session *cuda, const struct chase_flow *chase)
{
    const uint64_t units = units_a_sample(cuda, chase);
    const uint64_t most = launches_most(cuda) / 2;
    const uint64_t few = units < most ? units : most;

    return few > 0 ? few : 1;
}

static void bounds(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint64_t *least, uint64_t *most)
{
    const struct chase_flow *const chase = flow->state;

    if (chase->chain.random) {
        *least = *most = 2 * stretches(cuda, chase);
        return;
    }
    *least = units_a_sample(cuda, chase);
    *most = launches_most(cuda);
}

static uint64_t steps_adaptive(const struct cuda_flow *flow)
{
    const struct flow_record *const record = &flow->run->record;
    const int is_local = !flow_memory_on_host(record->src_memory) &&
                         record->src_place == record->executor;

    return is_local ? STEPS_LOCAL : STEPS_LINK;
}

/* A short cycle is gone round as often as makes a stretch. */
static uint64_t steps_wanted(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const struct chase_flow *const chase = flow->state;
    const uint64_t count = chase->chain.count;

    if (chase->chain.random) {
        const uint64_t share = SAMPLE_LOADS / stretches(cuda, chase);
        const uint64_t least = share > STRETCH ? share : (uint64_t)STRETCH;

        return count < least ? (least + count - 1) / count * count : least;
    }
    return cuda->session->params.fixed ? STEPS_FIXED_ALL / chase->units
                                       : steps_adaptive(flow);
}

/* A walk of whole laps would end where it began, as none at all does. */
static uint64_t steps_of(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const struct chase_flow *const chase = flow->state;
    const uint64_t steps = steps_wanted(cuda, flow);

    return steps % chase->chain.count == 0 ? steps + 1 : steps;
}

static uint64_t common_divisor(uint64_t one, uint64_t other)
{
    while (other != 0) {
        const uint64_t rest = one % other;

        one = other;
        other = rest;
    }
    return one;
}

/* From one SM to the next: by the golden section, so that any number of turns
 * is spread evenly. Neighbours are alike, as they share the way to memory. */
static uint64_t deal_of(uint64_t units)
{
    uint64_t deal = (units * 618 + 500) / 1000;

    while (deal > 1 && common_divisor(deal, units) != 1) {
        deal--;
    }
    return deal > 0 ? deal : 1;
}

/* ---- Opening ------------------------------------------------------------- */

/* What the engine's own sizes keep to. */
static int32_t check_flow(const struct cuda_session *cuda,
    const struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;
    const int random = record->stride == 0;

    FAIL_IF(record->offset % CHASE_LINE != 0, err, NVBW_E_INVALID,
        "a chain of loads begins at a multiple of %d bytes", CHASE_LINE);
    FAIL_IF(record->element != 0, err, NVBW_E_INVALID,
        "a chain of loads has no element size");
    FAIL_IF(record->repeats > COPIES_MOST || (random && record->repeats % 2),
        err, NVBW_E_INVALID,
        "a chain of loads is asked for %" PRIu64 " launches a sample; at most "
        "%d are possible, for a random cycle an even number",
        record->repeats, COPIES_MOST);
    FAIL_IF(random && flow != cuda->lead, err, NVBW_E_INVALID,
        "a random cycle is not the first of the flows that are counted");
    return NVBW_OK;
}

static int32_t make_chain(struct cuda_session *cuda, struct cuda_flow *flow,
    struct chase_flow *chase, struct error *err)
{
    const struct session *const session = cuda->session;
    const struct flow_record *const record = &flow->run->record;

    TRY(chain_make(record->bytes, record->stride, session->params.seed,
        session->facts->simulated ? NODES_SIMULATED : NODES_MOST, &chase->chain,
        err));
    /* Links are addresses, so a chain at another offset is another one. Those
     * of one rank mean nothing to others, and all ranks have to know alike what
     * buffers hold: between them nobody finds a chain again. */
    flow->content = cuda->peers == NULL
                        ? (chain_tag(&chase->chain) ^ (record->offset << 1)) | 1
                        : 0;
    return NVBW_OK;
}

static int32_t plan(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct gpu_facts *const gpu = flow->gpu->facts;
    struct chase_flow *const chase =
        arena_alloc(cuda->session->arena, 1, sizeof *chase);

    FAIL_IF(chase == NULL, err, NVBW_E_SYSTEM, "no memory for a flow");
    flow->state = chase;
    chase->units = gpu->units > 0 ? gpu->units : 1;
    chase->deal = deal_of(chase->units);
    TRY(check_flow(cuda, flow, err));
    TRY(make_chain(cuda, flow, chase, err));
    chase->steps = steps_of(cuda, flow);
    if (cuda->session->params.fixed && flow == cuda->lead) {
        uint64_t least = 0;
        uint64_t most = 0;

        bounds(cuda, flow, &least, &most);
        cuda->session->params.copies = (uint32_t)(least < most ? least : most);
    }
    return NVBW_OK;
}

static int32_t open_flow(
    struct cuda_flow *flow, uint32_t kernel, struct error *err)
{
    struct gpu *const gpu = flow->gpu;
    struct chase_flow *const chase = flow->state;

    chase->kernel = kernel;
    TRY(gpu_need_chase(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->memory_alloc(&chase->room, CHASE_ROOM_BYTES),
        "GPU %d: no memory for the results of a chase", gpu->facts->index);
    return NVBW_OK;
}

static int32_t open_loads(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    (void)cuda;
    return open_flow(flow, CHASE_KERNEL_chase, err);
}

static int32_t open_bulk(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    (void)cuda;
    TRY(gpu_need_hopper(flow->gpu, "bulk copies (TMA)", err));
    return open_flow(flow, CHASE_KERNEL_chase_bulk, err);
}

/* ---- Samples ------------------------------------------------------------- */

static int32_t begin(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct chase_flow *const chase = flow->state;
    const struct gpu *const gpu = flow->gpu;

    (void)cuda;
    chase->first = chase->next;
    chase->next += chase_is_random(flow) ? flow->copies / 2 : flow->copies;
    chase->next %= chase->units;
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(chase->room + CHASE_ROOM_RESULTS, 0,
            CHASE_ROOM_STARTS / 4, gpu->stream),
        "GPU %d: results of a chase", gpu->facts->index);
    return gpu_wait(gpu, gpu->stream, CHASE_LIMIT_NS,
        "clearing the results of a chase", err);
}

/* The walk of a launch, and the block that takes it. */
static struct chase_walk plan_walk(
    struct cuda_flow *flow, uint64_t number, uint64_t *out_block)
{
    struct chase_flow *const chase = flow->state;
    const uint64_t half = flow->copies / 2;
    struct chase_walk walk = { 0, chase->steps };

    if (number == COPY_WARM_UP) {
        *out_block = chase->first * chase->deal % chase->units;
    } else {
        const int is_long = chase_is_random(flow) && number >= half;

        walk.steps *= is_long ? LAPS_LONG : 1;
        *out_block = (chase->first + number - (is_long ? half : 0)) *
                     chase->deal % chase->units;
    }
    if (chase_is_random(flow)) {
        walk.rank = chase->rank;
        chase->rank = (chase->rank + walk.steps) % chase->chain.count;
    }
    return walk;
}

static int32_t launch(
    struct cuda_flow *flow, uint64_t number, struct error *err)
{
    struct chase_flow *const chase = flow->state;
    const uint64_t slot =
        number < CHASE_RESULTS - 1 ? number : CHASE_RESULTS - 1;
    uint64_t block = 0;
    const struct chase_walk walk = plan_walk(flow, number, &block);
    struct chase_args args = { chain_at(&chase->chain, walk.rank), walk.steps,
        block,
        chase->room + CHASE_ROOM_RESULTS + slot * sizeof(struct chase_result),
        walk.steps * STEP_LIMIT_NS };

    chase->walks[slot] = walk;
    TRY(gpu_launch_chase(
        flow->gpu, chase->kernel, flow->stream, &args, chase->units, 1, err));
    if (chase_is_random(flow) && number + 1 == flow->copies / 2) {
        CUDA_TRY(flow->gpu->api, err,
            flow->gpu->api->event_record(flow->first, flow->stream),
            "GPU %d: an event was not recorded", flow->gpu->facts->index);
    }
    return NVBW_OK;
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    (void)cuda;
    for (uint64_t i = 0; i < count; i++) {
        TRY(launch(flow, first == COPY_WARM_UP ? first : first + i, err));
    }
    return NVBW_OK;
}

/* Three stretches less one on as many SMs are two on each: what all launches
 * of the sample have together. */
static int32_t seconds(
    const struct cuda_flow *flow, double *out, struct error *err)
{
    double short_ones = 0.0;
    double long_ones = 0.0;

    if (!chase_is_random(flow)) {
        return cuda_elapsed(flow, flow->start, flow->end, out, err);
    }
    TRY(cuda_elapsed(flow, flow->start, flow->first, &short_ones, err));
    TRY(cuda_elapsed(flow, flow->first, flow->end, &long_ones, err));
    FAIL_IF(long_ones <= short_ones, err, NVBW_E_CUDA,
        "GPU %d: three stretches of a chain took no longer than one",
        flow->gpu->facts->index);
    *out = long_ones - short_ones;
    return NVBW_OK;
}

static double amount(const struct cuda_flow *flow)
{
    const struct chase_flow *const chase = flow->state;

    return (double)chase->steps;
}

static void close_flow(struct cuda_session *cuda, struct cuda_flow *flow)
{
    const struct chase_flow *const chase = flow->state;

    (void)cuda;
    if (chase == NULL || chase->room == 0) {
        return;
    }
    flow->gpu->api->memory_free(chase->room);
}

#define CHASER(open_)                                                          \
    .operations = 1u << NVBW_OP_CHASE, .plan = plan, .open = (open_),          \
    .bounds = bounds, .lay = chase_lay, .enqueue = enqueue, .begin = begin,    \
    .seconds = seconds, .amount = amount, .verify = chase_verify,              \
    .close = close_flow

const struct initiator chaser_sm = { .name = "sm", CHASER(open_loads) };
const struct initiator chaser_tma = { .name = "tma", CHASER(open_bulk) };
