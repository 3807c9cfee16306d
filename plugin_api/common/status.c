/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_text(
    struct error *err, int32_t status, const char *format, va_list args)
{
    err->status = status;
    err->code = 0;
    vsnprintf(err->text, sizeof err->text, format, args);
}

int32_t error_set(struct error *err, int32_t status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;

        va_start(args, format);
        set_text(err, status, format, args);
        va_end(args);
    }
    return status;
}

int32_t error_system(struct error *err, const char *format, ...)
{
    const int code = errno;

    if (err != NULL) {
        va_list args;

        va_start(args, format);
        set_text(err, NVBW_E_SYSTEM, format, args);
        va_end(args);
        err->code = code;

        const size_t used = strlen(err->text);
        char words[128];

        snprintf(err->text + used, sizeof err->text - used, ": %s",
            strerror_r(code, words, sizeof words));
    }
    return NVBW_E_SYSTEM;
}

const char *status_name(int32_t status)
{
#define NAME_CASE(name, value, text)                                           \
    case value:                                                                \
        return #name;
    switch (status) {
        NVBW_STATUS_LIST(NAME_CASE)
    }
#undef NAME_CASE
    return "?";
}
