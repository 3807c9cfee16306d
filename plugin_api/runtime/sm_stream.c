/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Flows of the operations of STREAM by kernels of the engine. As with STREAM
 * itself there is one set of arrays, which all copies of a sample go through,
 * so that its caches hold them if they can. Copies of small arrays are laps of
 * one kernel, or it would be launches that are measured; each copy of large
 * ones is a kernel that covers them once.
 *
 *   lay      the sources: numbers of the pattern, for all samples
 *   verify   the destination, which was poisoned after the warm-up, word by
 *            word; of dot the sum of all laps, as a whole number */
#include "cuda_session.h"
#include "flow.h"
#include "numbers.h"
#include "sm_flow.h"

enum {
    LAPS_MOST = 1 << 16 /* the shortest take a tenth of a microsecond */
};
/* Larger ones take so long that a kernel's start is a part in a thousand. */
#define JOINED_MOST (UINT64_C(256) << 20)

struct stream_operation {
    uint32_t kernel;
    enum number_form source, result;
};
static const struct stream_operation operations[] = {
    [NVBW_OP_STREAM_COPY] = { SM_KERNEL_stream_copy, NUMBERS_WIDE,
        NUMBERS_WIDE },
    [NVBW_OP_SCALE] = { SM_KERNEL_stream_scale, NUMBERS_WIDE, NUMBERS_SCALED },
    [NVBW_OP_ADD] = { SM_KERNEL_stream_add, NUMBERS_WIDE, NUMBERS_ADDED },
    [NVBW_OP_TRIAD] = { SM_KERNEL_stream_triad, NUMBERS_WIDE, NUMBERS_TRIAD },
    [NVBW_OP_DOT] = { SM_KERNEL_stream_dot, NUMBERS_SMALL, NUMBERS_PRODUCT },
};

static const struct stream_operation *operation_of(const struct cuda_flow *flow)
{
    return &operations[flow->run->record.operation];
}

static int is_joined(const struct cuda_flow *flow)
{
    return flow->run->record.bytes <= JOINED_MOST;
}

static cu_address src_of(const struct cuda_flow *flow)
{
    return flow->run->src->device + slices_src_offset(flow, 0);
}

static cu_address third_of(const struct cuda_flow *flow)
{
    return flow->run->third == NULL
               ? 0
               : flow->run->third->device + slices_src_offset(flow, 0);
}

static cu_address dst_of(const struct cuda_flow *flow)
{
    return flow->run->dst == NULL
               ? 0
               : flow->run->dst->device + slices_dst_offset(flow, 0);
}

/* ---- Opening ------------------------------------------------------------- */

static int32_t skip_small(const struct flow_record *record, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED,
        "arrays of %llu bytes: the operations of STREAM take %d at a time",
        (unsigned long long)record->bytes, SM_VECTOR);
    if (err != NULL) {
        err->code = NVBW_SKIP_MEMORY;
    }
    return NVBW_E_SKIPPED;
}

static int32_t open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct flow_record *const record = &flow->run->record;

    FAIL_IF(record->element != 0 && record->element != SM_VECTOR, err,
        NVBW_E_INVALID,
        "initiator %s moves %d bytes at a time, not %u; give the flow a kernel "
        "of its own for that",
        flow->initiator->name, SM_VECTOR, record->element);
    FAIL_IF(record->stride != 0 || record->offset % SM_VECTOR != 0, err,
        NVBW_E_INVALID,
        "operations of STREAM go through all of an array, from a multiple of "
        "%d bytes on",
        SM_VECTOR);
    if (record->bytes < SM_VECTOR) {
        return skip_small(record, err);
    }
    record->bytes -= record->bytes % SM_VECTOR;
    return sm_open_kernel(cuda, flow, operation_of(flow)->kernel, err);
}

static void bounds(const struct cuda_session *cuda,
    const struct cuda_flow *flow, uint64_t *least, uint64_t *most)
{
    (void)cuda;
    (void)least;
    if (is_joined(flow)) {
        *most = LAPS_MOST;
    }
}

/* ---- Sources ------------------------------------------------------------- */

static int32_t fill(const struct cuda_flow *flow, cu_address memory,
    uint64_t key, struct error *err)
{
    struct numbers_fill_args args = { memory, flow->run->record.bytes, key,
        operation_of(flow)->source };

    return sm_launch_over(flow, SM_KERNEL_numbers_fill, &args, err);
}

