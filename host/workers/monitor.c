/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "host_clock.h"
#include "monitor_askers.h"
#include "monitor_cells.h"
#include "monitor_words.h"

enum { STARTS_MOST = 3, MONITOR_ARENA_BYTES = 64 << 20, SERIES_STEPS = 240 };
#define MS UINT64_C(1000000)

/* A reading that was made so shortly before a measurement is its first. */
static const uint64_t FRESH_NS = 20 * MS;
/* Nobody waits behind a question that is open for so long; on a simulated
 * machine waiting takes no time. */
static const uint64_t SLOW_NS = 100 * MS;
static const uint64_t SLOW_SIMULATED_NS = 5000 * MS;
static const uint64_t ANSWER_NS = 5000 * MS;
static const uint64_t PATIENCE_NS = 20000 * MS;
static const uint64_t OPEN_NS = 5000 * MS;
static const uint64_t LAST_NS = 2000 * MS;
static const uint64_t QUIT_NS = 300 * MS;

/* ---- asking the watch worker ---- */

static int can_ask(const struct monitor *monitor)
{
    return monitor->is_open && monitor->worker.stage == WORKER_LIVE &&
           !monitor->worker.end.has_bye;
}

/* 1 while whoever asks is to wait until the first worker has opened NVML. */
static int is_opening(const struct monitor *monitor)
{
    return !monitor->is_open && !monitor->ended &&
           monitor->worker.stage == WORKER_LIVE &&
           host_clock_ns() < monitor->open_by_ns;
}

static int32_t send_question(struct monitor *monitor,
    const struct monitor_question *question, uint32_t *gpus, uint32_t count,
    struct error *err)
{
    const struct read_frame read = { .number = ++monitor->numbers,
        .kind = question->kind,
        .gpus = gpus,
        .gpus_count = count };

    monitor->asked = *question;
    monitor->asked.number = read.number;
    monitor->asked.asked_ns = host_clock_ns();
    monitor->poll_due_ns =
        host_clock_after(monitor->asked.asked_ns, monitor->rules.poll_ns);
    TRY(worker_send(&monitor->worker, FRAME_READ, &read, err));
    worker_allow(&monitor->worker, ANSWER_NS);
    return NVBW_OK;
}

static int32_t poll_all(struct monitor *monitor, struct error *err)
{
    const struct monitor_question question = { .kind = READ_POLL };

    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        monitor->list[i] = i;
    }
    return send_question(
        monitor, &question, monitor->list, monitor->gpus_count, err);
}

/* ---- answering a run worker ---- */

/* 1 if a reading that was just made will do as the first of a measurement. */
static int is_fresh(
    const struct monitor *monitor, const struct read_frame *read)
{
    const uint64_t now_ns = host_clock_ns();

    for (uint32_t i = 0; i < read->gpus_count; i++) {
        const struct monitored *const gpu = &monitor->gpus[read->gpus[i]];

        if (gpu->last.now_ns == 0 || !gpu->last_is_whole ||
            now_ns - gpu->last.now_ns > FRESH_NS) {
            return 0;
        }
    }
    return read->kind == READ_BEGIN;
}

static void keep_first(struct monitor *monitor, const struct read_frame *read)
{
    for (uint32_t i = 0; i < read->gpus_count; i++) {
        struct monitored *const gpu = &monitor->gpus[read->gpus[i]];

        monitor_cell_add(gpu, &gpu->last);
    }
}

static void put_off(struct monitor *monitor, struct worker *asker,
    const struct read_frame *read)
{
    if (monitor->waiting.asker != NULL) {
        monitor_answer_question(monitor, &monitor->waiting, NULL);
    }
    monitor->waiting = (struct monitor_question){
        .kind = read->kind, .asker = asker, .asker_number = read->number
    };
    /* It waits for the last that it asked only. */
    if (monitor->asked.asker == asker) {
        monitor_take_time_back(monitor, &monitor->asked);
    }
    monitor_lend_time(monitor, &monitor->waiting);
    memcpy(monitor->waiting_gpus, read->gpus,
        read->gpus_count * sizeof *read->gpus);
    monitor->waiting_gpus_count = read->gpus_count;
}

