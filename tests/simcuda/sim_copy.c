/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies and memsets. The bytes are really moved, when virtual time has come
 * to the end of the copy. */
#include "sim_contents.h"
#include "sim_entry.h"
#include "sim_paths.h"
#include "sim_stream.h"

enum copy_word { COPY_DST, COPY_SRC, COPY_BYTES, COPY_NUMBER, COPY_PEER };

static void *address_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void move(struct sim_op *op)
{
    const struct sim_machine *machine = sim_machine();
    const uint64_t number = op->words[COPY_NUMBER];
    const uint64_t bytes = op->words[COPY_BYTES];
    uint8_t *const dst = address_of(op->words[COPY_DST]);

    if (faults_find(&machine->faults, FAULT_COPY_SKIP, NULL, number) != NULL ||
        (op->words[COPY_PEER] && faults_find(&machine->faults, FAULT_PEER_DROP,
                                     NULL, number) != NULL)) {
        return;
    }
    contents_copy(
        &machine->memory, op->words[COPY_DST], op->words[COPY_SRC], bytes);
    if (bytes > 0 &&
        faults_find(&machine->faults, FAULT_COPY_FLIP, NULL, number) != NULL) {
        contents_touch(&machine->memory, op->words[COPY_DST] + bytes / 2, 1);
        dst[bytes / 2] ^= 1;
    }
}

/* Which ends the caller says are on a device or on the host. */
enum side { SIDE_ANY, SIDE_DEVICE, SIDE_HOST };

static int side_is(enum side side, const struct place *place)
{
    if (place->strict && !place->accessible) {
        return 0;
    }
    return side == SIDE_ANY ||
           (side == SIDE_DEVICE
                   ? place->kind == PLACE_DEVICE ||
                         place->kind == PLACE_MANAGED || place->accessible
                   : place->kind != PLACE_DEVICE);
}

struct copy {
    uint64_t dst, src, bytes;
    enum side dst_side, src_side;
    int follows; /* another one of the same command */
};

static cu_result copy_enqueue(
    const struct copy *copy, struct CUstream_st *stream, int *out_blocks)
{
    struct sim_machine *machine = sim_machine();
    const uint32_t gpu = stream->context->gpu;
    struct place dst;
    struct place src;

    if (!place_find(machine, gpu, copy->dst, copy->bytes, &dst) ||
        !place_find(machine, gpu, copy->src, copy->bytes, &src) ||
        !side_is(copy->dst_side, &dst) || !side_is(copy->src_side, &src)) {
        return CU_ERROR_INVALID_VALUE;
    }
    struct sim_op *op = core_op_new();

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    path_copy(machine, gpu, &dst, &src, copy->bytes, BY_ENGINE, op);
    op->fixed_ns = copy->follows ? 0 : op->fixed_ns;
    op->words[COPY_DST] = copy->dst;
    op->words[COPY_SRC] = copy->src;
    op->words[COPY_BYTES] = copy->bytes;
    op->words[COPY_NUMBER] = segment_count(&machine->shared->copies);
    op->words[COPY_PEER] = dst.kind == PLACE_DEVICE &&
                           src.kind == PLACE_DEVICE && dst.gpu != src.gpu;
    op->finish = move;
    *out_blocks = path_blocks(&dst, &src);
    return stream_enqueue(stream, op);
}

static cu_result copy_async(
    const struct copy *copy, struct CUstream_st *handle, int blocks)
{
    struct CUstream_st *stream = NULL;
    int pageable = 0;
    cu_result result = stream_resolve(handle, &stream);

    if (result != CU_SUCCESS || copy->bytes == 0) {
        return result;
    }
    result = copy_enqueue(copy, stream, &pageable);
    if (result == CU_SUCCESS && (blocks || pageable)) {
        stream_wait_idle(stream);
        result = stream->context->sticky;
    }
    return result;
}

static cu_result copy_any(cu_address dst, cu_address src, size_t bytes,
    struct CUstream_st *stream, int blocks)
{
    const struct copy copy = { .dst = dst, .src = src, .bytes = bytes };

    return copy_async(&copy, stream, blocks);
}

static cu_result copy_down(cu_address dst, const void *src, size_t bytes,
    struct CUstream_st *stream, int blocks)
{
    const struct copy copy = { .dst = dst,
        .src = (uint64_t)(uintptr_t)src,
        .bytes = bytes,
        .dst_side = SIDE_DEVICE,
        .src_side = SIDE_HOST };

    return copy_async(&copy, stream, blocks);
}

static cu_result copy_up(void *dst, cu_address src, size_t bytes,
    struct CUstream_st *stream, int blocks)
{
    const struct copy copy = { .dst = (uint64_t)(uintptr_t)dst,
        .src = src,
        .bytes = bytes,
        .dst_side = SIDE_HOST,
        .src_side = SIDE_DEVICE };

    return copy_async(&copy, stream, blocks);
}

cu_result cuMemcpy(cu_address dst, cu_address src, size_t bytes)
{
    SIM_CALL(cuMemcpy, copy_any(dst, src, bytes, NULL, 1));
}

