/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <stddef.h>

#include "initiator.h"
#include "nvbw/plugin.h"

const struct initiator *const chasers[INITIATORS_END] = {
    [NVBW_BY_SM] = &chaser_sm,
    [NVBW_BY_TMA] = &chaser_tma,
};
