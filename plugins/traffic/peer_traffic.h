/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic between GPUs: which flows run together and which cells they settle,
 * as data. The plugins differ in who moves the bytes, not in what moves, so a
 * plugin is a table of names over this.
 *
 * A GPU acts and another one suffers it: who writes is the source, who reads
 * is the destination, and either way the actor is the executor. */
#ifndef NVBW_PEER_TRAFFIC_H
#define NVBW_PEER_TRAFFIC_H

#include "nvbw/plugin.h"

enum peer_shape {
    PEER_PAIR,       /* row acts on column: (bandwidth, row, col) */
    PEER_BOTH_WAYS,  /* each acts on the other: forward is row to column,
                       reverse column to row, total both */
    PEER_ALL_TO_ONE, /* all others act on one: (bandwidth, 0, one) */
    PEER_ONE_TO_ALL  /* one acts on all others: (bandwidth, 0, one) */
};

struct peer_traffic {
    enum peer_shape shape;
    uint32_t reads; /* 1: the actor reads; 0: it writes */
};

/* By whom. flags: NVBW_FLOW_STAGED or 0. axis: whose memory it is, "rank" for
 * MPI ranks, whose memory is NVBW_MEM_FABRIC; NULL: "gpu". */
struct peer_mover {
    uint32_t initiator, flags;
    const char *axis;
};

/* Choices of the standard parameter p2p. */
enum { PEER_P2P_ON = 0, PEER_P2P_OFF = 1 };
/* Choices of the standard parameter concurrency. */
enum { PEER_CONCURRENCY_ALONE = 0, PEER_CONCURRENCY_DISJOINT = 1 };

/* The metrics of each shape, for the plugins' tables. */
extern const struct nvbw_metric *const peer_metrics_pair[];
extern const struct nvbw_metric *const peer_metrics_both_ways[];
extern const struct nvbw_metric *const peer_metrics_team[];
/* Two GPUs of which one can address the other's memory, of at least this
 * compute capability. */
#define PEER_NEEDS(compute)                                                    \
    {                                                                          \
        .size = sizeof(struct nvbw_needs), .features = NVBW_NEED_PEER,         \
        .min_gpus = 2, .min_compute = (compute)                                \
    }

/* The whole of a testcase's run(): every cell of the traffic's metrics. */
int32_t peer_traffic_run(struct nvbw_ctx *ctx,
    const struct peer_traffic *traffic, const struct peer_mover *mover);
/* The same for an initiator that runs kernels, which have no way around a
 * missing peer access: with p2p = "off" all is skipped. */
int32_t peer_traffic_run_kernels(struct nvbw_ctx *ctx,
    const struct peer_traffic *traffic, uint32_t initiator);

#endif
