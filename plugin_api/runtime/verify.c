/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Did every byte arrive? Compared where the bytes are: by the GPU that owns
 * them or reaches them, by the CPU where no GPU can. */
#include <string.h>

#include "cuda_session.h"
#include "pattern.h"

/* Results of up to so many slices at once, first all counts, then all first
 * offsets. */
enum { RESULTS = 256, RESULT_BYTES = RESULTS * 8 };

static const uint64_t verify_limit_ns = UINT64_C(60) * 1000 * 1000 * 1000;

static int32_t reset_results(const struct gpu *gpu, struct error *err)
{
    const cu_address room = gpu->room + GPU_ROOM_RESULTS;

    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(room, 0, RESULT_BYTES / 4, gpu->stream),
        "GPU %d: results of a comparison", gpu->facts->index);
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(
            room + RESULT_BYTES, UINT32_MAX, RESULT_BYTES / 4, gpu->stream),
        "GPU %d: results of a comparison", gpu->facts->index);
    return NVBW_OK;
}

static int32_t fetch_results(
    struct cuda_session *cuda, const struct gpu *gpu, struct error *err)
{
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up_async(cuda->engine->page + PAGE_RESULTS,
            gpu->room + GPU_ROOM_RESULTS, (size_t)2 * RESULT_BYTES,
            gpu->stream),
        "GPU %d: results of a comparison", gpu->facts->index);
    return gpu_wait(
        gpu, gpu->stream, verify_limit_ns, "comparing buffers", err);
}

void verify_range(
    const struct cuda_flow *flow, uint64_t *out_first, uint64_t *out_count)
{
    *out_count = flow->slices < flow->copies ? flow->slices : flow->copies;
    *out_first = flow->copies - *out_count;
}

static uint64_t key_of(
    const struct way *way, const struct cuda_flow *flow, uint64_t copy)
{
    return way_key(flow, way, way_from_slice(flow, way, copy));
}

static int32_t read_word(const struct buffer *dst, const struct gpu *gpu,
    uint64_t offset, uint64_t bytes, uint64_t *out, struct error *err)
{
    const uint64_t size = bytes < sizeof *out ? bytes : sizeof *out;

    *out = 0;
    if (dst->kind->on_host) {
        memcpy(out, (const unsigned char *)dst->host + offset, size);
        return NVBW_OK;
    }
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(out, buffer_contents(dst) + offset, size),
        "GPU %d: a wrong word cannot be read", gpu->facts->index);
    return NVBW_OK;
}

static int32_t note(const struct cuda_flow *flow, const struct way *way,
    const struct gpu *gpu, uint64_t copy, uint64_t wrong, uint64_t first,
    struct finding *finding, struct error *err)
{
    finding->bytes += way->bytes;
    if (wrong == 0) {
        return NVBW_OK;
    }
    if (finding->wrong == 0) {
        finding->first.offset = way->begin + first;
        finding->first.expected =
            pattern_word(key_of(way, flow, copy), first / 8);
        TRY(read_word(way->to, gpu, way_to_at(flow, way, copy) + first,
            way->bytes - first, &finding->first.actual, err));
    }
    finding->wrong += wrong;
    return NVBW_OK;
}

static int32_t launch_compare(const struct cuda_flow *flow,
    const struct way *way, const struct gpu *gpu, struct error *err)
{
    const cu_address room = gpu->room + GPU_ROOM_RESULTS;
    uint64_t first;
    uint64_t count;

    verify_range(flow, &first, &count);
    TRY(gpu_use(gpu, err));
    TRY(reset_results(gpu, err));
    for (uint64_t i = 0; i < count; i++) {
        struct compare_args args = {
            .memory =
                buffer_contents(way->to) + way_to_at(flow, way, first + i),
            .bytes = way->bytes,
            .key = key_of(way, flow, first + i),
            .wrong = room + 8 * (i % RESULTS),
            .first = room + RESULT_BYTES + 8 * (i % RESULTS),
        };

        TRY(gpu_launch(
            gpu, GPU_KERNEL_compare, gpu->stream, &args, args.bytes, err));
    }
    return NVBW_OK;
}

static int32_t compare_by_gpu(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct way *way, const struct gpu *gpu, struct finding *finding,
    struct error *err)
{
    const uint64_t *const results =
        (const void *)(cuda->engine->page + PAGE_RESULTS);
    const uint32_t is_launched = flow->comparing;
    uint64_t first;
    uint64_t count;

    flow->comparing = 0;
    if (!is_launched) {
        TRY(launch_compare(flow, way, gpu, err));
    }
    TRY(gpu_use(gpu, err));
    verify_range(flow, &first, &count);
    TRY(fetch_results(cuda, gpu, err));
    for (uint64_t i = 0; i < count; i++) {
        TRY(note(flow, way, gpu, first + i, results[i % RESULTS],
            results[RESULTS + i % RESULTS], finding, err));
    }
    return NVBW_OK;
}

