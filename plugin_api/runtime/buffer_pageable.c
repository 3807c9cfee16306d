/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Pageable memory: what malloc gives, but placed and populated. */
#include "buffer_kinds.h"

#include "buffer_host.h"

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    TRY(buffer_host_make(want, HOST_PAGES_NORMAL, out, err));
    out->kind = &buffer_pageable;
    return NVBW_OK;
}

const struct buffer_kind buffer_pageable = {
    .memory = NVBW_MEM_PAGEABLE,
    .on_host = 1,
    .gateable = 0,
    .make = make,
    .destroy = buffer_host_destroy,
};
