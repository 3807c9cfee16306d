/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The self-test that must fail: the engine is broken on purpose, each way in a
 * process of its own, and must not report a figure. What breaks it stands
 * here alone: a table of initiators in place of the engine's, and functions
 * that the linker puts before the engine's own (see CMakeLists.txt), so that
 * no build of the product has any of it.
 *
 *   test_engine_sabotage NAME */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chain.h"
#include "cuda_session.h"
#include "engine_scene.h"
#include "state.h"

static const struct nvbw_cell cells[] = { NVBW_CELL("bandwidth", 0, 0),
    NVBW_CELL("bandwidth", 0, 1) };
static const struct nvbw_cell latency = NVBW_CELL("latency", 0, 0);
static const struct nvbw_cell total = NVBW_CELL("total", 0, 0);

/* Traffic that shows the sabotage. */
enum traffic {
    ONE_WAY,
    ONE_WAY_PAGEABLE,
    TURNING,      /* each sample has other slices of the host's memory */
    TURNING_BACK, /* which is not poisoned between */
    BEHIND,
    TOGETHER,
    PEER,
    STAGED,
    CHASE,        /* over memory of the host */
    CHASE_RANDOM, /* over a peer's */
    CHASE_SHORT,  /* over a peer's, a thousand steps are whole laps */
    CHASE_BULK    /* likewise, by bulk copies */
};

struct sabotage {
    const char *name;
    enum traffic traffic;
    uint32_t fixed;
    uint32_t state;
    const char *reason;
};

static const struct sabotage sabotages[] = {
    { "none", ONE_WAY, 0, STATE_MEASURED, NULL },
    { "none_fixed", ONE_WAY, 1, STATE_MEASURED, NULL },
    { "none_behind", BEHIND, 0, STATE_MEASURED, NULL },
    { "none_together", TOGETHER, 0, STATE_MEASURED, NULL },
    { "none_peer", PEER, 0, STATE_MEASURED, NULL },
    { "none_staged", STAGED, 1, STATE_MEASURED, NULL },
    { "none_pageable", ONE_WAY_PAGEABLE, 1, STATE_MEASURED, NULL },
    { "copies_removed", ONE_WAY, 0, STATE_MISMATCH, "wrong_data" },
    { "none_turning", TURNING, 0, STATE_MEASURED, NULL },
    { "none_turning_back", TURNING_BACK, 0, STATE_MEASURED, NULL },
    { "copies_removed_turning", TURNING, 0, STATE_MISMATCH, "wrong_data" },
    { "copies_removed_turning_back", TURNING_BACK, 0, STATE_MISMATCH,
        "wrong_data" },
    { "copies_removed_fixed", ONE_WAY, 1, STATE_MISMATCH, "wrong_data" },
    { "copies_removed_pageable", ONE_WAY_PAGEABLE, 1, STATE_MISMATCH,
        "wrong_data" },
    { "copies_removed_staged", STAGED, 1, STATE_MISMATCH, "wrong_data" },
    { "tail_skipped", ONE_WAY, 0, STATE_MISMATCH, "wrong_data" },
    { "tail_skipped_fixed", ONE_WAY, 1, STATE_MISMATCH, "wrong_data" },
    { "background_removed", BEHIND, 0, STATE_INVALID, "interference_missing" },
    { "background_removed_fixed", BEHIND, 1, STATE_INVALID,
        "interference_missing" },
    { "flows_serialised", TOGETHER, 0, STATE_INVALID, "serialised" },
    { "flows_serialised_fixed", TOGETHER, 1, STATE_INVALID, "serialised" },
    { "peer_access_off", PEER, 0, STATE_ERROR, "driver" },
    { "wrong_epoch", ONE_WAY, 0, STATE_MISMATCH, "wrong_data" },
    { "clock_doubled", ONE_WAY, 0, STATE_INVALID, "clock" },
    { "host_away", ONE_WAY, 0, STATE_MEASURED, NULL },
    { "host_always_away", ONE_WAY, 0, STATE_INVALID, "clock" },
    { "none_chase", CHASE, 0, STATE_MEASURED, NULL },
    { "none_chase_fixed", CHASE, 1, STATE_MEASURED, NULL },
    { "none_chase_random", CHASE_RANDOM, 0, STATE_MEASURED, NULL },
    { "step_skipped", CHASE, 0, STATE_MISMATCH, "wrong_data" },
    { "step_skipped_random", CHASE_RANDOM, 0, STATE_MISMATCH, "wrong_data" },
    { "step_skipped_bulk", CHASE_BULK, 0, STATE_MISMATCH, "wrong_data" },
    { "chase_removed", CHASE, 0, STATE_MISMATCH, "wrong_data" },
    { "chase_removed_fixed", CHASE, 1, STATE_MISMATCH, "wrong_data" },
    { "none_chase_short", CHASE_SHORT, 0, STATE_MEASURED, NULL },
    { "chase_emptied_short", CHASE_SHORT, 0, STATE_MISMATCH, "wrong_data" },
    { "chain_broken", CHASE, 0, STATE_MISMATCH, "wrong_data" },
    { "chain_broken_random", CHASE_RANDOM, 0, STATE_MISMATCH, "wrong_data" },
    { "chain_changed", CHASE, 0, STATE_MISMATCH, "wrong_data" },
    { "chain_changed_fixed", CHASE, 1, STATE_MISMATCH, "wrong_data" },
    /* Nothing is wrong but the process: CUDA_DEVICE_MAX_CONNECTIONS is 1. */
    { "one_connection", TOGETHER, 0, STATE_INVALID, "serialised" },
};

