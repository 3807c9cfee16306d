/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_kernels.h"

#include <string.h>

#include "args.h"
#include "pattern.h"
#include "sim_contents.h"
#include "sim_paths.h"

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

cu_result kernel_reach_bytes(const struct kernel_launch *launch,
    uint64_t address, uint64_t bytes, struct place *out)
{
    return place_find(
               launch->machine, launch->context->gpu, address, bytes, out) &&
                   out->accessible
               ? (cu_result)CU_SUCCESS
               : (cu_result)CU_ERROR_ILLEGAL_ADDRESS;
}

cu_result kernel_reach(const struct kernel_launch *launch, uint64_t address,
    uint64_t bytes, struct place *out)
{
    const cu_result result = kernel_reach_bytes(launch, address, bytes, out);

    return result != CU_SUCCESS || address % sizeof(uint32_t) == 0
               ? result
               : (cu_result)CU_ERROR_MISALIGNED_ADDRESS;
}

/* ---- Gate ---------------------------------------------------------------- */

static struct gate_args gate_args_of(const struct sim_op *op)
{
    struct gate_args args;

    memcpy(&args, op->words, sizeof args);
    return args;
}

static int gate_is_open(struct sim_op *op)
{
    const struct gate_args args = gate_args_of(op);
    const uint32_t *const release = address_of(args.release);

    return __atomic_load_n(release, __ATOMIC_ACQUIRE) != 0;
}

static void gate_finish(struct sim_op *op)
{
    const struct gate_args args = gate_args_of(op);
    uint32_t *const outcome = address_of(args.outcome);

    __atomic_store_n(outcome,
        op->timed_out ? (uint32_t)GATE_TIMED_OUT : (uint32_t)GATE_RELEASED,
        __ATOMIC_RELEASE);
}

static cu_result gate_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    const struct gate_args args = gate_args_of(op);
    struct place place;
    const cu_result result =
        kernel_reach(launch, args.release, sizeof(uint32_t), &place);

    if (result != CU_SUCCESS) {
        return result;
    }
    op->kind = SIM_OP_WATCH;
    op->over = gate_is_open;
    op->finish = gate_finish;
    /* No time at all still is a moment. */
    op->limit_ns = args.limit_ns > 0 ? (double)args.limit_ns : 1;
    return kernel_reach(launch, args.outcome, sizeof(uint32_t), &place);
}

/* ---- Pattern ------------------------------------------------------------- */

static void fill_finish(struct sim_op *op)
{
    struct fill_args args;

    memcpy(&args, op->words, sizeof args);
    contents_fill(&sim_machine()->memory, args.memory, args.bytes, args.key);
}

static void poison_finish(struct sim_op *op)
{
    struct poison_args args;

    memcpy(&args, op->words, sizeof args);
    contents_repeat(&sim_machine()->memory, args.memory, args.bytes, args.word);
}

/* What is stored there is lost on the way. */
static int is_lost(
    const struct kernel_launch *launch, const struct place *place)
{
    return place->kind == PLACE_DEVICE && place->gpu != launch->context->gpu &&
           faults_find(&launch->machine->faults, FAULT_PEER_DROP, NULL, 1) !=
               NULL;
}

/* fill_args and poison_args begin alike. */
static cu_result write_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct fill_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    const cu_result result =
        kernel_reach_bytes(launch, args.memory, args.bytes, &place);

    if (result == CU_SUCCESS) {
        path_write(
            launch->machine, launch->context->gpu, &place, args.bytes, op);
        op->finish = is_lost(launch, &place) ? NULL : op->finish;
    }
    return result;
}

static cu_result fill_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    op->finish = fill_finish;
    return write_plan(launch, op);
}

static cu_result poison_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    op->finish = poison_finish;
    return write_plan(launch, op);
}

static void compare_finish(struct sim_op *op)
{
    struct compare_args args;
    struct pattern_fault fault = { .offset = UINT64_MAX };

    memcpy(&args, op->words, sizeof args);
    uint64_t *const wrong = address_of(args.wrong);
    uint64_t *const first = address_of(args.first);
    const uint64_t count = contents_compare(
        &sim_machine()->memory, args.memory, args.bytes, args.key, &fault);

    *wrong += count;
    if (count > 0 && fault.offset < *first) {
        *first = fault.offset;
    }
}

static cu_result read_plan(const struct kernel_launch *launch, uint64_t memory,
    uint64_t bytes, struct sim_op *op)
{
    struct place place;
    const cu_result result = kernel_reach_bytes(launch, memory, bytes, &place);

    if (result == CU_SUCCESS) {
        path_read(launch->machine, launch->context->gpu, &place, bytes, op);
    }
    return result;
}

static cu_result compare_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct compare_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach(launch, args.wrong, sizeof(uint64_t), &place) !=
            CU_SUCCESS ||
        kernel_reach(launch, args.first, sizeof(uint64_t), &place) !=
            CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = compare_finish;
    return read_plan(launch, args.memory, args.bytes, op);
}

static void sum_finish(struct sim_op *op)
{
    struct sum_args args;

    memcpy(&args, op->words, sizeof args);
    *(uint64_t *)address_of(args.sum) +=
        contents_sum(&sim_machine()->memory, args.memory, args.bytes);
}

static cu_result sum_plan(const struct kernel_launch *launch, struct sim_op *op)
{
    struct sum_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    if (kernel_reach(launch, args.sum, sizeof(uint64_t), &place) !=
        CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = sum_finish;
    return read_plan(launch, args.memory, args.bytes, op);
}

/* Takes no argument and does nothing: what a launch itself takes. */
static cu_result empty_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    const struct sim_gpu *const gpu =
        &launch->machine->gpus[launch->context->gpu];

    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = gpu->profile->kernel_us * 1e3;
    return CU_SUCCESS;
}

#define KERNEL(kernel)                                                         \
    { "nvbw_" #kernel, sizeof(struct kernel##_args), kernel##_plan },

static const struct sim_kernel kernels[] = { ENGINE_KERNELS(KERNEL){
    "nvbw_empty", 0, empty_plan } };

static const struct sim_kernel *find(
    const struct sim_kernel *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

const struct sim_kernel *kernel_find(const char *name)
{
    const struct sim_kernel *found =
        find(kernels, sizeof kernels / sizeof kernels[0], name);

    if (found == NULL) {
        found = find(sim_kernels_sm, SIM_KERNELS_SM, name);
    }
    return found != NULL ? found
                         : find(sim_kernels_chase, SIM_KERNELS_CHASE, name);
}
