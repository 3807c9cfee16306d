/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that move bytes. Where a real one stamps its start and end by
 * the GPU's clock, so do these by virtual time. */
#include <string.h>

#include "pattern.h"
#include "sim_contents.h"
#include "sim_kernels.h"
#include "sim_multicast.h"

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* What every plan leaves for its finish beside the arguments. */
void kernel_remember(const struct kernel_launch *launch, struct sim_op *op)
{
    op->subject = &launch->machine->gpus[launch->context->gpu];
    op->machine = launch->machine;
}

void kernel_stamp(const struct sim_op *op, uint64_t stamps)
{
    const struct sim_machine *const machine = op->machine;
    uint64_t *const words = address_of(stamps);

    if (stamps == 0) {
        return;
    }
    words[0] = (uint64_t)sim_gpu_clock(op->subject, op->started_ns);
    words[1] = (uint64_t)sim_gpu_clock(op->subject, core_now(machine->core));
}

int kernel_may_stamp(const struct kernel_launch *launch, uint64_t stamps)
{
    struct place place;

    return stamps == 0 || kernel_reach(launch, stamps, 2 * sizeof(uint64_t),
                              &place) == CU_SUCCESS;
}

/* ---- Copies -------------------------------------------------------------- */

static void copy_finish(struct sim_op *op)
{
    struct copy_args args;

    memcpy(&args, op->words, sizeof args);
    contents_copy(&sim_machine()->memory, args.dst, args.src, args.bytes);
    kernel_stamp(op, args.stamps);
}

static cu_result copy_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct copy_args args;
    struct place src;
    struct place dst;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach_bytes(launch, args.src, args.bytes, &src) != CU_SUCCESS ||
        kernel_reach_bytes(launch, args.dst, args.bytes, &dst) != CU_SUCCESS ||
        !kernel_may_stamp(launch, args.stamps)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = copy_finish;
    path_copy(launch->machine, launch->context->gpu, &dst, &src, args.bytes,
        BY_KERNEL, op);
    return CU_SUCCESS;
}

static cu_result copy_wide_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    return copy_plan(launch, op);
}

static cu_result tma_plan(const struct kernel_launch *launch, struct sim_op *op)
{
    return copy_plan(launch, op);
}

/* ---- To all at once ------------------------------------------------------ */

/* What is stored for this GPU is lost on the way. */
static int is_lost(uint32_t gpu_number)
{
    const struct sim_machine *const machine = sim_machine();

    for (uint32_t i = 0; i < machine->profile.count; i++) {
        if (machine->gpus[i].profile->number == gpu_number) {
            return faults_of_gpu(
                       &machine->faults, FAULT_MULTICAST_DROP, i, 1) != 0;
        }
    }
    return 0;
}

static void copy_multicast_finish(struct sim_op *op)
{
    const struct sim_gpu *const subject = op->subject;
    const uint32_t gpu = (uint32_t)(subject - sim_machine()->gpus);
    struct copy_args args;
    uint64_t at = 0;

    memcpy(&args, op->words, sizeof args);
    struct multicast *const multicast =
        place_multicast(sim_machine(), gpu, args.dst, args.bytes, &at);
    const uint32_t members =
        multicast == NULL ? 0 : multicast_members(multicast);

    contents_touch(&sim_machine()->memory, args.src, args.bytes);
    for (uint32_t i = 0; i < members; i++) {
        unsigned char *const part =
            multicast_part(multicast, i, at, args.bytes);

        if (part != NULL && !is_lost(multicast_gpu(multicast, i))) {
            memcpy(part, address_of(args.src), args.bytes);
        }
    }
    kernel_stamp(op, args.stamps);
}

/* Another member than the GPU that stores, whose link stands for all. */
static void find_far_member(const struct kernel_launch *launch,
    const struct multicast *multicast, struct place *out)
{
    const struct sim_machine *const machine = launch->machine;
    const uint32_t own = machine->gpus[launch->context->gpu].profile->number;

    *out = (struct place){
        .kind = PLACE_DEVICE, .gpu = launch->context->gpu, .accessible = 1
    };
    for (uint32_t i = 0; i < machine->profile.count; i++) {
        const uint32_t number = machine->gpus[i].profile->number;

        if (number != own && multicast_has(multicast, number)) {
            out->gpu = i;
            return;
        }
    }
}

/* All have to have bound memory there. */
static cu_result copy_multicast_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct copy_args args;
    struct place src;
    struct place dst;
    uint64_t at = 0;

    memcpy(&args, op->words, sizeof args);
    struct multicast *const multicast = place_multicast(
        launch->machine, launch->context->gpu, args.dst, args.bytes, &at);

    if (multicast == NULL || args.dst % SM_VECTOR != 0 ||
        args.src % SM_VECTOR != 0 || !kernel_may_stamp(launch, args.stamps) ||
        kernel_reach(launch, args.src, args.bytes, &src) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    for (uint32_t i = 0; i < multicast_members(multicast); i++) {
        if (multicast_part(multicast, i, at, args.bytes) == NULL) {
            return CU_ERROR_ILLEGAL_ADDRESS;
        }
    }
    kernel_remember(launch, op);
    op->finish = copy_multicast_finish;
    find_far_member(launch, multicast, &dst);
    path_copy(launch->machine, launch->context->gpu, &dst, &src, args.bytes,
        BY_KERNEL, op);
    return CU_SUCCESS;
}

