/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The operations of STREAM and what stands in their arrays. Arrays that are
 * described stay so: what the operation makes of two descriptions that belong
 * together is a description too. All else is computed number by number. */
#include <string.h>

#include "numbers.h"
#include "sim_contents.h"
#include "sim_kernels.h"

enum { WORD = sizeof(uint64_t) };

struct stream_kind {
    enum number_form source, result;
    uint32_t has_third, has_dst;
    double (*make)(double b, double c);
};

static double make_copy(double b, double c)
{
    (void)c;
    return b;
}

static double make_scaled(double b, double c)
{
    (void)c;
    return NUMBERS_FACTOR * b;
}

static double make_sum(double b, double c)
{
    return b + c;
}

static double make_triad(double b, double c)
{
    return b + NUMBERS_FACTOR * c;
}

static double make_product(double b, double c)
{
    return b * c;
}

enum { KIND_COPY, KIND_SCALE, KIND_ADD, KIND_TRIAD, KIND_DOT };
static const struct stream_kind kinds[] = {
    [KIND_COPY] = { NUMBERS_WIDE, NUMBERS_WIDE, 0, 1, make_copy },
    [KIND_SCALE] = { NUMBERS_WIDE, NUMBERS_SCALED, 0, 1, make_scaled },
    [KIND_ADD] = { NUMBERS_WIDE, NUMBERS_ADDED, 1, 1, make_sum },
    [KIND_TRIAD] = { NUMBERS_WIDE, NUMBERS_TRIAD, 1, 1, make_triad },
    [KIND_DOT] = { NUMBERS_SMALL, NUMBERS_PRODUCT, 1, 0, make_product },
};

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static double number_at(uint64_t address, uint64_t index)
{
    double value;

    memcpy(&value, (const uint8_t *)address_of(address) + index * WORD, WORD);
    return value;
}

/* A part of the arrays that is described alike throughout, or is not. */
struct stretch {
    uint64_t at, bytes; /* from the begin of the arrays */
    int described;
    uint64_t key;
};

static uint64_t lesser(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static struct stretch stretch_at(
    const struct stream_kind *kind, const struct stream_args *args, uint64_t at)
{
    const struct memory_map *const map = &sim_machine()->memory;
    const struct extent src =
        contents_look(map, args->src + at, args->src + args->bytes);
    struct stretch found = { at, src.bytes, 0, src.value };
    const enum extent_kind wanted =
        (enum extent_kind)(EXTENT_NUMBERS + (int)kind->source);

    found.described = src.kind == wanted;
    if (kind->has_third) {
        const struct extent third =
            contents_look(map, args->third + at, args->third + args->bytes);

        found.bytes = lesser(found.bytes, third.bytes);
        found.described = found.described && third.kind == wanted &&
                          third.value == NUMBERS_THIRD(src.value);
    }
    return found;
}

static void touch_sources(const struct stream_kind *kind,
    const struct stream_args *args, const struct stretch *part)
{
    const struct memory_map *const map = &sim_machine()->memory;

    contents_touch(map, args->src + part->at, part->bytes);
    if (kind->has_third) {
        contents_touch(map, args->third + part->at, part->bytes);
    }
}

static double compute(const struct stream_kind *kind,
    const struct stream_args *args, const struct stretch *part, uint64_t index)
{
    const double c =
        kind->has_third ? number_at(args->third + part->at, index) : 0.0;

    return kind->make(number_at(args->src + part->at, index), c);
}

static void write_part(const struct stream_kind *kind,
    const struct stream_args *args, const struct stretch *part)
{
    const struct memory_map *const map = &sim_machine()->memory;
    const struct extent result = { .at = args->dst + part->at,
        .bytes = part->bytes,
        .kind = (enum extent_kind)(EXTENT_NUMBERS + (int)kind->result),
        .value = part->key };

    if (part->described) {
        contents_write(map, &result);
        return;
    }
    touch_sources(kind, args, part);
    contents_clear(map, result.at, part->bytes);
    for (uint64_t i = 0; i < part->bytes / WORD; i++) {
        const double value = compute(kind, args, part, i);

        memcpy((uint8_t *)address_of(result.at) + i * WORD, &value, WORD);
    }
}

static uint64_t sum_of_form(uint64_t bytes, uint64_t key, uint64_t form)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < bytes / WORD; i++) {
        sum += number_word(form, key, i);
    }
    return sum;
}