int32_t monitor_ask(struct monitor *monitor, struct worker *asker,
    const struct read_frame *read, struct error *err)
{
    const uint64_t now_ns = host_clock_ns();
    const uint64_t slow_ns = monitor->request->evidence->facts.simulated
                                 ? SLOW_SIMULATED_NS
                                 : SLOW_NS;
    struct monitor_question question = {
        .kind = read->kind, .asker = asker, .asker_number = read->number
    };

    FAIL_IF(read->gpus_count > monitor->gpus_count, err, NVBW_E_INVALID,
        "%u GPUs were to be read where there are %u", read->gpus_count,
        monitor->gpus_count);
    for (uint32_t i = 0; i < read->gpus_count; i++) {
        FAIL_IF(read->gpus[i] >= monitor->gpus_count, err, NVBW_E_INVALID,
            "GPU %u was to be read where there are %u", read->gpus[i],
            monitor->gpus_count);
    }
    if (is_opening(monitor)) {
        put_off(monitor, asker, read);
        return NVBW_OK;
    }
    if (!can_ask(monitor)) {
        monitor_answer(asker, read->number, NULL);
        return NVBW_OK;
    }
    if (is_fresh(monitor, read)) {
        keep_first(monitor, read);
        monitor_answer(asker, read->number, NULL);
        return NVBW_OK;
    }
    if (monitor->asked.number == 0) {
        monitor_lend_time(monitor, &question);
        return send_question(
            monitor, &question, read->gpus, read->gpus_count, err);
    }
    if (now_ns - monitor->asked.asked_ns > slow_ns) {
        monitor_answer(asker, read->number, NULL);
        return NVBW_OK;
    }
    put_off(monitor, asker, read);
    return NVBW_OK;
}

static void forget(struct monitor *monitor, struct monitor_question *question,
    const struct worker *asker)
{
    if (question->asker == asker) {
        monitor_take_time_back(monitor, question);
        question->asker = NULL;
    }
}

void monitor_forget(struct monitor *monitor, const struct worker *asker)
{
    forget(monitor, &monitor->asked, asker);
    forget(monitor, &monitor->waiting, asker);
}

/* ---- what the watch worker says ---- */

/* Further and further apart, so that a run of any length has a series that can
 * be read. */
static int32_t write_series(struct monitor *monitor, struct monitored *gpu,
    int always, struct error *err)
{
    if (gpu->last.now_ns < gpu->due_ns && !always) {
        gpu->unwritten = 1;
        return NVBW_OK;
    }
    gpu->last.first = gpu->written == 0;
    TRY(ledger_add(monitor->ledger, LINE_READING, &gpu->last, err));
    gpu->unwritten = 0;
    if (++gpu->written % SERIES_STEPS == 0) {
        gpu->step_ns *= 2;
    }
    gpu->due_ns = host_clock_after(gpu->last.now_ns, gpu->step_ns);
    return NVBW_OK;
}

static int32_t take_reading(struct monitor *monitor,
    const struct gpu_reading *reading, struct error *err)
{
    FAIL_IF(reading->gpu >= monitor->gpus_count, err, NVBW_E_INVALID,
        "GPU %u was read where there are %u", reading->gpu,
        monitor->gpus_count);

    struct monitored *const gpu = &monitor->gpus[reading->gpu];
    struct gpu_reading taken = *reading;

    /* Each watch worker counts from 0. */
    taken.xids += gpu->xids_before;
    taken.last_xid = taken.last_xid != 0 ? taken.last_xid : gpu->last.last_xid;
    gpu->last = taken;
    /* Texts live no longer than the frame; those that count are kept. */
    gpu->last_is_whole = monitor->asked.kind != READ_LOAD;

    const int is_late =
        gpu->in_flight && monitor->asked.number <= monitor->begun;

    if (!is_late) {
        monitor_cell_others(&monitor->rules, gpu, &taken);
    }
    if (gpu->in_flight && !is_late) {
        monitor_cell_add(gpu, &taken);
    }
    ledger_tell_reading(monitor->ledger, &taken);

    /* That the journal cannot be written is not the worker's fault. */
    if (gpu->last_is_whole) {
        write_series(monitor, gpu, 0, &monitor->fatal);
    }
    gpu->last.processes = NULL;
    gpu->last.processes_count = 0;
    return NVBW_OK;
}

