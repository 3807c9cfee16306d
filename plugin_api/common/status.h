/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Errors of host and worker: a status and one sentence.
 *
 * A function that can fail returns an int32_t, NVBW_OK or one of the negative
 * statuses of nvbw/plugin.h, and takes `struct error *err` last. Whoever
 * decides that something failed writes the sentence (FAIL_IF, error_set);
 * callers forward the status (TRY). Library files never print or exit. */
#ifndef NVBW_STATUS_H
#define NVBW_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "nvbw/plugin.h"

/* One error: what, which, where and what to do, lower case, without a final
 * period. err may be NULL wherever the sentence is of no use. */
struct error {
    int32_t status;
    int64_t code; /* CUresult or errno, 0 if there is none */
    char text[1024];
};

#define TRY(expr)                                                              \
    do {                                                                       \
        const int32_t try_status_ = (expr);                                    \
        if (try_status_ < 0) {                                                 \
            return try_status_;                                                \
        }                                                                      \
    } while (0)

#define FAIL_IF(cond, err, status, ...)                                        \
    do {                                                                       \
        if (cond) {                                                            \
            return error_set((err), (status), __VA_ARGS__);                    \
        }                                                                      \
    } while (0)

/* Fills *err and returns status. */
int32_t error_set(struct error *err, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the words of errno, and
 * returns NVBW_E_SYSTEM. */
int32_t error_system(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "E_CUDA" for NVBW_E_CUDA; "?" for an unknown number. */
const char *status_name(int32_t status);

#endif
