/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The arithmetic of stamps. Pure. */
#ifndef NVBW_TOGETHER_H
#define NVBW_TOGETHER_H

#include <stdint.h>

#include "initiator.h"

/* Time within the stamps of a flow, its copies one after another. */
uint64_t together_busy(const struct stamp *stamps, uint64_t count);
/* Time within the stamps of both flows. */
uint64_t together_overlap(const struct stamp *one, uint64_t one_count,
    const struct stamp *other, uint64_t other_count);

#endif
