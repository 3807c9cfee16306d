/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char nothing[1] = "";

void strbuf_init(struct strbuf *buf, size_t limit_bytes)
{
    *buf = (struct strbuf){ .text = nothing, .limit = limit_bytes };
}

void strbuf_free(struct strbuf *buf)
{
    if (buf->capacity != 0) {
        free(buf->text);
    }
    strbuf_init(buf, buf->limit);
}

void strbuf_reset(struct strbuf *buf)
{
    buf->length = 0;
    buf->failed = 0;
    if (buf->capacity != 0) {
        buf->text[0] = '\0';
    }
}

static int make_room(struct strbuf *buf, size_t more)
{
    if (buf->failed || more > buf->limit - buf->length) {
        buf->failed = 1;
        return 0;
    }

    const size_t need = buf->length + more + 1;

    if (need <= buf->capacity) {
        return 1;
    }

    size_t capacity = buf->capacity == 0 ? 256 : buf->capacity;

    while (capacity < need) {
        capacity *= 2;
    }

    char *const text = realloc(buf->capacity == 0 ? NULL : buf->text, capacity);

    if (text == NULL) {
        buf->failed = 1;
        return 0;
    }
    buf->text = text;
    buf->capacity = capacity;
    return 1;
}

void strbuf_add_n(struct strbuf *buf, const void *bytes, size_t length)
{
    if (make_room(buf, length)) {
        if (length != 0) {
            memcpy(buf->text + buf->length, bytes, length);
        }
        buf->length += length;
        buf->text[buf->length] = '\0';
    }
}

void strbuf_add(struct strbuf *buf, const char *text)
{
    strbuf_add_n(buf, text, strlen(text));
}

void strbuf_add_repeat(struct strbuf *buf, char c, size_t count)
{
    if (make_room(buf, count)) {
        memset(buf->text + buf->length, c, count);
        buf->length += count;
        buf->text[buf->length] = '\0';
    }
}

void strbuf_format(struct strbuf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        buf->failed = 1;
        return;
    }
    if (make_room(buf, (size_t)length)) {
        va_start(args, format);
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, args);
        va_end(args);
        buf->length += (size_t)length;
    }
}
