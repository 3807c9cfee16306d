/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Words on cells that come from the plugin itself: put, skip, fail and labels;
 * and what was settled before. */
#include "service.h"

#include <math.h>
#include <string.h>

#include "abi.h"
#include "cancel.h"
#include "clock.h"
#include "driver_codes.h"
#include "gpu.h"
#include "peers.h"
#include "state.h"
#include "stats.h"

/* A record travels as one frame, of which the host takes 16 MiB. */
enum { SAMPLES_LIMIT = 1 << 20, MESSAGE_LIMIT_BYTES = 1024 };

struct status_meaning service_meaning(int32_t status)
{
    static const struct {
        int32_t status;
        struct status_meaning meaning;
    } table[] = {
        { NVBW_E_DEVICE, { STATE_MISMATCH, "wrong_data" } },
        { NVBW_E_CUDA, { STATE_ERROR, "driver" } },
        { NVBW_E_SYSTEM, { STATE_ERROR, "system" } },
        { NVBW_E_INVALID, { STATE_ERROR, "contract" } },
        { NVBW_E_CANCELLED, { STATE_CANCELLED, NULL } },
        { GPU_E_FACTS_CHANGED, { STATE_ERROR, "facts_changed" } },
        { PEERS_E_LOST, { STATE_ERROR, "rank_lost" } },
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].status == status) {
            return table[i].meaning;
        }
    }
    return (struct status_meaning){ STATE_ERROR, "contract" };
}

int service_is_error(const struct service *service, int32_t status)
{
    if (status == NVBW_E_CANCELLED) {
        return cancel_requested() ||
               (service->run != NULL && service->run->failed_call != NULL);
    }
    return status < NVBW_E_SKIPPED && status >= NVBW_E_DEVICE;
}

int32_t service_cell(struct service *service, const struct nvbw_cell *cell,
    struct nvbw_cell *out)
{
    struct error err = { 0 };

    if (service->run == NULL) {
        return -1;
    }
    if (abi_read(cell, "cell", 0, out, sizeof *out, &err) < 0) {
        service_broken(service, "%s", err.text);
        return -1;
    }

    const int32_t number = out->metric == NULL
                               ? -1
                               : unit_cell_number(&service->run->unit,
                                     out->metric, out->row, out->col);

    if (number < 0) {
        service_broken(service, "C11: cell %s[%u][%u] is not declared",
            out->metric == NULL ? "NULL" : out->metric, out->row, out->col);
    }
    return number;
}

int service_wants(const struct service *service, uint32_t number)
{
    const struct task_run *const run = service->run;

    if (service_is_over(service)) {
        return 0;
    }
    return run->recording ||
           (number < run->cells_count && run->cells[number].wanted &&
               !run->cells[number].settled);
}

/* The engine's samples live in the arena of one measurement only. */
static void keep_samples(struct service *service, struct cell_word *word,
    const struct record *record)
{
    const size_t bytes = record->samples_count * sizeof *record->samples;
    double *const copy = arena_alloc(
        service->run->arena, record->samples_count, sizeof *record->samples);

    if (copy != NULL && bytes > 0) {
        memcpy(copy, record->samples, bytes);
        word->samples = copy;
        word->samples_count = record->samples_count;
    }
}

void service_settle(
    struct service *service, uint32_t number, struct record *record)
{
    struct task_run *const run = service->run;

    if (!service_wants(service, number)) {
        return;
    }
    record->unit = run->unit.id;
    record->attempt = run->task->attempt;
    if (!run->recording) {
        const struct reason *const reason =
            reason_find(record->state, record->reason);

        run->cells[number].settled = 1;
        run->cells[number].state = record->state;
        run->cells[number].reason = reason != NULL ? reason->code : NULL;
        if (record->state == STATE_MEASURED) {
            keep_samples(service, &run->cells[number], record);
        }
    }
    service_send(service, FRAME_CELL, record);
    service_restart_clock(service);
}

