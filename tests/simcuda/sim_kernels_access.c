/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Single accesses. Memory moves sectors of 32 bytes, whole ones, each once
 * where neighbouring accesses share it; what is accessed is real memory. */
#include <string.h>

#include "access_place.h"
#include "sim_contents.h"
#include "sim_kernels.h"

enum { WORD = sizeof(uint64_t), SECTOR = 32 };

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t element_of(const struct access_args *args, uint64_t number)
{
    return args->bits > 0 ? access_place(number, args->bits)
                          : number * args->step;
}

/* From the first byte that may be accessed to the last. */
static uint64_t span_of(const struct access_args *args)
{
    const uint64_t last =
        args->accesses > 0 ? (args->accesses - 1) * args->step : 0;

    return args->accesses > 0 ? (last + 1) * args->element : 0;
}

/* Bytes of the sectors of one side. Neighbours at a stride share sectors, those
 * at random places are taken not to. */
static uint64_t sectors_of(const struct access_args *args, uint64_t address)
{
    const uint64_t span = span_of(args);

    if (args->bits > 0 || args->step * args->element >= SECTOR) {
        return args->accesses * SECTOR;
    }
    return (address % SECTOR + span + SECTOR - 1) / SECTOR * SECTOR;
}

static struct access_args args_of(const struct sim_op *op)
{
    struct access_args args;

    memcpy(&args, op->words, sizeof args);
    return args;
}

/* ---- Copies -------------------------------------------------------------- */

static void access_copy_finish(struct sim_op *op)
{
    const struct access_args args = args_of(op);
    const struct memory_map *const map = &sim_machine()->memory;

    contents_touch(map, args.src, span_of(&args));
    contents_touch(map, args.dst, span_of(&args));
    for (uint64_t i = 0; i < args.accesses; i++) {
        const uint64_t at = element_of(&args, i) * args.element;

        memcpy(
            address_of(args.dst + at), address_of(args.src + at), args.element);
    }
    kernel_stamp(op, args.stamps);
}

static int is_shape(const struct access_args *args, uint64_t address)
{
    return (args->element == 4 || args->element == 8 || args->element == 16) &&
           args->step > 0 && address % args->element == 0 &&
           (args->bits == 0 ||
               (args->step == 1 && args->bits < 48 &&
                   args->accesses == UINT64_C(1) << args->bits));
}

static int reaches(const struct kernel_launch *launch,
    const struct access_args *args, uint64_t address, struct place *out)
{
    return is_shape(args, address) &&
           kernel_reach_bytes(launch, address, span_of(args), out) ==
               CU_SUCCESS &&
           kernel_may_stamp(launch, args->stamps);
}

cu_result access_copy_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    const struct access_args args = args_of(op);
    struct place src;
    struct place dst;

    if (!reaches(launch, &args, args.src, &src) ||
        !reaches(launch, &args, args.dst, &dst)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = access_copy_finish;
    path_copy(launch->machine, launch->context->gpu, &dst, &src,
        sectors_of(&args, args.dst), BY_KERNEL, op);
    return CU_SUCCESS;
}

/* ---- One side ------------------------------------------------------------ */

static uint64_t value_at(uint64_t address, uint64_t element)
{
    uint64_t words[2] = { 0, 0 };

    memcpy(words, address_of(address), element);
    return words[0] + words[1];
}

static void access_read_finish(struct sim_op *op)
{
    const struct access_args args = args_of(op);
    uint64_t sum = 0;

    contents_touch(&sim_machine()->memory, args.src, span_of(&args));
    for (uint64_t i = 0; i < args.accesses; i++) {
        sum += value_at(
            args.src + element_of(&args, i) * args.element, args.element);
    }
    *(uint64_t *)address_of(args.sums) += sum;
    kernel_stamp(op, args.stamps);
}