cu_result cuMemcpyHtoD(cu_address dst, const void *src, size_t bytes)
{
    SIM_CALL(cuMemcpyHtoD, copy_down(dst, src, bytes, NULL, 1));
}

cu_result cuMemcpyDtoH(void *dst, cu_address src, size_t bytes)
{
    SIM_CALL(cuMemcpyDtoH, copy_up(dst, src, bytes, NULL, 1));
}

cu_result cuMemcpyAsync(
    cu_address dst, cu_address src, size_t bytes, struct CUstream_st *stream)
{
    SIM_CALL(cuMemcpyAsync, copy_any(dst, src, bytes, stream, 0));
}

cu_result cuMemcpyHtoDAsync(
    cu_address dst, const void *src, size_t bytes, struct CUstream_st *stream)
{
    SIM_CALL(cuMemcpyHtoDAsync, copy_down(dst, src, bytes, stream, 0));
}

cu_result cuMemcpyDtoHAsync(
    void *dst, cu_address src, size_t bytes, struct CUstream_st *stream)
{
    SIM_CALL(cuMemcpyDtoHAsync, copy_up(dst, src, bytes, stream, 0));
}

cu_result cuMemcpyPeerAsync(cu_address dst, struct CUctx_st *dst_context,
    cu_address src, struct CUctx_st *src_context, size_t bytes,
    struct CUstream_st *stream)
{
    SIM_CALL(cuMemcpyPeerAsync, dst_context == NULL || src_context == NULL
                                    ? (cu_result)CU_ERROR_INVALID_CONTEXT
                                    : copy_any(dst, src, bytes, stream, 0));
}

/* All copies of a batch are one command, so only the first costs more than its
 * bytes. */
static cu_result copy_batch(const cu_address *dsts, const cu_address *srcs,
    const size_t *sizes, size_t count, struct CUstream_st *handle)
{
    cu_result result = CU_SUCCESS;

    for (size_t i = 0; i < count && result == CU_SUCCESS; i++) {
        const struct copy copy = {
            .dst = dsts[i], .src = srcs[i], .bytes = sizes[i], .follows = i > 0
        };

        result = copy_async(&copy, handle, 0);
    }
    return result;
}

cu_result cuMemcpyBatchAsync(cu_address *dsts, cu_address *srcs, size_t *sizes,
    size_t count, struct cu_copy_attributes *attributes, size_t *first,
    size_t attributes_count, size_t *out_failed, struct CUstream_st *stream)
{
    SIM_CALL(cuMemcpyBatchAsync,
        dsts == NULL || srcs == NULL || sizes == NULL || count == 0 ||
                attributes == NULL || first == NULL || attributes_count != 1 ||
                first[0] != 0 || attributes->source_order == 0 ||
                out_failed == NULL || stream == NULL
            ? (cu_result)CU_ERROR_INVALID_VALUE
            : copy_batch(dsts, srcs, sizes, count, stream));
}

/* ---- Memsets ------------------------------------------------------------- */

enum set_word { SET_DST, SET_VALUE, SET_COUNT, SET_WIDTH };

static void fill(struct sim_op *op)
{
    /* The value once for every place it has in a word. */
    const uint64_t times = op->words[SET_WIDTH] == 1
                               ? UINT64_C(0x0101010101010101)
                               : UINT64_C(0x0000000100000001);

    contents_repeat(&sim_machine()->memory, op->words[SET_DST],
        op->words[SET_COUNT] * op->words[SET_WIDTH],
        op->words[SET_VALUE] * times);
}

static cu_result set_async(cu_address dst, uint32_t value, size_t count,
    uint64_t width, struct CUstream_st *handle)
{
    struct sim_machine *machine = sim_machine();
    struct CUstream_st *stream = NULL;
    struct place place;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS || count == 0) {
        return resolved;
    }
    if (count > UINT64_MAX / width || dst % width != 0 ||
        !place_find(
            machine, stream->context->gpu, dst, count * width, &place) ||
        !place.accessible) {
        return CU_ERROR_INVALID_VALUE;
    }
    struct sim_op *op = core_op_new();

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    path_write(machine, stream->context->gpu, &place, count * width, op);
    op->words[SET_DST] = dst;
    op->words[SET_VALUE] = value;
    op->words[SET_COUNT] = count;
    op->words[SET_WIDTH] = width;
    op->finish = fill;
    return stream_enqueue(stream, op);
}

cu_result cuMemsetD8Async(cu_address dst, unsigned char value, size_t count,
    struct CUstream_st *stream)
{
    SIM_CALL(
        cuMemsetD8Async, set_async(dst, value, count, sizeof(uint8_t), stream));
}

cu_result cuMemsetD32Async(cu_address dst, unsigned int value, size_t count,
    struct CUstream_st *stream)
{
    SIM_CALL(cuMemsetD32Async,
        set_async(dst, value, count, sizeof(uint32_t), stream));
}
