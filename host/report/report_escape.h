/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Text of others inside a document. A name, message or label may hold any
 * bytes; each function here leaves nothing that its format would take for
 * markup, for a line of its own or for a formula. */
#ifndef NVBW_REPORT_ESCAPE_H
#define NVBW_REPORT_ESCAPE_H

#include "strbuf.h"

/* UTF-8 without control characters: ends of line and tabs become blanks; other
 * controls, marks that turn the direction of writing and bytes that are no
 * UTF-8 become "?", as text_clean.h has it. NULL is "". */
void escape_plain(struct strbuf *out, const char *text);

/* The same for HTML and XML, in text and in quoted attributes. */
void escape_markup(struct strbuf *out, const char *text);

/* A field of RFC 4180, quoted where it must be. What a spreadsheet would take
 * for a formula gets an apostrophe in front. */
void escape_csv(struct strbuf *out, const char *text);

/* The value of a Prometheus label, without its quotes. */
void escape_label(struct strbuf *out, const char *text);

#endif
