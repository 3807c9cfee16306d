/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Lines of the text report. */
#ifndef NVBW_REPORT_LINES_H
#define NVBW_REPORT_LINES_H

#include "report.h"

/* Adds text broken at blanks to lines of `columns`; the first begins at column
 * indent, the others two further in. What is unwanted in it becomes "?". */
void lines_add(
    struct strbuf *out, uint32_t columns, uint32_t indent, const char *text);
void lines_format(struct strbuf *out, uint32_t columns, uint32_t indent,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Cleans what was added from there on; it has no lines. (text_clean.h) */
void lines_clean(struct strbuf *out, size_t from);

/* Colours, for terminals; PAINT_END ends each. */
#define PAINT_BAD    "\033[1;31m"
#define PAINT_ODD    "\033[33m"
#define PAINT_GOOD   "\033[1;32m"
#define PAINT_STRONG "\033[1m"
#define PAINT_END    "\033[0m"
/* All of them, ended by NULL: the one thing of the kind that may stand in a
 * report. */
extern const char *const lines_paints[];
/* Adds one of them where the report has colours. */
void lines_paint(
    struct strbuf *out, const struct report_input *input, const char *paint);

/* That no hardware was measured, where it was not. (report_foot.c) */
void report_banner_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out);

/* Findings, counts, the verdict and where to look. (report_foot.c) */
void report_foot_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out);

/* The known defects that the plan accepts, each with what it covers and why;
 * nothing where there are none. (report_accepts.c) */
void report_accepts_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out);

#endif