static int32_t compare_by_cpu(const struct cuda_flow *flow,
    const struct way *way, struct finding *finding, struct error *err)
{
    uint64_t first;
    uint64_t count;

    verify_range(flow, &first, &count);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t offset = way_to_at(flow, way, first + i);
        struct pattern_fault fault = { 0 };
        const uint64_t wrong =
            pattern_compare((const unsigned char *)way->to->host + offset,
                way->bytes, key_of(way, flow, first + i), &fault);

        TRY(note(flow, way, flow->gpu, first + i, wrong, fault.offset, finding,
            err));
    }
    return NVBW_OK;
}

static void add_finding(const struct cuda_flow *flow,
    const struct finding *finding, struct record *record)
{
    record->verified = flow->single ? "last copy" : "all";
    record->verified_bytes += finding->bytes;
    if (finding->wrong > 0 && record->mismatches == 0) {
        record->mismatch_offset = finding->first.offset;
        record->mismatch_expected = finding->first.expected;
        record->mismatch_actual = finding->first.actual;
    }
    record->mismatches += finding->wrong;
}

/* Whom it concerns: the flow's own cells and the total. Wrong bytes of a flow
 * without a cell concern every cell that it was there for. */
void verify_tell(struct cuda_session *cuda, const struct cuda_flow *flow,
    const struct finding *finding)
{
    const struct session *const session = cuda->session;
    const int has_cell = flow->run->cell >= 0 || flow->run->reverse >= 0;

    for (uint32_t i = 0; i < session->targets_count; i++) {
        const int own = (int32_t)i == flow->run->cell ||
                        (int32_t)i == flow->run->reverse ||
                        target_totals(&session->targets[i], flow->run);

        if (own || (!has_cell && finding->wrong > 0 &&
                       session->targets[i].part == flow->run->part)) {
            add_finding(flow, finding, session->targets[i].record);
        }
    }
}

void verify_doubt(const struct cuda_flow *flow)
{
    if (flow->run->src != NULL) {
        flow->run->src->content = 0;
    }
    if (flow->run->dst != NULL) {
        flow->run->dst->content = 0;
    }
}

static int32_t verify_way(struct cuda_session *cuda, struct cuda_flow *flow,
    const struct way *way, struct finding *finding, struct error *err)
{
    if (way->bytes == 0 || way->to == NULL) {
        return NVBW_OK;
    }

    const struct gpu *const gpu = contents_owner(cuda, flow, way->to);

    if (!team_owns(cuda, gpu)) {
        return NVBW_OK; /* that rank compares */
    }
    return gpu != NULL ? compare_by_gpu(cuda, flow, way, gpu, finding, err)
                       : compare_by_cpu(flow, way, finding, err);
}

int32_t verify_copies(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    struct way ways[WAYS];
    const uint32_t count = ways_of(flow, ways);
    struct finding finding = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        TRY(verify_way(cuda, flow, &ways[i], &finding, err));
    }
    if (finding.wrong > 0) {
        verify_doubt(flow);
    }
    verify_tell(cuda, flow, &finding);
    return NVBW_OK;
}

static int has_own_verify(const struct cuda_flow *flow)
{
    const struct initiator *const by = flow->initiator;

    return by->verify != NULL &&
           (by->own_slices || by->lay != NULL || flow->run->dst == NULL);
}

static int32_t verify_flow(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    if (has_own_verify(flow)) {
        return team_owns(cuda, flow->gpu)
                   ? flow->initiator->verify(cuda, flow, err)
                   : NVBW_OK;
    }
    return flow->run->dst != NULL ? verify_copies(cuda, flow, err) : NVBW_OK;
}

static int32_t verify_all(
    struct cuda_session *cuda, uint32_t background, struct error *err)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (cuda->flows[i].background == background) {
            TRY(verify_flow(cuda, &cuda->flows[i], err));
        }
    }
    return NVBW_OK;
}

/* The GPU that compares what arrived, or NULL. */
static const struct gpu *comparer_of(
    const struct cuda_session *cuda, const struct cuda_flow *flow)
{
    return flow->background || flow->run->dst == NULL || has_own_verify(flow)
               ? NULL
               : contents_owner(cuda, flow, flow->run->dst);
}

static int has_split(const struct cuda_session *cuda)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        if (cuda->flows[i].run->record.operation == NVBW_OP_SPLIT) {
            return 1;
        }
    }
    return 0;
}

/* GPUs compare at the same time: each begins with the first of its flows.
 * Their results have room for one comparison, so others wait. */
static int32_t launch_first(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];
        const struct gpu *const gpu = comparer_of(cuda, flow);
        struct way ways[WAYS];
        uint32_t before = 0;

        while (before < i && comparer_of(cuda, &cuda->flows[before]) != gpu) {
            before++;
        }
        if (gpu != NULL && team_owns(cuda, gpu) && before == i &&
            ways_of(flow, ways) == 1 && ways[0].bytes > 0) {
            TRY(launch_compare(flow, &ways[0], gpu, err));
            flow->comparing = 1;
        }
    }
    return NVBW_OK;
}

int32_t verify_counted(struct cuda_session *cuda, struct error *err)
{
    if (cuda->all_count - cuda->background_count > 1 && !has_split(cuda)) {
        TRY(launch_first(cuda, err));
    }
    return verify_all(cuda, 0, err);
}

int32_t verify_background(struct cuda_session *cuda, struct error *err)
{
    return verify_all(cuda, 1, err);
}
