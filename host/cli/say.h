/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the host says on stderr: one line, and nothing in it that plays with a
 * terminal, whoever its texts are of (text_clean.h). */
#ifndef NVBW_SAY_H
#define NVBW_SAY_H

/* "nvbw-host: ", the text and an end of line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same without the program's name in front. */
void say_plain(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct problem;

/* A mistake or a warning, with its place; what: the kind of file it is in. */
void say_problem(const char *what, const struct problem *problem);

#endif
