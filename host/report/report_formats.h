/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The writers behind report_formats, and the words that they share. */
#ifndef NVBW_REPORT_FORMATS_H
#define NVBW_REPORT_FORMATS_H

#include "report.h"

enum { REPORT_SCHEMA_VERSION = 1 };

int32_t report_text(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_verdict(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_json(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_nvbandwidth(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_nvbandwidth_json(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_csv(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_junit(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_html(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_prometheus(
    const struct report_input *input, struct strbuf *out, struct error *err);
int32_t report_summary(
    const struct report_input *input, struct strbuf *out, struct error *err);

/* What the outcome says: "PASSED" and a sentence. */
struct exit_words {
    int32_t code;
    const char *word, *text;
};
const struct exit_words *report_exit_words(const struct verdicts *verdicts);
/* The same by the code alone. */
const struct exit_words *report_words_of(int32_t exit_code);
/* The verdict's sentence, without an end of line and without a word on the
 * driver. */
void report_verdict_add(const struct report_input *input, struct strbuf *out);
/* " (SIMULATED, profile h200_x2)", for formats of a line; nothing where the
 * driver is real. */
void report_simulated_add(const struct facts *facts, struct strbuf *out);

#endif
