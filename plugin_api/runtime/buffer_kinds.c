/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "buffer_kinds.h"

#include <stddef.h>

const struct buffer_kind *const buffer_kinds[BUFFER_KINDS_END] = {
    [NVBW_MEM_NONE] = NULL,
    [NVBW_MEM_PINNED] = &buffer_pinned,
    [NVBW_MEM_PAGEABLE] = &buffer_pageable,
    [NVBW_MEM_WRITE_COMBINED] = &buffer_write_combined,
    [NVBW_MEM_HUGE_PAGE] = &buffer_huge_page,
    [NVBW_MEM_MANAGED] = &buffer_managed,
    [NVBW_MEM_DEVICE] = &buffer_device,
    [NVBW_MEM_FABRIC] = &buffer_fabric,
    [NVBW_MEM_MULTICAST] = &buffer_multicast,
};
