/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Bytes that came from a worker, cut into frames. Grows up to the largest
 * frame that the wire allows and no further. */
#ifndef NVBW_INBOX_H
#define NVBW_INBOX_H

#include <stddef.h>

#include "wire.h"

struct inbox {
    unsigned char *bytes;
    size_t start, end, capacity;
};

void inbox_free(struct inbox *inbox);

/* Reads what a non-blocking descriptor has, at most a fixed amount so that a
 * flood from one worker does not starve the others. Returns the bytes read, 0
 * when there are none now, -1 at the end of file or on an error. */
long inbox_read(struct inbox *inbox, int fd);

/* The next frame: 1, 0 where more bytes are needed, NVBW_E_INVALID where these
 * bytes can never be one. *out points into the inbox until the next call of
 * inbox_read. */
int32_t inbox_next(struct inbox *inbox, struct frame *out, struct error *err);

#endif