static int32_t send_waiting(struct monitor *monitor, struct error *err)
{
    struct monitor_question question = monitor->waiting;

    monitor->waiting = (struct monitor_question){ .number = 0 };
    return send_question(monitor, &question, monitor->waiting_gpus,
        monitor->waiting_gpus_count, err);
}

static int32_t take_readings(struct monitor *monitor,
    const struct readings_frame *frame, struct error *err)
{
    struct monitor_question asked = monitor->asked;
    char throttled[256] = "";

    FAIL_IF(frame->number != asked.number || asked.number == 0, err,
        NVBW_E_INVALID, "a reading came that nobody asked for");
    for (uint32_t i = 0; i < frame->readings_count; i++) {
        TRY(take_reading(monitor, &frame->readings[i], err));
    }
    worker_allow(&monitor->worker, UINT64_MAX);
    monitor->asked = (struct monitor_question){ .number = 0 };
    if (asked.asker != NULL) {
        monitor_cell_throttled(&monitor->rules,
            &monitor->request->evidence->facts, monitor->gpus, frame, throttled,
            sizeof throttled);
        monitor_answer_question(
            monitor, &asked, throttled[0] != '\0' ? throttled : NULL);
    }
    return monitor->waiting.asker != NULL ? send_waiting(monitor, err)
                                          : NVBW_OK;
}

/* Whoever waits for its answer waits no longer. */
static void release_askers(struct monitor *monitor)
{
    struct monitor_question *const both[] = { &monitor->asked,
        &monitor->waiting };

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        if (both[i]->asker != NULL) {
            monitor_answer_question(monitor, both[i], NULL);
        }
        *both[i] = (struct monitor_question){ .number = 0 };
    }
}

static int32_t give_up(
    struct monitor *monitor, const char *why, struct error *err)
{
    monitor->ended = 1;
    monitor->is_open = 0;
    release_askers(monitor);
    return monitor_say_lacking(monitor, why, err);
}

static int32_t take_done(
    struct monitor *monitor, const struct done_frame *done, struct error *err)
{
    worker_allow(&monitor->worker, UINT64_MAX);
    if (done->status < 0) {
        return give_up(monitor,
            done->message != NULL ? done->message : "NVML cannot be opened",
            err);
    }
    monitor->is_open = 1;
    if (monitor->waiting.asker != NULL) {
        return send_waiting(monitor, err);
    }
    /* The first of the series, unless a cell is in flight: then its own is. */
    return monitor->measuring ? NVBW_OK : poll_all(monitor, err);
}

static int32_t take_frame(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err)
{
    struct monitor *const monitor = worker->user;

    (void)payload_bytes;
    switch (type) {
    case FRAME_READINGS:
        return take_readings(monitor, object, err);
    case FRAME_DONE:
        return take_done(monitor, object, err);
    case FRAME_LOG:
        return NVBW_OK;
    default:
        return error_set(err, NVBW_E_INVALID,
            "a frame of type %u came from a watch worker", type);
    }
}

/* ---- its life ---- */

