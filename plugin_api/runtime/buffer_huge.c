/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Pageable memory in huge pages: reserved ones where an administrator set
 * them aside, else transparent ones. */
#include "buffer_kinds.h"

#include "buffer_host.h"

static int32_t make(
    const struct buffer_want *want, struct buffer *out, struct error *err)
{
    TRY(buffer_host_make(want, HOST_PAGES_HUGE, out, err));
    out->kind = &buffer_huge_page;
    return NVBW_OK;
}

const struct buffer_kind buffer_huge_page = {
    .memory = NVBW_MEM_HUGE_PAGE,
    .on_host = 1,
    .gateable = 0,
    .make = make,
    .destroy = buffer_host_destroy,
};
