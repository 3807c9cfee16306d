/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Service: what a plugin reaches through ctx->host. One per loaded plugin; it
 * carries one task at a time. Frames that a task gives rise to are written
 * here, and only between measurements. */
#ifndef NVBW_SERVICE_H
#define NVBW_SERVICE_H

#include <stdatomic.h>

#include "engine.h"
#include "loader.h"
#include "log_buffer.h"
#include "quantity.h"
#include "wire.h"

/* A parameter of the unit, ready for the getters. */
struct param_values {
    const char *name;
    uint32_t count;
    const char *const *texts;
    struct quantity_value *values;
};

/* A cell by its number in the unit. */
struct cell_word {
    uint32_t wanted, settled;
    const double *samples; /* of this worker or an earlier one */
    uint32_t samples_count;
    uint32_t state; /* once settled, with its reason or NULL */
    const char *reason;
};

/* Readings of the GPUs in flight that the host was asked for. */
struct task_reads {
    uint32_t *gpus; /* in flight: positions in facts->gpus */
    uint32_t gpus_count;
    uint64_t number;     /* of the one that is awaited, 0: none */
    uint64_t asked_ns;   /* when the latest was asked for */
    uint64_t looks_from; /* the first after a sample of this measurement;
                            UINT64_MAX: none yet */
};

/* One record or run task. */
struct task_run {
    const struct task_frame *task;
    struct unit unit; /* the task's; while recording labels() settle it */
    const struct facts *facts;
    struct engine *engine; /* NULL while recording */
    uint32_t recording;
    uint32_t checking;   /* 1: only check() is called; facts are NULL */
    uint32_t silent;     /* 1: rank 0 speaks for this one, which follows it */
    struct arena *arena; /* lives as long as the task */
    struct measure_params measure;
    struct cell_word *cells; /* unit_cell_span; NULL while recording */
    uint32_t cells_count;
    struct param_values *params;
    uint32_t params_count;
    const struct nvbw_place **gpus, **nodes, **ranks;
    /* The last cell that was asked for a figure which it has not, or NULL. */
    const struct cell_word *figureless;
    struct error broken;     /* status < 0: the contract was broken */
    struct error trouble;    /* the last error that measure() returned */
    _Atomic uint32_t calls;  /* of the host, while recording */
    const char *failed_call; /* the one that the task made fail, or NULL */
    struct task_reads reads;
    uint32_t poisoned;
    uint32_t measuring; /* enqueue and verify may only ask, not settle */
    uint32_t host_gone; /* a frame could not be written */
};

struct service {
    struct nvbw_ctx ctx; /* first, so that a ctx leads to its service */
    struct loaded_plugin plugin;
    struct log_buffer *log;
    int out_fd;
    struct task_run *run; /* NULL between tasks */
    _Atomic int64_t deadline_ns;
    uint32_t has_begun;       /* 1: init() was called, or there is none */
    int32_t init_status;      /* what init() returned */
    uint32_t skipped_in_init; /* NVBW_SKIP_*, 0: none */
    char init_text[256];      /* the words of skip() or fail() in init */
    int64_t init_code;
    nvbw_allgather_fn *allgather; /* lent in init, or NULL */
    uint32_t rank, ranks;         /* joined in init; ranks 0: not */
    uint32_t has_reading;         /* 1: an answer to READ was waited for once */
};

static inline struct service *service_of(struct nvbw_ctx *ctx)
{
    return (struct service *)(void *)ctx;
}

extern const struct nvbw_host service_host;
/* The table of recorded runs: counts the calls that can fail, and fails the
 * one that the task names. (service_torture.c) */
extern const struct nvbw_host service_torture;

/* The table of check(). (service_check.c) */
extern const struct nvbw_host service_check_table;

/* Prepares a task: bitmaps, places, values of parameters. NVBW_E_INVALID with
 * a message where the task makes no sense for this plugin. (service_begin.c) */
int32_t service_begin(
    struct service *service, struct task_run *run, struct error *err);
/* probe() and run() of the testcase; *out is the DONE frame. Its texts live
 * in the task's arena. (service_task.c) */
void service_carry_out(struct service *service,
    const struct loaded_testcase *testcase, struct done_frame *out);
/* check() of a testcase that has one; returns what it returned. What it refuses
 * is sent at once. (service_check.c) */
int32_t service_check(
    struct service *service, const struct loaded_testcase *testcase);
/* Sends what was logged. */
void service_flush_log(struct service *service);
/* service_flush_log for measure_request. */
void service_between_samples(void *user);
void service_restart_clock(struct service *service);

/* read() and await_reading() of measure_request: READ to the host, and its
 * answer within 20 ms of the question; within 10 s the first of a worker, and
 * all on a simulated machine. Nothing is asked where the host has no telemetry.
 * (service_reads.c) */
void service_read(void *user, uint32_t kind);
int service_await_reading(void *user, char *out_text, size_t size);

/* The first breach of the contract is kept, the rest is silence: from now on
 * nothing settles. Returns NVBW_E_INVALID. (service.c) */
int32_t service_broken(struct service *service, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* 1 when nothing may settle any more. */
int service_is_over(const struct service *service);

/* Breaks the contract if a plugin calls the function within measure(): no
 * frame is written inside a timed region. */
int32_t service_check_idle(struct service *service, const char *function);

/* One frame to the host; a failure is remembered as host_gone. */
void service_send(struct service *service, uint32_t type, const void *object);

/* The number of a plugin's cell, or -1 after service_broken. While recording
 * any number that the unit has. (service_settle.c) */
int32_t service_cell(struct service *service, const struct nvbw_cell *cell,
    struct nvbw_cell *out);
/* Sends the record as the word on its cell, if it is wanted and open. */
void service_settle(
    struct service *service, uint32_t number, struct record *record);
int service_wants(const struct service *service, uint32_t number);

/* The rows of service_host, by file. */
int32_t service_measure(
    struct nvbw_ctx *ctx, const struct nvbw_measurement *measurement);
int32_t service_wanted(struct nvbw_ctx *ctx, const struct nvbw_cell *cell);
int32_t service_figure(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, double *out_value);
int32_t service_quantile(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    double q, double *out_value);
int32_t service_put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t count);
int32_t service_skip(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t reason, const char *text);
int32_t service_fail(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    int32_t status, int64_t code, const char *text);
int32_t service_labels(struct nvbw_ctx *ctx, const char *metric, uint32_t axis,
    const char *const *names);
uint32_t service_param_count(struct nvbw_ctx *ctx, const char *name);
int64_t service_param_int(struct nvbw_ctx *ctx, const char *name, uint32_t i);
double service_param_real(struct nvbw_ctx *ctx, const char *name, uint32_t i);
const char *service_param_text(
    struct nvbw_ctx *ctx, const char *name, uint32_t i);
int32_t service_refuse(
    struct nvbw_ctx *ctx, const char *name, uint32_t i, const char *text);
const struct nvbw_place *const *service_places(
    struct nvbw_ctx *ctx, const char *axis);

/* What a status of a plugin means for a cell. */
struct status_meaning {
    uint32_t state;
    const char *reason;
};
struct status_meaning service_meaning(int32_t status);
/* 1 for an error that a plugin may return now: NVBW_E_CANCELLED only after
 * the host asked it to end, NVBW_E_SKIPPED never. */
int service_is_error(const struct service *service, int32_t status);

#endif
