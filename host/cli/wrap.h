/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Texts in lines that fit a terminal. */
#ifndef NVBW_WRAP_H
#define NVBW_WRAP_H

enum { WRAP_COLUMNS = 80 };

/* To stdout: lead as it is, then the words of text, in lines that begin with
 * indent blanks from the second on. Text that has no room beside a long lead
 * begins below it. Ends the line. text may be NULL. */
void wrap_print(const char *lead, int indent, const char *text);

#endif
