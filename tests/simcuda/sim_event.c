/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Events: moments by the clock of their context's GPU. */
#include <math.h>
#include <stdlib.h>

#include "sim_entry.h"
#include "sim_machine.h"
#include "sim_stream.h"

enum { EVENT_FLAGS_ALL = 7 };

static int is_known(const struct CUevent_st *handle)
{
    for (const struct CUevent_st *event = sim_machine()->events; event != NULL;
         event = event->next) {
        if (event == handle) {
            return 1;
        }
    }
    return 0;
}

static cu_result create(struct CUevent_st **out, unsigned int flags)
{
    struct sim_machine *machine = sim_machine();

    if (out == NULL || flags > EVENT_FLAGS_ALL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (sim_current() == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    struct CUevent_st *event = calloc(1, sizeof *event);

    if (event == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    event->context = sim_current();
    event->flags = flags;
    event->users = 1;
    event->next = machine->events;
    machine->events = event;
    *out = event;
    return CU_SUCCESS;
}

cu_result cuEventCreate(struct CUevent_st **out, unsigned int flags)
{
    SIM_CALL(cuEventCreate, create(out, flags));
}

/* Operations in streams keep an event after its handle is gone. */
static void release(struct CUevent_st *event)
{
    if (--event->users == 0) {
        free(event);
    }
}

static cu_result destroy(struct CUevent_st *handle)
{
    struct sim_machine *machine = sim_machine();

    for (struct CUevent_st **at = &machine->events; *at != NULL;
         at = &(*at)->next) {
        if (*at == handle) {
            *at = handle->next;
            release(handle);
            return CU_SUCCESS;
        }
    }
    return CU_ERROR_INVALID_HANDLE;
}

cu_result cuEventDestroy(struct CUevent_st *event)
{
    SIM_CALL(cuEventDestroy, destroy(event));
}

static void op_drop(struct sim_op *op)
{
    release(op->subject);
}

static struct sim_op *op_make(struct CUevent_st *event)
{
    struct sim_op *op = core_op_new();

    if (op != NULL) {
        op->subject = event;
        op->words[0] = event->recorded;
        op->drop = op_drop;
        event->users++;
    }
    return op;
}

static void note_moment(struct sim_op *op)
{
    const struct sim_machine *machine = sim_machine();
    struct CUevent_st *event = op->subject;
    const double resolution = machine->profile.event_resolution_ns;
    const double clock = sim_gpu_clock(
        &machine->gpus[event->context->gpu], core_now(machine->core));

    event->completed = op->words[0];
    event->time_ns =
        resolution > 0 ? floor(clock / resolution) * resolution : clock;
}

static cu_result record(struct CUevent_st *event, struct CUstream_st *handle)
{
    struct CUstream_st *stream = NULL;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (!is_known(event) || event->context != stream->context) {
        return CU_ERROR_INVALID_HANDLE;
    }
    event->recorded++;
    struct sim_op *op = op_make(event);

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    op->kind = SIM_OP_INSTANT;
    op->finish = note_moment;
    return stream_enqueue(stream, op);
}

cu_result cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    SIM_CALL(cuEventRecord, record(event, stream));
}

static int has_happened(struct sim_op *op)
{
    const struct CUevent_st *event = op->subject;

    return event->completed >= op->words[0];
}

static cu_result wait_for(struct CUstream_st *handle, struct CUevent_st *event)
{
    struct CUstream_st *stream = NULL;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (!is_known(event)) {
        return CU_ERROR_INVALID_HANDLE;
    }
    struct sim_op *op = op_make(event);

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    op->kind = SIM_OP_WATCH;
    op->over = has_happened;
    return stream_enqueue(stream, op);
}

cu_result cuStreamWaitEvent(
    struct CUstream_st *stream, struct CUevent_st *event, unsigned int flags)
{
    SIM_CALL(cuStreamWaitEvent, flags > 1 ? (cu_result)CU_ERROR_INVALID_VALUE
                                          : wait_for(stream, event));
}

static cu_result query(struct CUevent_st *event)
{
    if (!is_known(event)) {
        return CU_ERROR_INVALID_HANDLE;
    }
    if (event->completed < event->recorded) {
        core_step(sim_machine()->core);
    }
    if (event->context->sticky != 0) {
        return event->context->sticky;
    }
    return event->completed < event->recorded ? (cu_result)CU_ERROR_NOT_READY
                                              : (cu_result)CU_SUCCESS;
}

cu_result cuEventQuery(struct CUevent_st *event)
{
    SIM_CALL(cuEventQuery, query(event));
}

static int is_over(void *arg)
{
    const struct CUevent_st *const event = arg;

    return event->context->sticky != 0 || event->completed >= event->recorded;
}

static cu_result synchronize(struct CUevent_st *event)
{
    if (!is_known(event)) {
        return CU_ERROR_INVALID_HANDLE;
    }
    sim_wait(is_over, event);
    return event->context->sticky;
}

cu_result cuEventSynchronize(struct CUevent_st *event)
{
    SIM_CALL(cuEventSynchronize, synchronize(event));
}

static cu_result elapsed(
    float *out_ms, struct CUevent_st *start, struct CUevent_st *end)
{
    if (out_ms == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (!is_known(start) || !is_known(end) || start->context != end->context ||
        start->recorded == 0 || end->recorded == 0 ||
        ((start->flags | end->flags) & CU_EVENT_HAS_NO_TIMING) != 0) {
        return CU_ERROR_INVALID_HANDLE;
    }
    if (start->completed < start->recorded || end->completed < end->recorded) {
        return CU_ERROR_NOT_READY;
    }
    *out_ms = (float)((end->time_ns - start->time_ns) * 1e-6);
    return CU_SUCCESS;
}

cu_result cuEventElapsedTime(
    float *out_ms, struct CUevent_st *start, struct CUevent_st *end)
{
    SIM_CALL(cuEventElapsedTime, elapsed(out_ms, start, end));
}