/* What one lap of dot adds, worked out without memory. */
static int32_t expect_sum(const struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    struct numbers_sum_args args = { flow->run->record.bytes,
        contents_key(flow, 0), NUMBERS_PRODUCT, sm->sums };

    return sm_sum_once(flow, SM_KERNEL_numbers_sum, &args, err);
}

static int32_t lay(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct flow_run *const run = flow->run;

    FAIL_IF(
        run->src->device == 0 || (run->dst != NULL && run->dst->device == 0),
        err, NVBW_E_INVALID,
        "operations of STREAM by a GPU need memory that the GPU can address");
    run->src->content = 0;
    flow->epochs[0] = ++cuda->engine->epoch;

    const uint64_t key = contents_key(flow, 0);

    TRY(gpu_use(flow->gpu, err));
    TRY(fill(flow, src_of(flow), key, err));
    if (run->third != NULL) {
        run->third->content = 0;
        TRY(fill(flow, third_of(flow), NUMBERS_THIRD(key), err));
    }
    TRY(sm_wait(flow->gpu, "filling arrays", err));
    return run->record.operation == NVBW_OP_DOT ? expect_sum(flow, err)
                                                : NVBW_OK;
}

/* ---- Samples ------------------------------------------------------------- */

/* Laps go round the part of a block, so all blocks are to be there at once. */
static uint64_t blocks_of(const struct cuda_flow *flow, uint64_t laps)
{
    const struct sm_flow *const sm = flow->state;
    const uint32_t units = flow->gpu->facts->units;
    const uint64_t at_once = (uint64_t)sm->resident * units / sm->sharing;
    const uint64_t blocks = sm_blocks_of(sm->kernel, sm->path,
        flow->run->record.bytes, sm->resident, units, sm->sharing);

    return laps > 1 && blocks > at_once && at_once > 0 ? at_once : blocks;
}

static int32_t launch(const struct cuda_flow *flow, uint64_t number,
    uint64_t laps, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    struct stream_args args = { dst_of(flow), src_of(flow), third_of(flow),
        flow->run->record.bytes, laps,
        number == COPY_WARM_UP ? sm->spare_sums : sm->sums,
        sm_stamps_of(sm, number) };

    return gpu_launch_sm(
        flow->gpu, sm->kernel, flow->stream, &args, blocks_of(flow, laps), err);
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const uint64_t laps = first != COPY_WARM_UP && is_joined(flow) ? count : 1;

    (void)cuda;
    for (uint64_t i = 0; i < count; i += laps) {
        TRY(launch(flow, first == COPY_WARM_UP ? first : first + i, laps, err));
    }
    return NVBW_OK;
}

/* ---- Results ------------------------------------------------------------- */

static int32_t compare(
    const struct cuda_flow *flow, struct finding *out, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    struct numbers_compare_args args = { dst_of(flow), flow->run->record.bytes,
        contents_key(flow, 0), operation_of(flow)->result, sm->sums,
        sm->sums + sizeof(uint64_t) };

    return sm_compare(flow, SM_KERNEL_numbers_compare, &args, out, err);
}

static int32_t verify_result(
    struct cuda_session *cuda, const struct cuda_flow *flow, struct error *err)
{
    struct finding finding = { 0 };

    TRY(compare(flow, &finding, err));
    finding.first.expected = number_word(operation_of(flow)->result,
        contents_key(flow, 0), finding.first.offset / sizeof(uint64_t));
    verify_tell(cuda, flow, &finding);
    return NVBW_OK;
}

static int32_t verify(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    TRY(gpu_use(flow->gpu, err));
    return flow->run->record.operation == NVBW_OP_DOT
               ? sm_verify_sum(
                     cuda, flow, flow_counted_bytes(&flow->run->record), err)
               : verify_result(cuda, flow, err);
}

const struct initiator streamer_sm = {
    .name = "sm",
    .operations = 1u << NVBW_OP_STREAM_COPY | 1u << NVBW_OP_SCALE |
                  1u << NVBW_OP_ADD | 1u << NVBW_OP_TRIAD | 1u << NVBW_OP_DOT,
    .open = open_flow,
    .bounds = bounds,
    .lay = lay,
    .enqueue = enqueue,
    .begin = sm_begin,
    .stamps = sm_get_stamps,
    .verify = verify,
    .close = sm_close_flow,
};
