/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text_clean.h"

const char *const lines_paints[] = { PAINT_BAD, PAINT_ODD, PAINT_GOOD,
    PAINT_STRONG, PAINT_END, NULL };

/* Characters of the first bytes of text. */
static uint32_t width_of(const char *text, size_t bytes)
{
    uint32_t width = 0;

    for (size_t i = 0; i < bytes; i++) {
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return width;
}

/* Up to the next blank that a line may be broken at: not before a "%". */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " \n");

    while (text[length] == ' ' && text[length + 1] == '%') {
        length += 1 + strcspn(text + length + 1, " \n");
    }
    return length;
}

void lines_clean(struct strbuf *out, size_t from)
{
    text_clean(out->text + from, 0);
    out->length = from + strlen(out->text + from);
}

void lines_add(
    struct strbuf *out, uint32_t columns, uint32_t indent, const char *text)
{
    uint32_t at = indent;
    int is_first = 1;

    strbuf_add_repeat(out, ' ', indent);
    while (*text != '\0') {
        const size_t blanks = strspn(text, " \n");
        const size_t word = word_length(text + blanks);
        const uint32_t width = width_of(text + blanks, word);

        if (!is_first && at + 1 + width > columns) {
            at = indent + 2;
            strbuf_add(out, "\n");
            strbuf_add_repeat(out, ' ', at);
        } else if (!is_first) {
            strbuf_add(out, " ");
            at++;
        }

        const size_t from = out->length;

        strbuf_add_n(out, text + blanks, word);
        lines_clean(out, from);
        at += width;
        text += blanks + word;
        text += strspn(text, " \n");
        is_first = 0;
    }
    strbuf_add(out, "\n");
}

void lines_format(struct strbuf *out, uint32_t columns, uint32_t indent,
    const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lines_add(out, columns, indent, text);
}

void lines_paint(
    struct strbuf *out, const struct report_input *input, const char *paint)
{
    strbuf_add(out, input->colour ? paint : "");
}
