/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the kinds of ordinary host memory have in common. */
#ifndef NVBW_BUFFER_HOST_H
#define NVBW_BUFFER_HOST_H

#include "buffer.h"
#include "host_memory.h"

/* Fills *out but for its kind. */
int32_t buffer_host_make(const struct buffer_want *want, enum host_pages pages,
    struct buffer *out, struct error *err);
void buffer_host_destroy(struct buffer *buffer);

#endif
