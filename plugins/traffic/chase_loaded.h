/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The time of one load while others read over the same way: a curve over the
 * load that is offered, which is reads by SMs of the same GPU, at a part of the
 * rate that they reach alone. For plugins whose testcases differ in whose
 * memory it is. */
#ifndef NVBW_CHASE_LOADED_H
#define NVBW_CHASE_LOADED_H

#include "chase_footprint.h"
#include "nvbw/plugin.h"

struct chase_loaded {
    enum chase_where where;
    uint32_t memory;  /* NVBW_MEM_*: that is read */
    const char *axis; /* of the columns, and with ON_PEER of whose memory it is:
                         "gpu" or "rank" */
};

/* By axis; those with `peer` or `rank` are for ON_PEER. */
extern const struct nvbw_param *const chase_loaded_params[];
extern const struct nvbw_param *const chase_loaded_peer_params[];
extern const struct nvbw_param *const chase_loaded_rank_params[];
extern const struct nvbw_metric *const chase_loaded_metrics[];
extern const struct nvbw_metric *const chase_loaded_rank_metrics[];

/* The whole of a testcase's run(): every cell of those metrics. */
int32_t chase_loaded_run(struct nvbw_ctx *ctx, const struct chase_loaded *what);

/* What the helps of such testcases say alike. */
#define CHASE_LOADED_ABOUT                                                     \
    "One thread of one SM follows a random chain (as chase = \"random\" "      \
    "does, "                                                                   \
    "whatever the plan says) while the SMs of the same GPU, with half of the " \
    "threads that they hold, read other memory at the same place. How fast "   \
    "they are alone is measured first, for each cell; then they are paced to " \
    "the row's percent of it, evenly, each tile of 16 KiB at its time. "       \
    "`rate` "                                                                  \
    "is what came of it while the chain was followed, less than was offered "  \
    "where the two get into each other's way or the way is full. That the "    \
    "load "                                                                    \
    "outlasted each sample is proved as for all background traffic.\n\n"       \
    "A sample is a stretch of 16 thousand loads or more, and figures are of "  \
    "samples: percentiles are over stretches. They show how latency wavers "   \
    "from one stretch to the next, not how single loads differ.\n\n"           \
    "buffer_size and chase have no effect. Verified: of the chain every "      \
    "link, "                                                                   \
    "and where each walk ends; of the load the sum of what was read."

#endif