static int32_t start_worker(struct monitor *monitor, struct error *err)
{
    const struct worker_setup *const setup = monitor->request->setup;
    const struct facts *const facts = &monitor->request->evidence->facts;
    const struct task_frame task = { .role = TASK_WATCH,
        .driver_file = setup->driver_file,
        .budget_ns = UINT64_MAX };
    struct worker_start start;
    struct arena arena;

    arena_init(&arena, 1 << 20);

    int32_t status =
        ask_worker_start(setup, "watch", NULL, facts, &arena, &start, err);

    if (status == NVBW_OK) {
        start.on_frame = take_frame;
        start.user = monitor;
        status = crew_start(monitor->crew, &monitor->worker, &start, err);
    }
    arena_clear(&arena);
    TRY(status);
    if (monitor->starts++ == 0) {
        monitor->open_by_ns = host_clock_after(host_clock_ns(), OPEN_NS);
    }
    TRY(worker_send(&monitor->worker, FRAME_FACTS, facts, err));
    TRY(worker_send(&monitor->worker, FRAME_TASK, &task, err));
    worker_allow(&monitor->worker, setup->answer_ns);
    return NVBW_OK;
}

int32_t monitor_start(struct monitor *monitor, struct error *err)
{
    struct error why = { 0 };

    if (!monitor->is_wanted) {
        return NVBW_OK;
    }
    if (monitor->request->evidence->facts.nvml_trouble != NULL) {
        return give_up(
            monitor, monitor->request->evidence->facts.nvml_trouble, err);
    }
    return start_worker(monitor, &why) < 0 ? give_up(monitor, why.text, err)
                                           : NVBW_OK;
}

static int32_t write_rest(struct monitor *monitor, struct error *err)
{
    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        if (monitor->gpus[i].unwritten) {
            TRY(write_series(monitor, &monitor->gpus[i], 1, err));
        }
    }
    return NVBW_OK;
}

static int32_t after_end(struct monitor *monitor, struct error *err)
{
    struct cause cause;
    struct error why = { 0 };
    char text[1400];

    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        if (!isnan(monitor->gpus[i].last.xids)) {
            monitor->gpus[i].xids_before = monitor->gpus[i].last.xids;
        }
    }
    TRY(write_rest(monitor, err));

    worker_end_cause(&monitor->worker.end, "watch", &cause);
    monitor->worker.stage = WORKER_NONE;
    monitor->is_open = 0;
    release_askers(monitor);
    if (monitor->ended) {
        return NVBW_OK;
    }
    if (monitor->starts < STARTS_MOST) {
        return start_worker(monitor, &why) < 0 ? give_up(monitor, why.text, err)
                                               : NVBW_OK;
    }
    snprintf(text, sizeof text, "the watch worker ended %u times, at last: %s",
        monitor->starts, cause.text);
    return give_up(monitor, text, err);
}

static int has_ended(const struct monitor *monitor)
{
    return monitor->worker.stage == WORKER_GONE ||
           monitor->worker.stage == WORKER_ABANDONED;
}

int32_t monitor_tick(
    struct monitor *monitor, uint64_t *out_due_ns, struct error *err)
{
    *out_due_ns = UINT64_MAX;
    if (monitor->fatal.status < 0) {
        *err = monitor->fatal;
        return err->status;
    }
    if (has_ended(monitor)) {
        TRY(after_end(monitor, err));
    }
    if (monitor->waiting.asker != NULL && !monitor->is_open) {
        if (is_opening(monitor)) {
            *out_due_ns = monitor->open_by_ns;
        } else {
            release_askers(monitor);
        }
    }
    monitor_release_overdue(monitor, &monitor->asked, out_due_ns);
    monitor_release_overdue(monitor, &monitor->waiting, out_due_ns);
    if (!can_ask(monitor) || monitor->measuring) {
        return NVBW_OK;
    }
    if (monitor->asked.number == 0 && host_clock_ns() >= monitor->poll_due_ns) {
        TRY(poll_all(monitor, err));
    }
    /* An answer that is open ends by itself, or at its deadline. */
    if (monitor->asked.number == 0 && monitor->poll_due_ns < *out_due_ns) {
        *out_due_ns = monitor->poll_due_ns;
    }
    return NVBW_OK;
}

static int32_t wait_for_answer(
    struct monitor *monitor, uint64_t until_ns, struct error *err)
{
    while (monitor->asked.number != 0 && worker_is_up(&monitor->worker) &&
           monitor->crew->signals == 0 && host_clock_ns() < until_ns) {
        TRY(crew_step(monitor->crew, until_ns, err));
    }
    return NVBW_OK;
}

