/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How many ranks there are. Asks the host, not MPI. */
#ifndef NVBW_RANK_COUNT_H
#define NVBW_RANK_COUNT_H

#include "nvbw/plugin.h"

uint32_t rank_count(struct nvbw_ctx *ctx);

#endif
