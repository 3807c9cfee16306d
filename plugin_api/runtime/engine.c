/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "driver_codes.h"
#include "engine_state.h"
#include "flow.h"
#include "peers.h"
#include "session_build.h"
#include "state.h"

int32_t engine_open(
    const struct engine_setup *setup, struct engine **out, struct error *err)
{
    const uint32_t count = setup->facts->gpus_count;
    struct engine *const engine = calloc(1, sizeof *engine);
    int32_t status;

    FAIL_IF(engine == NULL, err, NVBW_E_SYSTEM, "no memory for the engine");
    engine->setup = *setup;
    engine->facts = setup->facts;
    engine->gpus = calloc(count + 1, sizeof *engine->gpus);
    if (engine->gpus == NULL) {
        status = error_set(
            err, NVBW_E_SYSTEM, "no memory for an engine of %u GPUs", count);
        goto free_engine;
    }
    for (uint32_t i = 0; i < count; i++) {
        engine->gpus[i] = (struct gpu){ .api = &engine->api,
            .facts = &setup->facts->gpus[i],
            .position = i,
            .device = -1 };
    }
    status = buffer_pool_open(setup->pool_limit_bytes, &engine->pool, err);
    if (status < 0) {
        goto free_gpus;
    }
    *out = engine;
    return NVBW_OK;

free_gpus:
    free(engine->gpus);
free_engine:
    free(engine);
    return status;
}

/* A poisoned driver is left alone: the process ends soon. */
static void close_driver(struct engine *engine)
{
    if (engine->poisoned) {
        return;
    }
    buffer_pool_close(engine->pool);
    if (engine->page != NULL) {
        engine->api.host_free(engine->page);
    }
    for (uint32_t i = 0; i < engine->facts->gpus_count; i++) {
        gpu_close(&engine->gpus[i]);
    }
}

void engine_close(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    close_driver(engine);
    for (uint32_t i = 0; i < engine->facts->gpus_count; i++) {
        free(engine->gpus[i].peers);
    }
    free(engine->gpus);
    free(engine);
}

static int32_t need_library(struct engine *engine, struct error *err)
{
    if (!engine->api_opened) {
        TRY(cuda_open(engine->setup.driver_file, &engine->api, err));
        clock_use(engine->api.sim_now);
        engine->api_opened = 1;
    }
    return NVBW_OK;
}

/* GPUs of other hosts may have the addresses of ours. */
static void forget_far_gpus(struct engine *engine)
{
    const struct peers *const peers = engine->setup.peers;

    for (uint32_t i = 0; peers != NULL && i < peers->ranks; i++) {
        if (!peers_are_near(peers, i, peers->rank)) {
            engine->gpus[i].device = -1;
            engine->gpus[i].exchanged = 0;
        }
    }
}

static int32_t need_driver(struct engine *engine, struct error *err)
{
    TRY(need_library(engine, err));
    if (!engine->api_started) {
        TRY(cuda_start(&engine->api, err));
        TRY(gpu_find_devices(engine->gpus, engine->facts->gpus_count, err));
        forget_far_gpus(engine);
        engine->api_started = 1;
    }
    return NVBW_OK;
}

/* The context of the GPU opened last is current. */
static int32_t need_page(struct engine *engine, struct error *err)
{
    void *page = NULL;

    if (engine->page != NULL) {
        return NVBW_OK;
    }
    CUDA_TRY(&engine->api, err,
        engine->api.host_alloc(
            &page, PAGE_BYTES, CU_HOST_ALLOC_PORTABLE | CU_HOST_ALLOC_MAPPED),
        "no page-locked memory for the engine");
    memset(page, 0, PAGE_BYTES);
    CUDA_TRY(&engine->api, err,
        engine->api.host_address(&engine->page_address, page, 0),
        "page-locked memory has no device address");
    engine->page = page;
    engine->words = page;
    return NVBW_OK;
}

int32_t engine_need_gpus(struct engine *engine, const uint32_t *positions,
    uint32_t count, struct error *err)
{
    if (engine->facts->gpus_count == 0 || count == 0) {
        error_set(err, NVBW_E_SKIPPED, "no GPU is selected");
        if (err != NULL) {
            err->code = NVBW_SKIP_NO_DEVICE;
        }
        return NVBW_E_SKIPPED;
    }
    TRY(need_driver(engine, err));
    TRY(gpu_open_all(
        engine->gpus, engine->facts->gpus_count, positions, count, err));
    TRY(gpu_use(&engine->gpus[positions[0]], err));
    return need_page(engine, err);
}

int32_t engine_gpu(struct engine *engine, int32_t position, struct gpu **out,
    struct error *err)
{
    FAIL_IF(engine == NULL || position < 0 ||
                (uint32_t)position >= engine->facts->gpus_count,
        err, NVBW_E_INVALID, "there is no GPU at position %d", position);

    const uint32_t wanted = (uint32_t)position;

    if (!engine->gpus[wanted].ready) {
        TRY(engine_need_gpus(engine, &wanted, 1, err));
    }
    *out = &engine->gpus[wanted];
    return NVBW_OK;
}

/* Time that GPUs have beside those that are needed now. */
static const uint64_t later_limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;

static void open_ahead(struct engine *engine, struct gpu_positions later)
{
    for (uint32_t i = 0; i < later.count; i++) {
        if (later.list[i] < engine->facts->gpus_count) {
            gpu_open_ahead(&engine->gpus[later.list[i]]);
        }
    }
}

static void await_ahead(struct engine *engine, struct gpu_positions later)
{
    const uint64_t until_ns = clock_machine_ns() + later_limit_ns;

    for (uint32_t i = 0; i < later.count; i++) {
        if (later.list[i] < engine->facts->gpus_count) {
            gpu_await_ahead(&engine->gpus[later.list[i]], until_ns);
        }
    }
}