int32_t monitor_last(struct monitor *monitor, struct error *err)
{
    monitor_rest(monitor);
    monitor->last_by_ns = host_clock_after(host_clock_ns(), LAST_NS);
    TRY(wait_for_answer(monitor, monitor->last_by_ns, err));
    if (!can_ask(monitor) || monitor->asked.number != 0 ||
        monitor->crew->signals > 0) {
        return NVBW_OK;
    }
    return poll_all(monitor, err);
}

int32_t monitor_stop(struct monitor *monitor, struct error *err)
{
    static const struct quit_frame quit = { 0 };

    TRY(wait_for_answer(monitor, monitor->last_by_ns, err));
    TRY(monitor_say_end(monitor, err));
    TRY(write_rest(monitor, err));
    monitor->ended = 1;
    monitor->is_open = 0;
    if (monitor->worker.stage == WORKER_LIVE) {
        TRY(worker_send(&monitor->worker, FRAME_QUIT, &quit, err));
        worker_allow(&monitor->worker, QUIT_NS);
    }
    return NVBW_OK;
}

/* ---- the run's beginning and end ---- */

int32_t monitor_open(struct monitor *monitor,
    const struct conduct_request *request, struct crew *crew,
    struct ledger *ledger, struct error *err)
{
    const uint32_t count = request->evidence->facts.gpus_count;

    *monitor = (struct monitor){ .request = request,
        .crew = crew,
        .ledger = ledger,
        .patience_ns = PATIENCE_NS,
        .gpus_count = count };
    telemetry_rules_read(&request->evidence->plan, &monitor->rules);
    /* The ranks of an MPI job sample in step, on GPUs of several hosts. */
    monitor->is_wanted = request->has_telemetry && monitor->rules.enabled &&
                         count > 0 && request->evidence->facts.ranks == 0;
    arena_init(&monitor->arena, MONITOR_ARENA_BYTES);
    arena_init(&monitor->cell_arena, MONITOR_ARENA_BYTES);
    monitor->gpus =
        arena_alloc(&monitor->arena, (size_t)count + 1, sizeof *monitor->gpus);
    monitor->list =
        arena_alloc(&monitor->arena, (size_t)count + 1, sizeof *monitor->list);
    monitor->waiting_gpus = arena_alloc(
        &monitor->arena, (size_t)count + 1, sizeof *monitor->waiting_gpus);
    FAIL_IF(monitor->gpus == NULL || monitor->list == NULL ||
                monitor->waiting_gpus == NULL,
        err, NVBW_E_SYSTEM, "no memory for the telemetry of %u GPUs", count);
    for (uint32_t i = 0; i < count; i++) {
        monitor->gpus[i].step_ns = monitor->rules.poll_ns;
    }
    return NVBW_OK;
}

int monitor_has_readings(const struct monitor *monitor)
{
    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        if (monitor->gpus[i].last.now_ns > 0) {
            return 1;
        }
    }
    return 0;
}

void monitor_close(struct monitor *monitor)
{
    arena_clear(&monitor->arena);
    arena_clear(&monitor->cell_arena);
}

void monitor_begin(
    struct monitor *monitor, const uint32_t *gpus, uint32_t gpus_count)
{
    monitor_rest(monitor);
    monitor->measuring = gpus_count > 0;
    monitor->has_measured |= gpus_count > 0;
    monitor->begun = monitor->numbers;
    for (uint32_t i = 0; i < gpus_count; i++) {
        monitor_cell_begin(&monitor->gpus[gpus[i]], gpus[i]);
    }
}

void monitor_rest(struct monitor *monitor)
{
    monitor->measuring = 0;
    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        monitor->gpus[i].in_flight = 0;
    }
}

int32_t monitor_join(
    struct monitor *monitor, struct record *record, struct error *err)
{
    arena_clear(&monitor->cell_arena);
    return monitor_cell_join(&monitor->rules, monitor->gpus,
        monitor->gpus_count, &monitor->cell_arena, record, err);
}
