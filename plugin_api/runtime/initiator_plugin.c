/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Flows that a plugin moves itself: its enqueue puts the work on the engine's
 * stream, its verify looks at what came of it. */
#include <inttypes.h>

#include "cuda_session.h"

enum { SCRATCH_BYTES = 64 << 10 };

static const uint64_t scratch_limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;

/* By flow->state: where the plugin's scratch memory is. */
static cu_address scratch_of(const struct cuda_flow *flow)
{
    const cu_address *const scratch = flow->state;

    return *scratch;
}

static int32_t open_scratch(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct gpu *const gpu = flow->gpu;
    cu_address *const scratch =
        arena_alloc(cuda->session->arena, 1, sizeof *scratch);

    FAIL_IF(scratch == NULL, err, NVBW_E_SYSTEM, "no memory for a flow");
    CUDA_TRY(gpu->api, err, gpu->api->memory_alloc(scratch, SCRATCH_BYTES),
        "GPU %d: no scratch memory for a plugin", gpu->facts->index);
    flow->state = scratch;
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(*scratch, 0, SCRATCH_BYTES / 4, gpu->stream),
        "GPU %d: scratch memory cannot be set", gpu->facts->index);
    return gpu_wait(
        gpu, gpu->stream, scratch_limit_ns, "clearing scratch memory", err);
}

static void close_scratch(struct cuda_session *cuda, struct cuda_flow *flow)
{
    (void)cuda;
    if (flow->state != NULL) {
        flow->gpu->api->memory_free(scratch_of(flow));
    }
}

static uint64_t address_of(const struct buffer *buffer, uint64_t offset)
{
    if (buffer == NULL) {
        return 0;
    }
    return (buffer->device != 0 ? buffer->device
                                : (uint64_t)(uintptr_t)buffer->host) +
           offset;
}

static struct nvbw_work make_work(
    const struct cuda_flow *flow, uint64_t first, uint64_t count)
{
    const struct flow_run *const run = flow->run;
    const uint64_t has_steps = flow->slices > 1;
    const struct nvbw_work work = {
        .size = sizeof work,
        .stream = flow->stream,
        .src = address_of(run->src, slices_src_offset(flow, first)),
        .dst = address_of(run->dst, slices_dst_offset(flow, first)),
        .src_step = has_steps && run->src != NULL ? run->src_step : 0,
        .dst_step = has_steps && run->dst != NULL ? run->dst_step : 0,
        .bytes = run->record.bytes,
        .repeats = count,
        .scratch = scratch_of(flow),
        .user = run->given->user,
    };

    return work;
}

/* A status that a plugin's function returned, as an error with words. */
static int32_t judge_status(
    const char *function, int32_t status, struct error *err)
{
    if (status == NVBW_OK) {
        return NVBW_OK;
    }
    FAIL_IF(status > 0 || status == NVBW_E_SKIPPED, err, NVBW_E_INVALID,
        "%s returned %d; it returns NVBW_OK or an error", function, status);
    return error_set(err, status, "the plugin's %s returned %s", function,
        status_name(status));
}

static int32_t enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const struct nvbw_work work = make_work(flow, first, count);
    const int32_t status =
        flow->run->given->enqueue(cuda->session->request->ctx, &work);

    TRY(judge_status("enqueue", status, err));
    return gpu_use(flow->gpu, err);
}

/* Only copies leave behind what the host can compare by itself. */
static int is_plain_copy(const struct cuda_flow *flow)
{
    return flow->run->given->operation == NVBW_OP_COPY &&
           flow->run->src != NULL && flow->run->dst != NULL;
}

static int32_t verify(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct nvbw_flow *const given = flow->run->given;

    if (given->verify == NULL) {
        return is_plain_copy(flow) ? verify_copies(cuda, flow, err) : NVBW_OK;
    }
    TRY(gpu_use(flow->gpu, err));

    const struct nvbw_work work = make_work(flow, 0, flow->copies);
    const int32_t status = given->verify(cuda->session->request->ctx, &work);
    const struct finding finding = {
        .bytes = flow->run->record.bytes * (flow->single ? 1 : flow->copies),
    };

    TRY(judge_status("verify", status, err));
    verify_tell(cuda, flow, &finding);
    return NVBW_OK;
}

const struct initiator initiator_plugin = {
    .name = "plugin",
    .operations = UINT32_MAX,
    .own_slices = 1,
    .open = open_scratch,
    .enqueue = enqueue,
    .verify = verify,
    .close = close_scratch,
};
