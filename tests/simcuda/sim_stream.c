/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_stream.h"

#include <stdlib.h>

#include "sim_entry.h"
#include "sim_paths.h"

enum { LANES_PER_GPU = 64, LEGACY_LANE = 63, WAIT_AND = 2, WAIT_NOR = 3 };

#define WAIT_FLUSH (1U << 30)

static struct CUstream_st *stream_make(
    struct CUctx_st *context, uint32_t lane, uint32_t flags)
{
    struct sim_machine *machine = sim_machine();
    struct CUstream_st *stream = calloc(1, sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    stream->context = context;
    stream->queue = core_stream_open(machine->core, context->gpu,
        context->gpu * LANES_PER_GPU + lane, flags);
    if (stream->queue == NULL) {
        free(stream);
        return NULL;
    }
    stream->next = machine->streams;
    machine->streams = stream;
    return stream;
}

static int is_known(const struct CUstream_st *handle)
{
    for (const struct CUstream_st *stream = sim_machine()->streams;
         stream != NULL; stream = stream->next) {
        if (stream == handle) {
            return 1;
        }
    }
    return 0;
}

cu_result stream_resolve(struct CUstream_st *handle, struct CUstream_st **out)
{
    struct CUctx_st *context = sim_current();

    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (handle != NULL) {
        *out = handle;
        return is_known(handle) ? CU_SUCCESS : CU_ERROR_INVALID_HANDLE;
    }
    if (context->legacy == NULL) {
        context->legacy = stream_make(context, LEGACY_LANE, SIM_STREAM_LEGACY);
    }
    *out = context->legacy;
    return *out != NULL ? CU_SUCCESS : CU_ERROR_OUT_OF_MEMORY;
}

static int has_room(void *arg)
{
    const struct CUstream_st *stream = arg;
    const struct sim_machine *machine = sim_machine();

    return stream->context->sticky != 0 ||
           core_lane_depth(machine->core, stream->queue) <
               machine->profile.queue_depth;
}

/* For this process. */
static void lose(struct sim_machine *machine, struct sim_gpu *gpu)
{
    gpu->lost = 1;
    gpu->context.sticky = CU_ERROR_UNKNOWN;
    for (struct CUstream_st *stream = machine->streams; stream != NULL;
         stream = stream->next) {
        if (stream->context == &gpu->context) {
            core_stream_hang(stream->queue);
        }
    }
}

static void strike(struct sim_machine *machine, struct CUstream_st *stream)
{
    struct sim_gpu *gpu = &machine->gpus[stream->context->gpu];

    struct segment_gpu *shared = &machine->shared->gpus[gpu->context.gpu];
    const uint64_t number = segment_count(&machine->shared->operations);
    const uint64_t operations = segment_count(&shared->operations);

    if (faults_find(&machine->faults, FAULT_STREAM_HANG, NULL, number) !=
        NULL) {
        core_stream_hang(stream->queue);
    }
    if (!gpu->lost && faults_of_gpu(&machine->faults, FAULT_GPU_LOST,
                          gpu->context.gpu, operations) > 0) {
        __atomic_store_n(&shared->lost, 1, __ATOMIC_RELAXED);
        lose(machine, gpu);
    }
}

static void discard(struct sim_op *op)
{
    if (op->drop != NULL) {
        op->drop(op);
    }
    free(op);
}

cu_result stream_enqueue(struct CUstream_st *stream, struct sim_op *op)
{
    struct sim_machine *machine = sim_machine();

    strike(machine, stream);
    if (!has_room(stream)) {
        sim_wait(has_room, stream);
    }
    if (stream->context->sticky != 0) {
        discard(op);
        return stream->context->sticky;
    }
    core_enqueue(machine->core, stream->queue, op);
    return CU_SUCCESS;
}

static int stream_is_idle(void *arg)
{
    const struct CUstream_st *stream = arg;

    return stream->context->sticky != 0 || core_stream_idle(stream->queue);
}

void stream_wait_idle(struct CUstream_st *stream)
{
    sim_wait(stream_is_idle, stream);
}

/* ---- Calls --------------------------------------------------------------- */

static cu_result create(struct CUstream_st **out, unsigned int flags)
{
    struct CUctx_st *context = sim_current();

    if (out == NULL || flags > CU_STREAM_IS_NON_BLOCKING) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    /* More streams than connections share them. */
    const uint32_t lane = context->streams_made++ % sim_machine()->connections;

    *out = stream_make(context, lane,
        flags == CU_STREAM_IS_NON_BLOCKING ? 0 : SIM_STREAM_BLOCKING);
    return *out != NULL ? CU_SUCCESS : CU_ERROR_OUT_OF_MEMORY;
}

cu_result cuStreamCreate(struct CUstream_st **out, unsigned int flags)
{
    SIM_CALL(cuStreamCreate, create(out, flags));
}

static cu_result destroy(struct CUstream_st *handle)
{
    struct sim_machine *machine = sim_machine();

    for (struct CUstream_st **at = &machine->streams; *at != NULL;
         at = &(*at)->next) {
        if (*at != handle || handle == handle->context->legacy) {
            continue;
        }
        /* The real one returns at once and lets the work end by itself. */
        stream_wait_idle(handle);
        *at = handle->next;
        core_stream_close(machine->core, handle->queue);
        free(handle);
        return CU_SUCCESS;
    }
    return CU_ERROR_INVALID_HANDLE;
}

cu_result cuStreamDestroy(struct CUstream_st *stream)
{
    SIM_CALL(cuStreamDestroy, destroy(stream));
}

static cu_result query(struct CUstream_st *handle)
{
    struct CUstream_st *stream = NULL;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (!core_stream_idle(stream->queue)) {
        core_step(sim_machine()->core);
    }
    if (stream->context->sticky != 0) {
        return stream->context->sticky;
    }
    return core_stream_idle(stream->queue) ? CU_SUCCESS : CU_ERROR_NOT_READY;
}

cu_result cuStreamQuery(struct CUstream_st *stream)
{
    SIM_CALL(cuStreamQuery, query(stream));
}

static cu_result synchronize(struct CUstream_st *handle)
{
    struct CUstream_st *stream = NULL;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    stream_wait_idle(stream);
    return stream->context->sticky;
}

cu_result cuStreamSynchronize(struct CUstream_st *stream)
{
    SIM_CALL(cuStreamSynchronize, synchronize(stream));
}

/* ---- Words in memory ----------------------------------------------------- */

static volatile uint32_t *word_of(const struct sim_op *op)
{
    return (volatile uint32_t *)(uintptr_t)op->words[0];
}

static void write_word(struct sim_op *op)
{
    __atomic_store_n(word_of(op), (uint32_t)op->words[1], __ATOMIC_RELEASE);
}

static int word_arrived(struct sim_op *op)
{
    const uint32_t value = (uint32_t)op->words[1];
    const uint32_t word = __atomic_load_n(word_of(op), __ATOMIC_ACQUIRE);

    switch (op->words[2]) {
    case CU_WAIT_GEQ:
        return (int32_t)(word - value) >= 0;
    case CU_WAIT_EQ:
        return word == value;
    case WAIT_AND:
        return (word & value) != 0;
    default:
        return ~(word | value) != 0;
    }
}

static cu_result enqueue_word(struct CUstream_st *handle, cu_address address,
    uint32_t value, unsigned int flags, int waits)
{
    struct sim_machine *machine = sim_machine();
    struct CUstream_st *stream = NULL;
    struct place place;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (address % sizeof(uint32_t) != 0 ||
        !place_find(
            machine, stream->context->gpu, address, sizeof(uint32_t), &place) ||
        !place.accessible || place.kind == PLACE_PAGEABLE) {
        return CU_ERROR_INVALID_VALUE;
    }
    struct sim_op *op = core_op_new();

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    op->words[0] = address;
    op->words[1] = value;
    op->words[2] = flags & ~WAIT_FLUSH;
    op->kind = waits ? SIM_OP_WATCH : SIM_OP_INSTANT;
    op->over = waits ? word_arrived : NULL;
    op->finish = waits ? NULL : write_word;
    return stream_enqueue(stream, op);
}

cu_result cuStreamWaitValue32(struct CUstream_st *stream, cu_address address,
    uint32_t value, unsigned int flags)
{
    SIM_CALL(cuStreamWaitValue32,
        (flags & ~WAIT_FLUSH) > WAIT_NOR
            ? (cu_result)CU_ERROR_INVALID_VALUE
            : enqueue_word(stream, address, value, flags, 1));
}

cu_result cuStreamWriteValue32(struct CUstream_st *stream, cu_address address,
    uint32_t value, unsigned int flags)
{
    SIM_CALL(cuStreamWriteValue32,
        flags > 1 ? (cu_result)CU_ERROR_INVALID_VALUE
                  : enqueue_word(stream, address, value, flags, 0));
}
