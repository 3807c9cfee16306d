/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic within the memory of each GPU, as data: the plugins differ in who
 * moves the bytes. */
#ifndef NVBW_LOCAL_TRAFFIC_H
#define NVBW_LOCAL_TRAFFIC_H

#include "nvbw/plugin.h"

/* By whom (NVBW_BY_*), and what (NVBW_OP_COPY, _READ or _WRITE). */
struct local_work {
    uint32_t initiator, operation;
};

/* The metrics of copies, and of reads and writes. */
extern const struct nvbw_metric *const local_metrics_copy[];
extern const struct nvbw_metric *const local_metrics_one_sided[];
extern const struct nvbw_needs local_needs;

/* The whole of a testcase's run(): every GPU in turn. */
int32_t local_traffic_run(struct nvbw_ctx *ctx, const struct local_work *work);

#endif