/* Every sample of a cell sums up the same. */
static uint64_t sum_again(uint64_t bytes, uint64_t key, uint64_t form)
{
    static uint64_t last_bytes, last_key, last_form, last_sum;

    if (bytes != last_bytes || key != last_key || form != last_form) {
        last_sum = sum_of_form(bytes, key, form);
        last_bytes = bytes;
        last_key = key;
        last_form = form;
    }
    return last_sum;
}

static uint64_t sum_part(const struct stream_kind *kind,
    const struct stream_args *args, const struct stretch *part)
{
    double sum = 0.0;

    if (part->described) {
        return sum_again(part->bytes, part->key, (uint64_t)kind->result);
    }
    touch_sources(kind, args, part);
    for (uint64_t i = 0; i < part->bytes / WORD; i++) {
        sum += compute(kind, args, part, i);
    }
    return (uint64_t)sum;
}

static void stream_finish(struct sim_op *op, const struct stream_kind *kind)
{
    struct stream_args args;
    uint64_t sum = 0;

    memcpy(&args, op->words, sizeof args);
    for (uint64_t at = 0; at < args.bytes;) {
        const struct stretch part = stretch_at(kind, &args, at);

        if (kind->has_dst) {
            write_part(kind, &args, &part);
        } else {
            sum += sum_part(kind, &args, &part);
        }
        at += part.bytes;
    }
    if (!kind->has_dst) {
        *(uint64_t *)address_of(args.sums) += args.laps * sum;
    }
    kernel_stamp(op, args.stamps);
}

static int reach(const struct kernel_launch *launch,
    const struct stream_kind *kind, const struct stream_args *args,
    struct place places[3])
{
    const uint64_t arrays[3] = { args->src,
        kind->has_third ? args->third : args->src,
        kind->has_dst ? args->dst : args->src };
    struct place sums;

    for (uint32_t i = 0; i < 3; i++) {
        if (arrays[i] % SM_VECTOR != 0 ||
            kernel_reach_bytes(launch, arrays[i], args->bytes, &places[i]) !=
                CU_SUCCESS) {
            return 0;
        }
    }
    return args->bytes % SM_VECTOR == 0 &&
           (kind->has_dst ||
               kernel_reach(launch, args->sums, (uint64_t)SUM_SLOTS * SUM_STEP,
                   &sums) == CU_SUCCESS) &&
           kernel_may_stamp(launch, args->stamps);
}

static int is_own(const struct kernel_launch *launch, const struct place *place)
{
    return place->kind == PLACE_DEVICE && place->gpu == launch->context->gpu;
}

/* Over a link the slowest array is what counts: one copy's worth of it. */
static void take_time(const struct kernel_launch *launch,
    const struct stream_kind *kind, const struct stream_args *args,
    const struct place places[3], struct sim_op *op)
{
    const uint32_t gpu = launch->context->gpu;
    const uint64_t arrays = UINT64_C(1) + kind->has_third + kind->has_dst;
    const uint64_t once = args->laps * args->bytes;

    if (is_own(launch, &places[0]) && is_own(launch, &places[1]) &&
        is_own(launch, &places[2])) {
        path_arrays(launch->machine, gpu, arrays * args->bytes, arrays * once,
            !kind->has_dst, op);
    } else if (kind->has_dst) {
        path_copy(
            launch->machine, gpu, &places[2], &places[0], once, BY_KERNEL, op);
    } else {
        path_read(launch->machine, gpu, &places[0], once, op);
    }
}

static cu_result stream_plan(const struct kernel_launch *launch,
    struct sim_op *op, const struct stream_kind *kind)
{
    struct stream_args args;
    struct place places[3];

