/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

#include "plan.h"
#include "text_clean.h"

enum { SAID_BYTES = 4096 };

static void say_list(const char *who, const char *format, va_list args)
{
    char text[SAID_BYTES];

    vsnprintf(text, sizeof text, format, args);
    text_clean(text, 0);
    fprintf(stderr, "%s%s\n", who, text);
}

void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_list("nvbw-host: ", format, args);
    va_end(args);
}

void say_plain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_list("", format, args);
    va_end(args);
}

void say_problem(const char *what, const struct problem *problem)
{
    const char *const warning = problem->is_warning ? "warning: " : "";

    if (problem->origin.file != NULL && problem->origin.file[0] == '-' &&
        problem->origin.line > 0) { /* the option that was given so often */
        say("%s%s:%u: %s", warning, problem->origin.file, problem->origin.line,
            problem->text);
    } else if (problem->origin.file != NULL && problem->origin.line > 0) {
        say("%s%s %s:%u: %s", warning, what, problem->origin.file,
            problem->origin.line, problem->text);
    } else if (problem->origin.file != NULL) {
        say("%s%s: %s", warning, problem->origin.file, problem->text);
    } else {
        say("%s%s", warning, problem->text);
    }
}
