/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic between hosts and GPUs: which flows run together, as data. The
 * plugins differ in who moves the bytes, not in what moves. */
#ifndef NVBW_HOST_TRAFFIC_H
#define NVBW_HOST_TRAFFIC_H

#include "nvbw/plugin.h"

/* One GPU is measured; the rest, if any, runs in the background. */
struct host_traffic {
    uint32_t to_gpu;    /* 1: host to GPU is measured; 0: GPU to host */
    uint32_t both_ways; /* 1: the other direction of the GPU behind it */
    uint32_t all_gpus;  /* 1: all other GPUs behind it, in the same ways */
};

/* By whom, and what memory of the host. splits: one kernel goes both ways at
 * once, and the measured way has half of its figure. */
struct host_mover {
    uint32_t initiator, memory, splits;
};

/* The metrics of traffic alone, and with other flows behind it. */
extern const struct nvbw_metric *const host_metrics_alone[];
extern const struct nvbw_metric *const host_metrics_together[];
extern const struct nvbw_needs host_needs;

/* The whole of a testcase's run(): every GPU in turn. */
int32_t host_traffic_run(struct nvbw_ctx *ctx,
    const struct host_traffic *traffic, const struct host_mover *mover);

/* At most so many flows with this many GPUs. */
uint32_t host_traffic_most(const struct host_traffic *traffic, uint32_t gpus);

/* Writes the flows that measure `gpu` among `gpus`, the counted one first,
 * and returns how many. The counted one's figure goes to cell. */
uint32_t host_traffic_flows(const struct host_traffic *traffic,
    const struct host_mover *mover, uint32_t gpus, uint32_t gpu,
    const struct nvbw_cell *cell, struct nvbw_flow *out_flows);

#endif
