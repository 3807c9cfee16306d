/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Files that others put somewhere, read without ever waiting for them: a
 * FIFO, a device or a file that grows is refused, not read. */
#ifndef NVBW_PLUGIN_FILE_H
#define NVBW_PLUGIN_FILE_H

#include "arena.h"
#include "status.h"

enum {
    PLUGIN_FILE_LIMIT = 1 << 30,       /* bytes: kernels make plugins large */
    PLUGIN_FILE_SHA256_BYTES = 64 + 1, /* in hexadecimal digits, and a NUL */
};

struct file_bytes {
    unsigned char *bytes; /* free with file_bytes_free */
    size_t length;
};

/* Reads a regular file of at most limit_bytes, whole. The sentence of an
 * error does not name the file. NVBW_E_INVALID: not a regular file or too
 * long; NVBW_E_SYSTEM: cannot be read, errno as code. */
int32_t file_bytes_read(const char *file, size_t limit_bytes,
    struct file_bytes *out, struct error *err);
void file_bytes_free(struct file_bytes *file);

/* The sum of the bytes in lower-case hexadecimal. */
void file_bytes_sha256(
    const struct file_bytes *file, char out[PLUGIN_FILE_SHA256_BYTES]);

/* Reads up to size first bytes of a regular file: how many, or -1. */
int64_t file_head_read(const char *file, void *out, size_t size);

#endif