/* A record on a cell about which there is no more than words. */
static void init_word(const struct service *service, uint32_t number,
    const struct status_meaning *meaning, struct record *out)
{
    const struct unit *const unit = &service->run->unit;
    struct cell_place place;

    record_init(out);
    if (unit_cell_at(unit, number, &place)) {
        out->metric = unit->shapes[place.shape].metric;
        out->row = place.row;
        out->col = place.col;
    }
    out->state = service->run->recording ? STATE_NONE : meaning->state;
    out->reason = service->run->recording ? NULL : meaning->reason;
    out->end_ns = clock_machine_ns();
    out->begin_ns = out->end_ns;
}

static const char *recorded_flags[] = { "put" };

static void say_word(struct service *service, uint32_t number,
    const struct status_meaning *meaning, const char *message, int64_t code)
{
    struct record record;

    init_word(service, number, meaning, &record);
    record.message = message;
    record.code = code;
    if (service->run->recording) {
        record.flags = recorded_flags;
        record.flags_count = 1;
    }
    service_settle(service, number, &record);
}

/* The same word on every cell that is left. */
static void say_rest(struct service *service,
    const struct status_meaning *meaning, const char *message, int64_t code)
{
    const uint32_t span = unit_cell_span(&service->run->unit);
    struct cell_place place;

    for (uint32_t i = 0; i < span; i++) {
        if (service_wants(service, i) &&
            unit_cell_at(&service->run->unit, i, &place)) {
            say_word(service, i, meaning, message, code);
        }
    }
}

static int32_t check_samples(
    struct service *service, const double *samples, uint64_t count)
{
    if (samples == NULL || count == 0 || count > SAMPLES_LIMIT) {
        return service_broken(
            service, "put() needs 1 to %d samples", SAMPLES_LIMIT);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(samples[i])) {
            return service_broken(
                service, "put() was given a sample that is not a number");
        }
    }
    return NVBW_OK;
}

static int is_derived(const struct service *service, const char *metric)
{
    const int32_t at =
        loader_find(&service->plugin, service->run->unit.testcase);
    const struct metric_schema *const schema =
        at < 0 ? NULL
               : schema_metric(&service->plugin.schema.testcases[at], metric);

    return schema != NULL && (schema->flags & NVBW_METRIC_DERIVED) != 0;
}

int32_t service_put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t count)
{
    static const char *derived[] = { "derived" };
    struct service *const service = service_of(ctx);
    const struct status_meaning measured = { STATE_MEASURED, NULL };
    struct nvbw_cell own;
    const int32_t number = service_cell(service, cell, &own);
    struct record record;

    if (number < 0) {
        return NVBW_E_INVALID;
    }
    TRY(service_check_idle(service, "put"));
    TRY(check_samples(service, samples, count));
    init_word(service, (uint32_t)number, &measured, &record);
    if (service->run->recording) {
        record.flags = recorded_flags;
        record.flags_count = 1;
    } else {
        /* Encoded before this call returns, never written to. */
        record.samples = (double *)(uintptr_t)samples;
        record.samples_count = (uint32_t)count;
    }
    if (!service->run->recording && is_derived(service, own.metric)) {
        record.flags = derived;
        record.flags_count = 1;
    }
    record.mode = "put";
    record.clock = "plugin";
    service_settle(service, (uint32_t)number, &record);
    return NVBW_OK;
}

/* The plugin's words, cut to what a report can show. */
static const char *own_words(struct service *service, const char *text)
{
    return text == NULL ? NULL
                        : arena_text_n(service->run->arena, text,
                              strnlen(text, MESSAGE_LIMIT_BYTES));
}

/* What skip() or fail() says before there is a task. */
static void keep_init_text(struct service *service, const char *text)
{
    if (text != NULL && service->init_text[0] == '\0') {
        strncat(service->init_text, text, sizeof service->init_text - 1);
    }
}

/* What is derived from a cell that came to nothing came to nothing for the
 * same reason, whatever reason its plugin has to make do with. */
static const struct status_meaning *fate_of(
    struct service *service, struct status_meaning *meaning)
{
    const struct cell_word *const source = service->run->figureless;