    memcpy(&args, op->words, sizeof args);
    if (!reach(launch, kind, &args, places)) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    kernel_remember(launch, op);
    take_time(launch, kind, &args, places, op);
    return CU_SUCCESS;
}

#define STREAM(name, kind)                                                     \
    static void name##_finish(struct sim_op *op)                               \
    {                                                                          \
        stream_finish(op, &kinds[kind]);                                       \
    }                                                                          \
    cu_result name##_plan(                                                     \
        const struct kernel_launch *launch, struct sim_op *op)                 \
    {                                                                          \
        op->finish = name##_finish;                                            \
        return stream_plan(launch, op, &kinds[kind]);                          \
    }
STREAM(stream_copy, KIND_COPY)
STREAM(stream_scale, KIND_SCALE)
STREAM(stream_add, KIND_ADD)
STREAM(stream_triad, KIND_TRIAD)
STREAM(stream_dot, KIND_DOT)

/* ---- What stands in arrays ----------------------------------------------- */

static struct extent form_of(
    uint64_t memory, uint64_t bytes, uint64_t key, uint64_t form)
{
    const enum extent_kind kind =
        (enum extent_kind)(EXTENT_NUMBERS + (int)form);

    return (struct extent){
        .at = memory, .bytes = bytes, .kind = kind, .value = key
    };
}

static void numbers_fill_finish(struct sim_op *op)
{
    struct numbers_fill_args args;

    memcpy(&args, op->words, sizeof args);

    const struct extent extent =
        form_of(args.memory, args.bytes, args.key, args.form);

    contents_write(&sim_machine()->memory, &extent);
}

cu_result numbers_fill_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct numbers_fill_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    if (args.form >= NUMBER_FORMS || args.memory % WORD != 0 ||
        kernel_reach(launch, args.memory, args.bytes, &place) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = numbers_fill_finish;
    path_write(launch->machine, launch->context->gpu, &place, args.bytes, op);
    return CU_SUCCESS;
}

static void numbers_compare_finish(struct sim_op *op)
{
    struct numbers_compare_args args;
    struct pattern_fault fault = { .offset = UINT64_MAX };

    memcpy(&args, op->words, sizeof args);

    uint64_t *const wrong = address_of(args.wrong);
    uint64_t *const first = address_of(args.first);
    const struct extent extent =
        form_of(args.memory, args.bytes, args.key, args.form);
    const uint64_t count =
        contents_differ(&sim_machine()->memory, &extent, &fault);

    *wrong += count;
    if (count > 0 && fault.offset < *first) {
        *first = fault.offset;
    }
}

cu_result numbers_compare_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct numbers_compare_args args;
    struct place memory;
    struct place result;

    memcpy(&args, op->words, sizeof args);
    if (args.form >= NUMBER_FORMS || args.memory % WORD != 0 ||
        kernel_reach(launch, args.memory, args.bytes, &memory) != CU_SUCCESS ||
        kernel_reach(launch, args.wrong, WORD, &result) != CU_SUCCESS ||
        kernel_reach(launch, args.first, WORD, &result) != CU_SUCCESS) {
        return CU_ERROR_ILLEGAL_ADDRESS;
    }
    op->finish = numbers_compare_finish;
    path_read(launch->machine, launch->context->gpu, &memory, args.bytes, op);
    return CU_SUCCESS;
}

static void numbers_sum_finish(struct sim_op *op)
{
    struct numbers_sum_args args;

    memcpy(&args, op->words, sizeof args);
    *(uint64_t *)address_of(args.sum) +=
        sum_again(args.bytes, args.key, args.form);
}

cu_result numbers_sum_plan(
    const struct kernel_launch *launch, struct sim_op *op)
{
    struct numbers_sum_args args;
    struct place place;

    memcpy(&args, op->words, sizeof args);
    op->kind = SIM_OP_INSTANT;
    op->finish = numbers_sum_finish;
    return args.form >= NUMBER_FORMS
               ? (cu_result)CU_ERROR_ILLEGAL_ADDRESS
               : kernel_reach(launch, args.sum, WORD, &place);
}
