/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Record: the evidence of one attempt at one cell. It holds what was seen,
 * never what to think of it: medians, intervals and verdicts are computed
 * from it (common/stats, host/judge).
 *
 * A worker makes most records; the host makes those of cells on which no
 * worker had a word (crash, timeout, cancelled, not_run, blocked). */
#ifndef NVBW_RECORD_H
#define NVBW_RECORD_H

#include "telemetry.h"

/* A flow as it was carried out. Places are positions in facts->gpus for
 * memory on GPUs and in facts->nodes for memory on hosts. */
struct flow_record {
    uint32_t initiator, operation, src_memory, dst_memory;
    int32_t src_place, dst_place; /* resolved, never NVBW_NEAR; -1: none or
                                     unknown */
    int32_t executor;             /* GPU, or node for the CPU */
    uint32_t flags;               /* NVBW_FLOW_* */
    uint64_t bytes;               /* of one copy */
    uint64_t copies;              /* per sample */
    uint64_t repeats;             /* asked for by the plugin, 0: none */
    uint32_t load_permille, element, stride;
    uint64_t offset, ring;
    uint32_t counted;      /* 1: this cell's figure counts its bytes */
    const char *node_seen; /* host memory: node read back, "1", "mixed" or
                              "unknown" */
};

struct record {
    uint32_t unit, attempt; /* attempt from 0; confirm and rerun raise it */
    uint32_t series; /* the attempt by which --rerun-failed began the cell anew,
                        0: the first run; only the last series counts */
    const char *metric;
    uint32_t row, col;
    uint32_t state;      /* STATE_*: evidence only, so never pass or fail */
    const char *reason;  /* code from reason_table, or NULL */
    const char *message; /* one sentence, or NULL */
    int64_t code;        /* CUresult or errno, or 0 */

    /* A figure's samples in the metric's unit, in order of measurement. */
    double *samples;
    uint32_t samples_count;
    uint32_t discarded; /* samples thrown away and repeated */
    const char **flags; /* "short", "unsettled", "imprecise", "busy", "drift",
                           "cache_bound", "half", "derived", "coarse" (a
                           total known no better than to 2 %), "sms_missed"
                           (a latency without some SMs), "concurrent" (others
                           that share no GPU ran at the same time), ... */
    uint32_t flags_count;
    const char *mode;  /* "adaptive", "fixed" or "put" */
    const char *clock; /* "events", "host", "globaltimer" or "plugin" */
    double precision;  /* half-width / median asked for; NaN: none */

    uint64_t copy_bytes, copies, warmup; /* effective, per sample */
    uint64_t footprint_bytes;            /* source and destination slices */
    double footprint_over_cache;
    uint32_t placements; /* that the buffers had one after another, where they
                            were moved for it; else 0 */
    double pilot_spread; /* of the last two pilots, NaN: no pilot */
    double cover_margin; /* background left at the end, of its whole; NaN */
    double clock_gap_ns; /* worst |host - device| over the samples; NaN */

    const char *verified; /* "all", "last copy", "sum" or "off" */
    uint64_t verified_bytes;
    uint64_t mismatches; /* words that were wrong */
    uint64_t mismatch_offset, mismatch_expected, mismatch_actual;

    uint64_t traffic_bytes; /* memory side, where it differs from payload */
    double spread_low, spread_high; /* over SMs or threads; NaN: none */

    uint32_t *gpus; /* positions in facts->gpus that took part */
    uint32_t gpus_count;
    struct flow_record *flows;
    uint32_t flows_count;
    struct gpu_telemetry *telemetry; /* of these GPUs; added by the host */
    uint32_t telemetry_count;
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

extern const struct fields record_fields;
extern const struct fields flow_record_fields;

/* A record with every absent number set to NaN or -1. */
void record_init(struct record *record);

#endif