static const struct sabotage *chosen;

static int is(const char *name)
{
    return strncmp(chosen->name, name, strlen(name)) == 0;
}

/* ---- How it is broken ---------------------------------------------------- */

static int32_t wait_for_last(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    if (flow->slot == 0) {
        return NVBW_OK;
    }
    CUDA_TRY(flow->gpu->api, err,
        flow->gpu->api->stream_wait_event(
            flow->stream, cuda->flows[flow->slot - 1].end, 0),
        "no wait for the flow before");
    return NVBW_OK;
}

static int32_t enqueue_tailless(struct cuda_session *cuda,
    struct cuda_flow *flow, uint64_t first, uint64_t count, struct error *err)
{
    const uint64_t bytes = flow->run->record.bytes;

    flow->run->record.bytes = bytes - 8;

    const int32_t status = initiator_ce.enqueue(cuda, flow, first, count, err);

    flow->run->record.bytes = bytes;
    return status;
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const int is_timed = first != COPY_WARM_UP;

    if ((is("copies_removed") && is_timed) ||
        (is("background_removed") && is_timed && flow->background)) {
        return NVBW_OK;
    }
    if (is("tail_skipped")) {
        return enqueue_tailless(cuda, flow, first, count, err);
    }
    if (is("flows_serialised") && first == 0) {
        TRY(wait_for_last(cuda, flow, err));
    }
    return initiator_ce.enqueue(cuda, flow, first, count, err);
}

static const struct initiator broken = { .name = "ce",
    .operations = 1u << NVBW_OP_COPY,
    .one_by_one = 1,
    .enqueue = enqueue };
const struct initiator *const initiators[INITIATORS_END] = { [NVBW_BY_CE] =
                                                                 &broken };

int32_t __real_gpu_set_peer(struct gpu *gpu, const struct gpu *peer,
    uint32_t peers, int enabled, struct error *err);
int32_t __wrap_gpu_set_peer(struct gpu *gpu, const struct gpu *peer,
    uint32_t peers, int enabled, struct error *err);
int32_t __wrap_gpu_set_peer(struct gpu *gpu, const struct gpu *peer,
    uint32_t peers, int enabled, struct error *err)
{
    const int32_t status = __real_gpu_set_peer(gpu, peer, peers, enabled, err);

    if (status == NVBW_OK && is("peer_access_off") && gpu != peer) {
        gpu_use(gpu, err);
        gpu->api->peer_disable(peer->context);
    }
    return status;
}

/* What compares, not what fills, takes the epoch for another. */
static int compares;

