/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Copies, reads and writes by kernels of the engine. */
#include <stdlib.h>

#include "cuda_session.h"
#include "sm_flow.h"

#define JOINED_LEAST (UINT64_C(128) << 20)

enum {
    SUMS_BYTES = SUM_SLOTS * SUM_STEP,
    STAMPS_BYTES = SM_STAMPS * (int)sizeof(struct stamp)
};

/* Flows of this initiator on the same GPU: they share its blocks. */
static uint32_t count_sharing(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    const struct flow_record *const own = &flow->run->record;
    uint32_t count = 0;

    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct flow_record *const other = &cuda->session->flows[i].record;

        count += other->initiator == own->initiator &&
                 other->executor == own->executor;
    }
    return count;
}

static int32_t check_flow(const struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;

    FAIL_IF(record->element != 0 && record->element != SM_VECTOR, err,
        NVBW_E_INVALID,
        "initiator %s moves %d bytes at a time, not %u; give the flow a kernel "
        "of its own for that",
        flow->initiator->name, SM_VECTOR, record->element);
    FAIL_IF(record->stride != 0, err, NVBW_E_INVALID,
        "initiator %s has no strided access; give the flow a kernel of its "
        "own for that",
        flow->initiator->name);
    return NVBW_OK;
}

static int32_t count_resident(
    const struct cuda_flow *flow, struct sm_flow *sm, struct error *err)
{
    const struct gpu *const gpu = flow->gpu;
    int resident = 0;

    CUDA_TRY(gpu->api, err,
        gpu->api->occupancy(&resident, gpu->sm_kernels[sm->kernel],
            (int)gpu_sm_threads(sm->kernel), 0),
        "GPU %d: resident blocks of a kernel are not told", gpu->facts->index);
    sm->resident = resident > 0 ? (uint32_t)resident : 1;
    return NVBW_OK;
}

int32_t sm_open_kernel(struct cuda_session *cuda, struct cuda_flow *flow,
    uint32_t kernel, struct error *err)
{
    struct gpu *const gpu = flow->gpu;
    struct sm_flow *const sm = arena_alloc(cuda->session->arena, 1, sizeof *sm);

    FAIL_IF(sm == NULL, err, NVBW_E_SYSTEM, "no memory for a flow");
    flow->state = sm;
    sm->sharing = count_sharing(cuda, flow);
    sm->path = sm_path_of(cuda->session->facts, &flow->run->record);
    sm->kernel = kernel;
    TRY(gpu_need_sm(gpu, err));
    TRY(count_resident(flow, sm, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->memory_alloc(&sm->room, 2 * SUMS_BYTES + STAMPS_BYTES),
        "GPU %d: no memory for sums", gpu->facts->index);
    sm->sums = sm->room;
    sm->spare_sums = sm->room + SUMS_BYTES;
    sm->stamps = sm->room + (uint64_t)2 * SUMS_BYTES;
    return NVBW_OK;
}

int32_t sm_open_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct flow_record *const record = &flow->run->record;

    TRY(check_flow(flow, err));
    if (record->dst_memory == NVBW_MEM_MULTICAST) {
        TRY(gpu_need_hopper(flow->gpu, "stores to multicast memory", err));
        return sm_open_kernel(cuda, flow, SM_KERNEL_copy_multicast, err);
    }
    return sm_open_kernel(cuda, flow,
        sm_kernel_of(record->initiator, record->operation,
            sm_path_of(cuda->session->facts, record),
            count_sharing(cuda, flow)),
        err);
}

void sm_close_flow(struct cuda_session *cuda, struct cuda_flow *flow)
{
    const struct sm_flow *const sm = flow->state;

    (void)cuda;
    if (sm != NULL && sm->room != 0) {
        flow->gpu->api->memory_free(sm->room);
    }
}

uint64_t sm_stamps_of(const struct sm_flow *sm, uint64_t number)
{
    const uint64_t slot = number < SM_STAMPS - 1 ? number : SM_STAMPS - 1;

    return sm->stamps + slot * sizeof(struct stamp);
}

static uint64_t src_of(const struct cuda_flow *flow, uint64_t number)
{
    return flow->run->src->device + slices_src_offset(flow, number);
}

static uint64_t dst_of(const struct cuda_flow *flow, uint64_t number)
{
    return flow->run->dst->device + slices_dst_offset(flow, number);
}

/* The arguments of one kernel, of whichever kind, for `joined` copies: of those
 * that can_join allows more than one. */
union sm_args {
    struct copy_args copy;
    struct split_args split;
    struct read_args read;
    struct write_args write;
};

static void copy_args(const struct cuda_flow *flow, uint64_t number,
    uint64_t joined, union sm_args *out)
{
    const struct sm_flow *const sm = flow->state;

    out->copy = (struct copy_args){ dst_of(flow, number), src_of(flow, number),
        joined * slices_bytes(flow, number), sm_stamps_of(sm, number) };
}

static void split_args(const struct cuda_flow *flow, uint64_t number,
    uint64_t joined, union sm_args *out)
{
    const struct sm_flow *const sm = flow->state;

    out->split =
        (struct split_args){ dst_of(flow, number), src_of(flow, number),
            slices_bytes(flow, number), joined, sm_stamps_of(sm, number) };
}

