/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Reports: one table of formats, each a function of evidence and verdicts. */
#ifndef NVBW_REPORT_H
#define NVBW_REPORT_H

#include "judge.h"
#include "strbuf.h"

struct report_input {
    const struct evidence *evidence;
    const struct verdicts *verdicts;
    const char *run_dir; /* or NULL */
    uint32_t columns;    /* text: width of the terminal, 0: 80 */
    uint32_t colour;     /* text: 1 on a terminal without NO_COLOR */
};

struct report_format {
    const char *name, *summary;
    uint32_t for_people; /* 1: text that may go to a terminal */
    int32_t (*write)(const struct report_input *input, struct strbuf *out,
        struct error *err);
};
/* Ends with a NULL name. */
extern const struct report_format report_formats[];
const struct report_format *report_find(const char *name);

/* Writes a text to a file, whole or not at all; "-" is stdout. */
int32_t report_put(
    const char *file, const struct strbuf *text, struct error *err);
/* Writes one report to a file, whole or not at all; "-" is stdout. */
int32_t report_write(const struct report_format *format,
    const struct report_input *input, const char *file, struct error *err);

#endif