int32_t __real_verify_counted(struct cuda_session *cuda, struct error *err);
int32_t __wrap_verify_counted(struct cuda_session *cuda, struct error *err);
int32_t __wrap_verify_counted(struct cuda_session *cuda, struct error *err)
{
    compares = 1;

    const int32_t status = __real_verify_counted(cuda, err);

    compares = 0;
    return status;
}

uint64_t __real_contents_key(const struct cuda_flow *flow, uint64_t slice);
uint64_t __wrap_contents_key(const struct cuda_flow *flow, uint64_t slice);
uint64_t __wrap_contents_key(const struct cuda_flow *flow, uint64_t slice)
{
    struct cuda_flow other = *flow;

    other.epochs[0] -= compares && is("wrong_epoch") ? 1 : 0;
    return __real_contents_key(&other, slice);
}

static cuda_event_elapsed_fn *true_elapsed;

static cu_result doubled_elapsed(
    float *out_ms, struct CUevent_st *start, struct CUevent_st *end)
{
    const cu_result result = true_elapsed(out_ms, start, end);

    *out_ms *= 2.0f;
    return result;
}

int32_t __real_cuda_open(
    const char *file, struct cuda_api *out, struct error *err);
int32_t __wrap_cuda_open(
    const char *file, struct cuda_api *out, struct error *err);
int32_t __wrap_cuda_open(
    const char *file, struct cuda_api *out, struct error *err)
{
    const int32_t status = __real_cuda_open(file, out, err);

    if (status == NVBW_OK && is("clock_doubled")) {
        true_elapsed = out->event_elapsed;
        out->event_elapsed = doubled_elapsed;
    }
    return status;
}

/* The host loses its CPU in the first samples, or in all, until they are long
 * over. */
enum { AWAY_SAMPLES = 4, AWAY_AFTER_LOOKS = 3, AWAY_NS = 20 * 1000 * 1000 };
static uint32_t looks_left, away;

void __real_gate_open(struct cuda_session *cuda);
void __wrap_gate_open(struct cuda_session *cuda);
void __wrap_gate_open(struct cuda_session *cuda)
{
    if (is("host_always_away") || (is("host_away") && away < AWAY_SAMPLES)) {
        looks_left = AWAY_AFTER_LOOKS;
    }
    __real_gate_open(cuda);
}

uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void)
{
    uint64_t now_ns = __real_clock_now_ns();

    if (looks_left > 0 && --looks_left == 0) {
        const uint64_t back_ns = now_ns + AWAY_NS;

        away++;
        while (now_ns < back_ns) {
            now_ns = __real_clock_now_ns();
        }
    }
    return now_ns;
}

/* A walk is one step short, or none at all. */
int32_t __real_gpu_launch_chase(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, uint32_t threads,
    struct error *err);
int32_t __wrap_gpu_launch_chase(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, uint32_t threads,
    struct error *err);
int32_t __wrap_gpu_launch_chase(const struct gpu *gpu, uint32_t kernel,
    struct CUstream_st *stream, void *args, uint64_t blocks, uint32_t threads,
    struct error *err)
{
    const int is_walk =
        kernel == CHASE_KERNEL_chase || kernel == CHASE_KERNEL_chase_bulk;
    struct chase_args walk = { 0 };

    if (is_walk) {
        memcpy(&walk, args, sizeof walk);
        walk.steps -= is("step_skipped") ? 1 : 0;
        walk.steps = is("chase_emptied") ? 0 : walk.steps;
        args = &walk;
    }
    if (is_walk && is("chase_removed")) {
        return NVBW_OK;
    }
    return __real_gpu_launch_chase(
        gpu, kernel, stream, args, blocks, threads, err);
}

/* A node leads past the next one. */
void __real_chain_list(const struct chain *chain, uint64_t *out_list);
void __wrap_chain_list(const struct chain *chain, uint64_t *out_list);
void __wrap_chain_list(const struct chain *chain, uint64_t *out_list)
{
    const uint64_t slot = (chain_at(chain, 700) - chain->memory) / chain->step;

    __real_chain_list(chain, out_list);
    if (is("chain_broken")) {
        out_list[slot] = chain_at(chain, 702);
    }
}

