/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "initiator.h"

#include <stddef.h>

#include "nvbw/plugin.h"

const struct initiator *const initiators[INITIATORS_END] = {
    [NVBW_BY_CE] = &initiator_ce,
    [NVBW_BY_SM] = &initiator_sm,
    [NVBW_BY_TMA] = &initiator_tma,
    [NVBW_BY_PLUGIN] = &initiator_plugin,
};
