/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_BYTES = 64 << 10,
    INBOX_LIMIT = WIRE_FRAME_LIMIT + WIRE_HEADER_BYTES + FIRST_BYTES
};

void inbox_free(struct inbox *inbox)
{
    free(inbox->bytes);
    *inbox = (struct inbox){ .bytes = NULL };
}

/* Room for at least one byte at the end. */
static int make_room(struct inbox *inbox)
{
    if (inbox->start > 0 && inbox->end == inbox->capacity) {
        memmove(inbox->bytes, inbox->bytes + inbox->start,
            inbox->end - inbox->start);
        inbox->end -= inbox->start;
        inbox->start = 0;
    }
    if (inbox->end < inbox->capacity) {
        return 1;
    }
    if (inbox->capacity >= INBOX_LIMIT) {
        return 0;
    }

    size_t capacity = inbox->capacity == 0 ? FIRST_BYTES : inbox->capacity * 2;

    if (capacity > INBOX_LIMIT) {
        capacity = INBOX_LIMIT;
    }

    unsigned char *const bytes = realloc(inbox->bytes, capacity);

    if (bytes == NULL) {
        return 0;
    }
    inbox->bytes = bytes;
    inbox->capacity = capacity;
    return 1;
}

long inbox_read(struct inbox *inbox, int fd)
{
    if (!make_room(inbox)) {
        return -1;
    }

    const ssize_t got =
        read(fd, inbox->bytes + inbox->end, inbox->capacity - inbox->end);

    if (got > 0) {
        inbox->end += (size_t)got;
        return (long)got;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    return -1;
}

int32_t inbox_next(struct inbox *inbox, struct frame *out, struct error *err)
{
    const int32_t found = wire_find(
        inbox->bytes + inbox->start, inbox->end - inbox->start, out, err);

    if (found == 1) {
        inbox->start += out->frame_bytes;
    }
    return found;
}
