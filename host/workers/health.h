/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Finds out whether GPUs still answer after a worker that used them could not
 * be ended. */
#ifndef NVBW_HEALTH_H
#define NVBW_HEALTH_H

#include "ledger.h"
#include "supervise.h"
#include "taint.h"

/* Asks one worker per GPU, all at once; a GPU whose worker fails or hangs is
 * tainted, and an event says so. gpus: positions in facts->gpus. */
int32_t health_check(const struct worker_setup *setup, struct crew *crew,
    struct ledger *ledger, const uint32_t *gpus, uint32_t count,
    struct taint *taint, struct error *err);

#endif
