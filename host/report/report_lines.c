/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lines_add(
    struct strbuf *out, uint32_t columns, uint32_t indent, const char *text)
{
    uint32_t at = indent;
    int is_first = 1;

    strbuf_add_repeat(out, ' ', indent);
    while (*text != '\0') {
        const size_t blanks = strspn(text, " \n");
        const size_t word = strcspn(text + blanks, " \n");

        if (!is_first && at + 1 + word > columns) {
            at = indent + 2;
            strbuf_add(out, "\n");
            strbuf_add_repeat(out, ' ', at);
        } else if (!is_first) {
            strbuf_add(out, " ");
            at++;
        }
        strbuf_add_n(out, text + blanks, word);
        at += (uint32_t)word;
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
