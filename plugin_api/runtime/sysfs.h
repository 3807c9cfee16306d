/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Small files of /proc and /sys. Paths are given as a printf format. */
#ifndef NVBW_SYSFS_H
#define NVBW_SYSFS_H

#include "arena.h"

enum { SYSFS_TEXT_BYTES = 64 * 1024, SYSFS_PATH_BYTES = 512 };

/* The file's text without blanks at its ends; NULL where it cannot be read or
 * is empty. */
char *sysfs_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same into a buffer; 1 or 0. (Linked under another name, since the
 * archive of libnuma has a function of this one.) */
int sysfs_read(char *out, size_t size, const char *format, ...) __asm__(
    "nvbw_sysfs_read") __attribute__((format(printf, 3, 4)));
/* A decimal or 0x number at the start of a file; 1 or 0. */
int sysfs_number(int64_t *out_value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The rest of the first line of text that begins with key, without the
 * separator (":" or "=") and blanks. NULL: none. */
char *sysfs_value(struct arena *arena, const char *text, const char *key);

#endif
