/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Text under construction, with a bound. Past the bound, or without memory,
 * the buffer stays as it is and `failed` is set; look once at the end. */
#ifndef NVBW_STRBUF_H
#define NVBW_STRBUF_H

#include <stddef.h>

struct strbuf {
    char *text; /* NUL-terminated, never NULL after strbuf_init */
    size_t length, capacity, limit;
    int failed;
};

void strbuf_init(struct strbuf *buf, size_t limit_bytes);
void strbuf_free(struct strbuf *buf);
void strbuf_reset(struct strbuf *buf); /* empties, keeps the memory */

void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_n(struct strbuf *buf, const void *bytes, size_t length);
void strbuf_add_repeat(struct strbuf *buf, char c, size_t count);
void strbuf_format(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
