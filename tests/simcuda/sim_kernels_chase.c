/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that follow chains of dependent loads. Every step takes the
 * profile's latency of where the chain lies; SMs differ by as much as the
 * profile says, evenly around it. */
#include <string.h>

#include "pattern.h"
#include "sim_kernels.h"

/* Of an operation's words, after the arguments: the memory that is walked. */
enum { WORD_BASE = 14, WORD_BYTES = 15 };
/* And what all its steps take more where the whole way is taken by others. */
enum { WORD_LOADED = 13 };

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* A node that is no memory of the chain's ends the context, as it would on a
 * GPU. */
static int step(struct sim_op *op, uint64_t *at)
{
    struct sim_gpu *const gpu = op->subject;
    const uint64_t base = op->words[WORD_BASE];
    const uint64_t bytes = op->words[WORD_BYTES];

    if (*at < base || *at - base > bytes - sizeof(uint64_t)) {
        gpu->context.sticky = CU_ERROR_ILLEGAL_ADDRESS;
        return 0;
    }
    memcpy(at, address_of(*at), sizeof *at);
    return 1;
}

static void remember(const struct kernel_launch *launch, uint64_t base,
    uint64_t bytes, struct sim_op *op)
{
    op->subject = &launch->machine->gpus[launch->context->gpu];
    op->machine = launch->machine;
    op->words[WORD_BASE] = base;
    op->words[WORD_BYTES] = bytes;
}

static double latency_of(
    const struct kernel_launch *launch, const struct place *place)
{
    const uint32_t executor = launch->context->gpu;
    const struct profile_gpu *const gpu =
        launch->machine->gpus[executor].profile;

    if (place->kind != PLACE_DEVICE) {
        return gpu->latency_host_ns;
    }
    return place->gpu == executor ? gpu->latency_local_ns
                                  : gpu->latency_peer_ns;
}

static void take_time(const struct kernel_launch *launch, double each_ns,
    uint64_t steps, struct sim_op *op)
{
    const struct sim_gpu *const gpu =
        &launch->machine->gpus[launch->context->gpu];

    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = gpu->profile->kernel_us * 1e3 + each_ns * (double)steps;
}

static double loaded_of(
    const struct kernel_launch *launch, const struct place *place)
{
    const uint32_t executor = launch->context->gpu;
    const struct profile_gpu *const gpu =
        launch->machine->gpus[executor].profile;

    if (place->kind != PLACE_DEVICE) {
        return gpu->latency_loaded_host_ns;
    }
    return place->gpu == executor ? gpu->latency_loaded_local_ns
                                  : gpu->latency_loaded_peer_ns;
}

/* Of what a load that takes all of the way adds, the part that one adds that
 * takes this part of it: flat first, steep at the end, as queues are. */
static double curve(double part, double knee)
{
    const double taken = part < 1 ? part : 1;

    return taken * (1 - knee) / (1 - knee * taken);
}

/* The narrowest of what a read goes through decides. */
static void meet_load(struct sim_op *op)
{
    const struct sim_machine *const machine = op->machine;
    const struct sim_gpu *const gpu = op->subject;
    double part = 0;
    double most_ns = 0;

    memcpy(&most_ns, &op->words[WORD_LOADED], sizeof most_ns);
    for (uint32_t i = 0; i < op->load.uses_count; i++) {
        const double demand =
            core_demand(machine->core, op->load.uses[i].resource);

        part = demand > part ? demand : part;
    }
    op->fixed_ns += most_ns * curve(part, gpu->profile->latency_knee);
}

/* Takes nothing of its way itself. */
static void go_through(const struct kernel_launch *launch,
    const struct place *place, uint64_t steps, struct sim_op *op)
{
    const double most_ns = loaded_of(launch, place) * (double)steps;

    if (most_ns <= 0) {
        return;
    }
    path_read(launch->machine, launch->context->gpu, place, 0, op);
    op->load.limit = 0;
    memcpy(&op->words[WORD_LOADED], &most_ns, sizeof most_ns);
    op->begin = meet_load;
}

/* ---- One SM -------------------------------------------------------------- */

