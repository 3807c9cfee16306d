/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Engine: the only code that allocates, moves, times and verifies bytes. One
 * per worker, used from the worker's main thread only.
 *
 * service.c turns a plugin's call of measure() into a measure_request and
 * sends the records of the result; the engine knows nothing of frames. */
#ifndef NVBW_ENGINE_H
#define NVBW_ENGINE_H

#include "facts.h"
#include "record.h"
#include "unit.h"

struct engine;
struct peers;

struct engine_setup {
    const struct facts *facts; /* lives as long as the engine */
    const char *driver_file;   /* instead of libcuda.so.1, or NULL */
    uint64_t pool_limit_bytes; /* host memory kept for reuse */
    struct peers *peers;       /* of an MPI job, else NULL: then the GPU at this
                            rank's position is the only one of ours */
};

/* The standard parameters of a unit, parsed (measure_params.c). */
struct measure_params {
    uint32_t fixed;        /* 1: mode = "fixed" */
    uint64_t buffer_bytes; /* 0: see copy_size.h */
    uint32_t copies, samples, min_samples, max_samples, warmup;
    double precision, precision_contended;
    uint32_t verify, gate, affinity; /* 0 or 1 */
    uint64_t seed;
    uint32_t threads;      /* CPU initiator; 0: all of the node */
    uint32_t chase_random; /* chase = "random" */
};
int32_t measure_params_parse(
    const struct unit *unit, struct measure_params *out, struct error *err);

/* Flows that make figures together, of several such parts that run side by
 * side and share no GPU. */
struct measure_part {
    uint32_t first, count;         /* in the request's flows */
    const struct nvbw_cell *total; /* or NULL */
};

struct measure_request {
    const struct unit *unit; /* axes: unit->gpus, unit->nodes */
    struct measure_params params;
    const struct nvbw_flow *const *flows; /* NULL-terminated, checked by
                                             flow_check */
    const struct nvbw_cell *total;        /* or NULL */
    /* Where there are several parts; none: all flows and the total are one. */
    const struct measure_part *parts;
    uint32_t parts_count;
    uint32_t allow_multicast; /* 1: the plan says so (multicast_guard.h) */
    uint32_t any_order;   /* 1: flows that run one after another are a figure
                           like any other */
    struct nvbw_ctx *ctx; /* for enqueue and verify */
    int (*cancelled)(void *user);
    void (*between_samples)(void *user); /* flush the log, may be NULL */
    /* Telemetry (telemetry.h); both may be NULL. The first has the GPUs in
     * flight read and does not wait; a READ_POLL is for when it thinks fit.
     * The second waits for what was asked, and returns 1 with a sentence if
     * the GPUs were throttled since the reading before. */
    void (*read)(void *user, uint32_t kind);
    int (*await_reading)(void *user, char *out_text, size_t size);
    void *user;
};

/* One record per distinct cell of the flows and the total, each settled. unit
 * and attempt are the caller's to fill in. */
struct measure_result {
    struct record *records;
    uint32_t records_count;
    uint32_t poisoned; /* 1: a sticky CUDA error; this process is done with
                          GPUs */
};

/* Never touches CUDA; the first flow on a GPU does (engine_need_gpus). */
int32_t engine_open(
    const struct engine_setup *setup, struct engine **out, struct error *err);
void engine_close(struct engine *engine);

/* The driver loaded and initialised, contexts made in parallel for these GPUs
 * (positions in facts->gpus), or the error why not. */
int32_t engine_need_gpus(struct engine *engine, const uint32_t *positions,
    uint32_t count, struct error *err);
/* The same ahead of engine_measure, which keeps a slow start out of the cell's
 * time. What goes wrong here is what that measurement then ends with: a driver
 * that failed once and not again is no healthy one. The GPUs in `later`, which
 * other measurements will need, are opened beside these: what goes wrong with
 * one of them is what its own first measurement ends with. */
struct gpu_positions {
    const uint32_t *list;
    uint32_t count;
};
void engine_wake_gpus(struct engine *engine, struct gpu_positions needed,
    struct gpu_positions later);

/* Measures. What goes wrong with a cell is in its record; negative only if
 * the worker cannot go on (out of memory, poisoned, cancelled). Records live
 * in arena. */
int32_t engine_measure(struct engine *engine,
    const struct measure_request *request, struct arena *arena,
    struct measure_result *out, struct error *err);

/* What measure() would do, without doing it: the records with state NONE and
 * resolved flows. Needs no engine. */
int32_t engine_record_only(const struct facts *facts,
    const struct measure_request *request, struct arena *arena,
    struct measure_result *out, struct error *err);

/* Whether the flows keep the contract: known numbers, places on their axes,
 * cells that the unit has, memory where the operation wants it. (flow.c) */
int32_t flow_check(const struct facts *facts, const struct unit *unit,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *total,
    struct error *err);

/* A function of the driver for a plugin, or NULL. */
void *engine_driver_function(
    struct engine *engine, const char *name, uint32_t cuda_version);

/* Waits at most deadline_ns for work on each of these GPUs: for role health.
 * positions: in facts->gpus. */
int32_t engine_health(struct engine *engine, const uint32_t *positions,
    uint32_t count, uint64_t deadline_ns, struct error *err);

#endif