    if (source != NULL && source->settled && source->state != STATE_MEASURED) {
        *meaning = (struct status_meaning){ source->state, source->reason };
    }
    return meaning;
}

int32_t service_skip(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t reason, const char *text)
{
    struct service *const service = service_of(ctx);
    const char *const code =
        reason < 0 ? NULL : name_of(skip_names, (uint32_t)reason);
    struct status_meaning meaning = { STATE_SKIP, code };
    struct nvbw_cell own;

    if (code == NULL) {
        return service_broken(
            service, "C7: skip() with unknown reason %d", reason);
    }
    if (service->run == NULL) {
        service->skipped_in_init = (uint32_t)reason;
        keep_init_text(service, text);
        return NVBW_E_SKIPPED;
    }
    TRY(service_check_idle(service, "skip"));
    text = text == NULL ? reason_find(STATE_SKIP, code)->text
                        : own_words(service, text);
    if (cell == NULL) {
        say_rest(service, &meaning, text, 0);
        return NVBW_E_SKIPPED;
    }

    const int32_t number = service_cell(service, cell, &own);

    if (number < 0) {
        return NVBW_E_INVALID;
    }
    say_word(service, (uint32_t)number,
        is_derived(service, own.metric) ? fate_of(service, &meaning) : &meaning,
        text, 0);
    return NVBW_OK;
}

/* Adds what is known of a CUresult to the plugin's words. */
static const char *message_of(
    struct service *service, int32_t status, int64_t code, const char *text)
{
    const char *const remedy =
        status == NVBW_E_CUDA ? driver_code_text(code) : NULL;
    const char *message =
        text == NULL ? "the plugin gave no reason" : own_words(service, text);

    if (remedy != NULL) {
        message = arena_format(service->run->arena, "%s: %s", message, remedy);
    }
    return message;
}

int32_t service_fail(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t status, int64_t code, const char *text)
{
    struct service *const service = service_of(ctx);
    const struct status_meaning meaning = service_meaning(status);
    const int32_t failed = status < 0 ? status : NVBW_E_INVALID;
    struct nvbw_cell own;

    if (service->run == NULL) {
        service->init_code = code;
        keep_init_text(service, text);
        return failed;
    }

    TRY(service_check_idle(service, "fail"));
    if (!service_is_error(service, status)) {
        return service_broken(service,
            status == NVBW_E_CANCELLED
                ? "C18: fail() with status %d, but the host asked for no end"
                : "C7: fail() with status %d, which is no error",
            status);
    }

    const char *const message = message_of(service, status, code, text);

    if (cell == NULL) {
        say_rest(service, &meaning, message, code);
        return failed;
    }

    const int32_t number = service_cell(service, cell, &own);

    if (number < 0) {
        return NVBW_E_INVALID;
    }
    say_word(service, (uint32_t)number, &meaning, message, code);
    return NVBW_OK;
}

int32_t service_wanted(struct nvbw_ctx *ctx, const struct nvbw_cell *cell)
{
    struct service *const service = service_of(ctx);
    struct nvbw_cell own;
    const int32_t number = service_cell(service, cell, &own);

    return number >= 0 && service_wants(service, (uint32_t)number);
}

int32_t service_quantile(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    double q, double *out_value)
{
    struct service *const service = service_of(ctx);
    struct nvbw_cell own;
    const int32_t number = service_cell(service, cell, &own);

    if (number < 0) {
        return NVBW_E_INVALID;
    }
    if (out_value == NULL || !(q >= 0.0 && q <= 1.0)) {
        return service_broken(
            service, "quantile() needs q in 0..1 and a place for the value");
    }
    if (service->run->recording) {
        *out_value = 1.0;
        return NVBW_OK;
    }

    const struct cell_word *const word = &service->run->cells[number];

    if (word->samples_count == 0) {
        service->run->figureless = word;
        return NVBW_E_SKIPPED;
    }
    service->run->figureless = NULL;
    *out_value = stats_quantile(word->samples, word->samples_count, q);
    return NVBW_OK;
}

int32_t service_figure(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value)
{
    return service_quantile(ctx, cell, 0.5, out_value);
}