static void chase_finish(struct sim_op *op)
{
    const struct sim_machine *const machine = op->machine;
    struct chase_result result = { 0 };
    struct chase_args args;

    memcpy(&args, op->words, sizeof args);
    result.at = args.at;
    for (uint64_t i = 0; i < args.steps; i++) {
        if (!step(op, &result.at)) {
            return;
        }
    }
    result.unit = args.block;
    result.start_ns = (uint64_t)sim_gpu_clock(op->subject, op->started_ns);
    result.end_ns =
        (uint64_t)sim_gpu_clock(op->subject, core_now(machine->core));
    memcpy(address_of(args.result), &result, sizeof result);
}

/* How far the SM of this block is from the mean. */
static double sm_share(const struct profile_gpu *gpu, uint64_t block)
{
    return gpu->units < 2 ? 0 : (double)block / (double)(gpu->units - 1) - 0.5;
}

static cu_result chase_by(
    const struct kernel_launch *launch, double more_ns, struct sim_op *op)
{
    const struct profile_gpu *const gpu =
        launch->machine->gpus[launch->context->gpu].profile;
    struct chase_args args;
    struct place place;
    struct place result;
    uint64_t base = 0;
    uint64_t bytes = 0;

    memcpy(&args, op->words, sizeof args);
    if (args.block >= launch->threads) {
        op->kind = SIM_OP_INSTANT;
        return CU_SUCCESS;
    }
    if (kernel_reach(launch, args.at, CHASE_NODE, &place) != CU_SUCCESS ||
        !place_extent(launch->machine, args.at, &base, &bytes) ||
        kernel_reach(launch, args.result, sizeof(struct chase_result),
            &result) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    remember(launch, base, bytes, op);
    op->finish = chase_finish;
    go_through(launch, &place, args.steps, op);
    take_time(launch,
        latency_of(launch, &place) + more_ns +
            gpu->latency_spread_ns * sm_share(gpu, args.block),
        args.steps, op);
    return CU_SUCCESS;
}

static cu_result chase_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    return chase_by(launch, 0, op);
}

static cu_result chase_bulk_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    return chase_by(launch,
        launch->machine->gpus[launch->context->gpu].profile->latency_bulk_ns,
        op);
}

/* ---- All threads --------------------------------------------------------- */

static void chase_lay_finish(struct sim_op *op)
{
    struct chase_lay_args args;

    memcpy(&args, op->words, sizeof args);
    const uint64_t *const list = address_of(args.list);

    for (uint64_t i = 0; i < args.count; i++) {
        const uint64_t offset =
            CHASE_OFFSET(pattern_word(args.key, i), i, args.step, args.lines);

        memcpy(address_of(args.memory + offset), &list[i], sizeof list[i]);
    }
}

static cu_result chase_lay_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct chase_lay_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach(launch, args.memory, args.count * args.step, &place) !=
            CU_SUCCESS ||
        kernel_reach(launch, args.list, args.count * sizeof(uint64_t),
            &place) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = chase_lay_finish;
    take_time(launch, 0, 0, op);
    return CU_SUCCESS;
}

static void chase_lap_finish(struct sim_op *op)
{
    struct chase_lap_args args;

    memcpy(&args, op->words, sizeof args);
    const uint64_t *const starts = address_of(args.starts);
    uint64_t *const ends = address_of(args.ends);

    for (uint64_t segment = 0; segment < args.segments; segment++) {
        const uint64_t left = args.count - segment * args.steps;
        const uint64_t steps = left < args.steps ? left : args.steps;
        uint64_t at = starts[segment];

        for (uint64_t i = 0;
             i < steps && at % CHASE_NODE == 0 && at >= args.memory &&
             at - args.memory <= args.bytes - CHASE_NODE;
             i++) {
            memcpy(&at, address_of(at), sizeof at);
        }
        ends[segment] = at;
    }
}

static cu_result chase_lap_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct chase_lap_args args;
    struct place place;
    struct place words;

    memcpy(&args, op->words, sizeof args);
    const uint64_t bytes = args.segments * sizeof(uint64_t);

    if (kernel_reach(launch, args.memory, args.bytes, &place) != CU_SUCCESS ||
        kernel_reach(launch, args.starts, bytes, &words) != CU_SUCCESS ||
        kernel_reach(launch, args.ends, bytes, &words) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = chase_lap_finish;
    take_time(launch, latency_of(launch, &place), args.steps, op);
    return CU_SUCCESS;
}

#define KERNEL(kernel, args)                                                   \
    { "nvbw_" #kernel, sizeof(struct args##_args), kernel##_plan },
const struct sim_kernel sim_kernels_chase[SIM_KERNELS_CHASE] = { CHASE_KERNELS(
    KERNEL) };