static void read_args(const struct cuda_flow *flow, uint64_t number,
    uint64_t joined, union sm_args *out)
{
    const struct sm_flow *const sm = flow->state;

    (void)joined;

    const uint64_t src = src_of(flow, number);
    const uint64_t bytes = slices_bytes(flow, number);

    out->read = (struct read_args){ src, bytes,
        number == COPY_WARM_UP ? sm->spare_sums : sm->sums,
        sm_stamps_of(sm, number), vector_span_of(src, bytes) };
}

static void write_args(const struct cuda_flow *flow, uint64_t number,
    uint64_t joined, union sm_args *out)
{
    const struct sm_flow *const sm = flow->state;

    (void)joined;

    const uint64_t dst = dst_of(flow, number);
    const uint64_t bytes = slices_bytes(flow, number);

    out->write = (struct write_args){ dst, bytes,
        contents_key(flow, slices_src_number(flow, number)),
        sm_stamps_of(sm, number), vector_span_of(dst, bytes) };
}

typedef void sm_args_fn(const struct cuda_flow *flow, uint64_t number,
    uint64_t joined, union sm_args *out);
static sm_args_fn *const operations[] = {
    [NVBW_OP_COPY] = copy_args,
    [NVBW_OP_READ] = read_args,
    [NVBW_OP_WRITE] = write_args,
    [NVBW_OP_SPLIT] = split_args,
};

/* A kernel's start and end cost some 10 us, so large copies whose slices lie
 * one behind the other on both sides are one kernel's: their figure is to be
 * the link's. That of small ones is what each of them costs. Not where flows
 * share the GPU, since stamps tell copies apart there; and what a WRITE puts
 * into a slice depends on the slice. */
static int can_join(const struct cuda_flow *flow, uint64_t number)
{
    const struct sm_flow *const sm = flow->state;
    const struct flow_run *const run = flow->run;
    const uint64_t bytes = run->record.bytes;

    return (run->record.operation == NVBW_OP_COPY ||
               run->record.operation == NVBW_OP_SPLIT) &&
           sm->sharing == 1 && bytes >= JOINED_LEAST &&
           slices_src_offset(flow, number + 1) ==
               slices_src_offset(flow, number) + bytes &&
           slices_dst_offset(flow, number + 1) ==
               slices_dst_offset(flow, number) + bytes;
}

/* How many of `count` copies from `first` on one kernel takes. */
static uint64_t count_joined(
    const struct cuda_flow *flow, uint64_t first, uint64_t count)
{
    uint64_t joined = 1;

    while (first != COPY_WARM_UP && joined < count &&
           can_join(flow, first + joined - 1)) {
        joined++;
    }
    return joined;
}

int32_t sm_enqueue(struct cuda_session *cuda, struct cuda_flow *flow,
    uint64_t first, uint64_t count, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    uint64_t joined = 1;

    (void)cuda;
    for (uint64_t i = 0; i < count; i += joined) {
        const uint64_t number = first == COPY_WARM_UP ? first : first + i;
        union sm_args args;

        joined = count_joined(flow, number, count - i);
        operations[flow->run->record.operation](flow, number, joined, &args);

        const uint64_t blocks = sm_blocks_of(sm->kernel, sm->path,
            joined * slices_bytes(flow, number), sm->resident,
            flow->gpu->facts->units, sm->sharing);

        TRY(gpu_launch_sm(
            flow->gpu, sm->kernel, flow->stream, &args, blocks, err));
    }
    return NVBW_OK;
}

int32_t sm_begin(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct sm_flow *const sm = flow->state;
    const struct gpu *const gpu = flow->gpu;

    (void)cuda;
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(
            sm->room, 0, (2 * SUMS_BYTES + STAMPS_BYTES) / 4, gpu->stream),
        "GPU %d: sums of a sample", gpu->facts->index);
    return gpu_wait(
        gpu, gpu->stream, SM_LIMIT_NS, "clearing the sums of a sample", err);
}

int32_t sm_get_stamps(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct stamp **out_stamps, uint64_t *out_count, struct error *err)
{
    struct sm_flow *const sm = flow->state;
    const struct gpu *const gpu = flow->gpu;

    (void)cuda;
    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(sm->stamps_read, sm->stamps, sizeof sm->stamps_read),
        "GPU %d: start stamps of a flow", gpu->facts->index);
    *out_stamps = sm->stamps_read;
    *out_count = flow->copies < SM_STAMPS - 1 ? flow->copies : SM_STAMPS - 1;
    return NVBW_OK;
}

const struct initiator initiator_sm = {
    .name = "sm",
    .operations = 1u << NVBW_OP_COPY | 1u << NVBW_OP_READ |
                  1u << NVBW_OP_WRITE | 1u << NVBW_OP_SPLIT,
    .open = sm_open_flow,
    .enqueue = sm_enqueue,
    .begin = sm_begin,
    .stamps = sm_get_stamps,
    .verify = sm_verify_read,
    .close = sm_close_flow,
};