/* On a simulated machine one after another, so that the driver's calls have
 * one order. */
void engine_wake_gpus(struct engine *engine, struct gpu_positions needed,
    struct gpu_positions later)
{
    struct error err = { 0 };

    engine->wake_trouble = (struct error){ 0 };
    if (engine->setup.peers != NULL) {
        return; /* open since the team was formed */
    }
    if (engine->facts->gpus_count > 0 && need_driver(engine, &err) < 0) {
        engine->wake_trouble = err;
        return;
    }
    if (!engine->facts->simulated) {
        open_ahead(engine, later);
    }
    if (engine_need_gpus(engine, needed.list, needed.count, &err) < 0) {
        engine->wake_trouble = err;
        return;
    }
    for (uint32_t i = 0; engine->facts->simulated && i < later.count; i++) {
        const struct gpu_positions one = { &later.list[i], 1 };

        open_ahead(engine, one);
        await_ahead(engine, one);
    }
    await_ahead(engine, later);
    gpu_use(&engine->gpus[needed.list[0]], NULL);
}

static int32_t need_gpus_of(
    struct engine *engine, const struct session *session, struct error *err)
{
    const struct error trouble = engine->wake_trouble;

    engine->wake_trouble = (struct error){ 0 };
    if (trouble.status < 0) {
        *err = trouble;
        return trouble.status;
    }
    for (uint32_t i = 0;
         engine->setup.peers == NULL && i < session->targets_count; i++) {
        const struct record *const record = session->targets[i].record;

        TRY(engine_need_gpus(engine, record->gpus, record->gpus_count, err));
    }
    return NVBW_OK;
}

/* A team that lost a rank is of no use any more either. */
void engine_note_poison(
    struct engine *engine, int32_t status, const struct error *err)
{
    if (status == PEERS_E_LOST) {
        engine->poisoned = 1;
    }
    if (status == NVBW_E_CUDA &&
        (driver_code_is_sticky(err->code) || err->code == CU_ERROR_TIMEOUT)) {
        engine->poisoned = 1;
    }
}

static int32_t run_session(
    struct engine *engine, struct session *session, struct error *err)
{
    struct error local = { 0 };
    int32_t status = session_choose(session, &local);

    session->engine = engine;
    session->pool = engine->pool;
    session->epoch = (uint32_t)engine->epoch;
    if (status >= 0 && engine->poisoned && session->backend == &backend_cuda) {
        settle_session(session, STATE_ERROR, "poisoned", NULL);
        return NVBW_OK;
    }
    if (status >= 0 && session->backend == &backend_cuda) {
        status = need_gpus_of(engine, session, &local);
        engine_note_poison(engine, status, &local);
    }
    if (status < 0) {
        settle_failed(session, &local);
        return NVBW_OK;
    }
    return sampler_run(session, err);
}

int32_t engine_measure(struct engine *engine,
    const struct measure_request *request, struct arena *arena,
    struct measure_result *out, struct error *err)
{
    const uint64_t begin_ns = clock_machine_ns();
    struct session *const session = arena_alloc(arena, 1, sizeof *session);

    FAIL_IF(session == NULL, err, NVBW_E_SYSTEM, "no memory for a session");
    TRY(engine_record_only(engine->facts, request, arena, out, err));
    if (out->records_count == 0) {
        return NVBW_OK;
    }
    TRY(session_build(engine->facts, request, out, arena, session, err));

    engine->allow_multicast = request->allow_multicast;

    const int32_t status = run_session(engine, session, err);

    session_finish(session, begin_ns);
    out->poisoned = engine->poisoned;
    return status;
}

void *engine_driver_function(
    struct engine *engine, const char *name, uint32_t cuda_version)
{
    if (engine == NULL || need_library(engine, NULL) < 0) {
        return NULL;
    }
    return cuda_function(&engine->api, name, cuda_version);
}

/* Writes, compares and reports on a few bytes. */
static int32_t try_gpu(
    const struct gpu *gpu, uint64_t deadline_ns, struct error *err)
{
    const cu_address spare = gpu->room + GPU_ROOM_SPARE;
    struct fill_args fill = { spare, 4096, 1 };
    struct compare_args compare = { spare, 4096, 1, spare + 4096,
        spare + 4104 };
    uint64_t wrong = 1;

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(spare + 4096, 0, 4, gpu->stream),
        "GPU %d: memory cannot be set", gpu->facts->index);
    TRY(gpu_launch(gpu, GPU_KERNEL_fill, gpu->stream, &fill, 4096, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_compare, gpu->stream, &compare, 4096, err));
    TRY(gpu_wait(gpu, gpu->stream, deadline_ns, "a health check", err));
    CUDA_TRY(gpu->api, err,
        gpu->api->copy_up(&wrong, spare + 4096, sizeof wrong),
        "GPU %d: memory cannot be read", gpu->facts->index);
    FAIL_IF(wrong != 0, err, NVBW_E_DEVICE,
        "GPU %d: %llu of 512 words written to its memory read back wrong",
        gpu->facts->index, (unsigned long long)wrong);
    return NVBW_OK;
}

int32_t engine_health(struct engine *engine, const uint32_t *positions,
    uint32_t count, uint64_t deadline_ns, struct error *err)
{
    TRY(engine_need_gpus(engine, positions, count, err));
    for (uint32_t i = 0; i < count; i++) {
        TRY(try_gpu(&engine->gpus[positions[i]], deadline_ns, err));
    }
    return NVBW_OK;
}