/* The same, but after the chain was proved. */
int32_t __real_chase_lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
int32_t __wrap_chase_lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err);
int32_t __wrap_chase_lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    TRY(__real_chase_lay(cuda, flow, err));
    if (is("chain_changed")) {
        const struct buffer *const src = flow->run->src;
        uint64_t *const node = (void *)((unsigned char *)src->host + 7 * 128);

        *node = src->device + 9 * 128;
    }
    return NVBW_OK;
}

/* ---- What is measured with it -------------------------------------------- */

static void make_chase(enum traffic traffic, struct nvbw_flow *flow)
{
    *flow = (struct nvbw_flow){ .size = sizeof *flow,
        .initiator = traffic == CHASE_BULK ? NVBW_BY_TMA : NVBW_BY_SM,
        .operation = NVBW_OP_CHASE,
        .src_memory = traffic == CHASE ? NVBW_MEM_PINNED : NVBW_MEM_DEVICE,
        .src_place = traffic == CHASE ? NVBW_NEAR : 1,
        .stride = traffic == CHASE_RANDOM ? 0 : 128,
        .bytes = traffic == CHASE_SHORT ? 1 << 10 : 2 * MIB,
        .cell = &latency };
}

static uint32_t make_flows(enum traffic traffic, struct nvbw_flow *flows)
{
    flows[0] = scene_down;
    flows[0].cell = &cells[0];
    flows[1] = scene_up;
    switch (traffic) {
    case ONE_WAY:
    case TURNING:
        return 1;
    case ONE_WAY_PAGEABLE:
        flows[0] = scene_up;
        flows[0].cell = &cells[0];
        flows[0].dst_memory = NVBW_MEM_PAGEABLE;
        return 1;
    case TURNING_BACK:
        flows[0] = scene_up;
        flows[0].cell = &cells[0];
        return 1;
    case BEHIND:
        flows[1].flags = NVBW_FLOW_BACKGROUND;
        return 2;
    case TOGETHER:
        flows[1].cell = &cells[1];
        return 2;
    case PEER:
    case STAGED:
        break;
    case CHASE:
    case CHASE_RANDOM:
    case CHASE_SHORT:
    case CHASE_BULK:
        make_chase(traffic, &flows[0]);
        return 1;
    }
    flows[0].src_memory = NVBW_MEM_DEVICE;
    flows[0].src_place = 0;
    flows[0].dst_place = 1;
    flows[0].flags = traffic == STAGED ? NVBW_FLOW_STAGED : 0;
    return 1;
}

static void ends_in_its_named_state(void **state)
{
    struct nvbw_flow flows[2];
    const struct nvbw_flow *list[3] = { NULL };
    struct scene scene;

    (void)state;
    scene_open(&scene);
    scene.request.params.fixed = chosen->fixed;
    if (chosen->fixed) {
        scene.request.params.buffer_bytes = 4 * MIB;
    }
    if (chosen->traffic == TURNING || chosen->traffic == TURNING_BACK) {
        scene.request.params.buffer_bytes = 64 * MIB;
        scene.facts.nodes[0].cache_bytes = 80 * MIB;
    }

    const uint32_t count = make_flows(chosen->traffic, flows);

    for (uint32_t i = 0; i < count; i++) {
        list[i] = &flows[i];
    }
    scene_measure(&scene, list, count > 1 ? &total : NULL);
    for (uint32_t i = 0; i < scene.result.records_count; i++) {
        scene_expect(&scene.result.records[i], chosen->state, chosen->reason);
    }
    scene_close(&scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_in_its_named_state),
    };

    for (size_t i = 0; i < sizeof sabotages / sizeof *sabotages; i++) {
        if (argc == 2 && strcmp(argv[1], sabotages[i].name) == 0) {
            chosen = &sabotages[i];
        }
    }
    if (chosen == NULL) {
        fprintf(stderr, "usage: test_engine_sabotage NAME\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
