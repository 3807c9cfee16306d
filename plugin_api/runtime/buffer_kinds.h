/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kinds of memory, for the table in buffer_kinds.c alone. */
#ifndef NVBW_BUFFER_KINDS_H
#define NVBW_BUFFER_KINDS_H

#include "buffer.h"

extern const struct buffer_kind buffer_device;         /* buffer_device.c */
extern const struct buffer_kind buffer_fabric;         /* buffer_fabric.c */
extern const struct buffer_kind buffer_huge_page;      /* buffer_huge.c */
extern const struct buffer_kind buffer_managed;        /* buffer_driver.c */
extern const struct buffer_kind buffer_multicast;      /* buffer_multicast.c */
extern const struct buffer_kind buffer_pageable;       /* buffer_pageable.c */
extern const struct buffer_kind buffer_pinned;         /* buffer_pinned.c */
extern const struct buffer_kind buffer_write_combined; /* buffer_driver.c */

/* What memory that ranks share says without them. (buffer_fabric.c) */
int32_t buffer_needs_mpi(struct error *err);

#endif