/* ---- Both ways ----------------------------------------------------------- */

static void split_finish(struct sim_op *op)
{
    struct split_args args;

    memcpy(&args, op->words, sizeof args);
    const uint64_t forward = SPLIT_FORWARD(args.bytes);

    const struct memory_map *const map = &sim_machine()->memory;

    for (uint64_t copy = 0; copy < args.copies; copy++) {
        const uint64_t dst = args.dst + copy * args.bytes;
        const uint64_t src = args.src + copy * args.bytes;

        contents_copy(map, dst, src, forward);
        contents_copy(map, src + forward, dst + forward, args.bytes - forward);
    }
    kernel_stamp(op, args.stamps);
}

static cu_result split_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct split_args args;
    struct place src;
    struct place dst;

    memcpy(&args, op->words, sizeof args);

    const uint64_t bytes = args.copies * args.bytes;

    if (kernel_reach_bytes(launch, args.src, bytes, &src) != CU_SUCCESS ||
        kernel_reach_bytes(launch, args.dst, bytes, &dst) != CU_SUCCESS ||
        !kernel_may_stamp(launch, args.stamps)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = split_finish;
    path_split(launch->machine, launch->context->gpu, &dst, &src, bytes, op);
    return CU_SUCCESS;
}

/* ---- One side ------------------------------------------------------------ */

static uint64_t sum_of(const uint8_t *memory, uint64_t bytes)
{
    uint64_t sum = 0;

    for (uint64_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        const uint64_t left = bytes - at;
        uint64_t word = 0;

        memcpy(&word, memory + at, left < sizeof word ? left : sizeof word);
        sum += word;
    }
    return sum;
}

/* A real kernel goes by what it is told. */
static int is_span_of(
    const struct vector_span *span, uint64_t address, uint64_t bytes)
{
    const struct vector_span right = vector_span_of(address, bytes);

    return span->lead == right.lead && span->vectors == right.vectors;
}

static void read_finish(struct sim_op *op)
{
    struct read_args args;

    memcpy(&args, op->words, sizeof args);
    *(uint64_t *)address_of(args.sums) +=
        contents_sum(&sim_machine()->memory, args.src, args.bytes);
    kernel_stamp(op, args.stamps);
}

static cu_result read_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct read_args args;
    struct place src;
    struct place sums;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach_bytes(launch, args.src, args.bytes, &src) != CU_SUCCESS ||
        kernel_reach(launch, args.sums, (uint64_t)SUM_SLOTS * SUM_STEP,
            &sums) != CU_SUCCESS ||
        !is_span_of(&args.span, args.src, args.bytes) ||
        !kernel_may_stamp(launch, args.stamps)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = read_finish;
    path_read(launch->machine, launch->context->gpu, &src, args.bytes, op);
    return CU_SUCCESS;
}

/* read_paced_args begin as read_args do. */
static cu_result read_paced_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct read_paced_args args;
    const cu_result result = read_plan(launch, op);
    const double blocks = (double)(launch->threads / SM_THREADS);

    memcpy(&args, op->words, sizeof args);
    if (result == CU_SUCCESS && args.pace_ns > 0) {
        const double rate = blocks * PACED_TILE / (double)args.pace_ns;

        op->load.limit = rate < op->load.limit ? rate : op->load.limit;
    }
    return result;
}

static void write_finish(struct sim_op *op)
{
    struct write_args args;

    memcpy(&args, op->words, sizeof args);
    contents_fill(&sim_machine()->memory, args.dst, args.bytes, args.key);
    kernel_stamp(op, args.stamps);
}

static cu_result write_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct write_args args;
    struct place dst;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach_bytes(launch, args.dst, args.bytes, &dst) != CU_SUCCESS ||
        !is_span_of(&args.span, args.dst, args.bytes) ||
        !kernel_may_stamp(launch, args.stamps)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = write_finish;
    path_write(launch->machine, launch->context->gpu, &dst, args.bytes, op);
    return CU_SUCCESS;
}

/* ---- Without memory ------------------------------------------------------ */

static void pattern_sum_finish(struct sim_op *op)
{
    struct pattern_sum_args args;

    memcpy(&args, op->words, sizeof args);
    const uint64_t whole = args.bytes / sizeof(uint64_t);
    const uint64_t left = args.bytes % sizeof(uint64_t);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < whole; i++) {
        sum += pattern_word(args.key, i);
    }
    if (left > 0) {
        const uint64_t last = pattern_word(args.key, whole);

        sum += sum_of((const uint8_t *)&last, left);
    }
    *(uint64_t *)address_of(args.sum) += sum;
}

static cu_result pattern_sum_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct pattern_sum_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    op->kind = SIM_OP_INSTANT;
    op->finish = pattern_sum_finish;
    return kernel_reach(launch, args.sum, sizeof(uint64_t), &place);
}

#define KERNEL(kernel, args)                                                   \
    { "nvbw_" #kernel, sizeof(struct args##_args), kernel##_plan },
const struct sim_kernel sim_kernels_sm[SIM_KERNELS_SM] = { SM_KERNELS(KERNEL) };