cu_result access_read_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    const struct access_args args = args_of(op);
    struct place src;
    struct place sums;

    if (!reaches(launch, &args, args.src, &src) ||
        kernel_reach(launch, args.sums, (uint64_t)SUM_SLOTS * SUM_STEP,
            &sums) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = access_read_finish;
    path_read(launch->machine, launch->context->gpu, &src,
        sectors_of(&args, args.src), op);
    return CU_SUCCESS;
}

static void write_element(const struct access_args *args, uint64_t element)
{
    const uint64_t at = element * args->element;
    const uint64_t words[2] = { args->key + at / WORD * ACCESS_STEP,
        args->key + (at / WORD + 1) * ACCESS_STEP };

    memcpy(address_of(args->dst + at), (const uint8_t *)words + at % WORD,
        args->element);
}

static void access_write_finish(struct sim_op *op)
{
    const struct access_args args = args_of(op);

    contents_touch(&sim_machine()->memory, args.dst, span_of(&args));
    for (uint64_t i = 0; i < args.accesses; i++) {
        write_element(&args, element_of(&args, i));
    }
    kernel_stamp(op, args.stamps);
}

cu_result access_write_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    const struct access_args args = args_of(op);
    struct place dst;

    if (!reaches(launch, &args, args.dst, &dst)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    op->finish = access_write_finish;
    path_write(launch->machine, launch->context->gpu, &dst,
        sectors_of(&args, args.dst), op);
    return CU_SUCCESS;
}

/* ---- What comes of them -------------------------------------------------- */

static uint64_t cut(uint64_t word, uint64_t bytes)
{
    return bytes >= WORD ? word : word & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static void access_compare_finish(struct sim_op *op)
{
    struct access_compare_args args;
    uint64_t wrong = 0;
    uint64_t first = UINT64_MAX;

    memcpy(&args, op->words, sizeof args);
    contents_touch(&sim_machine()->memory, args.memory, args.bytes);
    for (uint64_t at = 0; at < args.bytes; at += WORD) {
        const uint64_t left = args.bytes - at;
        uint64_t actual = 0;

        memcpy(&actual, address_of(args.memory + at),
            left < WORD ? left : (uint64_t)WORD);
        if (actual != cut(access_word(&args, at / WORD), left)) {
            first = wrong == 0 ? at : first;
            wrong++;
        }
    }
    *(uint64_t *)address_of(args.wrong) += wrong;
    if (first < *(uint64_t *)address_of(args.first)) {
        *(uint64_t *)address_of(args.first) = first;
    }
}

cu_result access_compare_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct access_compare_args args;
    struct place memory;
    struct place result;

    memcpy(&args, op->words, sizeof args);
    if (args.step == 0 ||
        kernel_reach_bytes(launch, args.memory, args.bytes, &memory) !=
            CU_SUCCESS ||
        kernel_reach(launch, args.wrong, WORD, &result) != CU_SUCCESS ||
        kernel_reach(launch, args.first, WORD, &result) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = access_compare_finish;
    path_read(launch->machine, launch->context->gpu, &memory, args.bytes, op);
    return CU_SUCCESS;
}

static void access_sum_finish(struct sim_op *op)
{
    struct access_sum_args args;
    uint64_t sum = 0;

    memcpy(&args, op->words, sizeof args);
    for (uint64_t at = 0; at < args.bytes; at += WORD) {
        const uint64_t index = at / WORD;
        const uint64_t word =
            cut(pattern_word(args.key, index), args.bytes - at) &
            access_mask(index, args.element, args.step);

        sum += args.element == 4 ? (word & UINT32_MAX) + (word >> 32) : word;
    }
    *(uint64_t *)address_of(args.sum) += sum;
}

cu_result access_sum_plan(const struct kernel_launch *launch, struct sim_op *op)
{
    struct access_sum_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    op->kind = SIM_OP_INSTANT;
    op->finish = access_sum_finish;
    return args.step == 0 ? (cu_result)CU_ERROR_ILLEGAL_ADDRESS
                          : kernel_reach(launch, args.sum, WORD, &place);
}
