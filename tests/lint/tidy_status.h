/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Included before every file that clang-tidy reads, so that it knows what
 * error_set() and error_system() promise: a negative status. Without, it sees
 * failures that pass as successes, and all that follows from them. */
#ifndef TIDY_STATUS_H
#define TIDY_STATUS_H

#if __has_include("nvbw/plugin.h")
#include "../../plugin_api/common/status.h"

static inline int32_t tidy_failure(int32_t status)
{
    return status < 0 ? status : -1;
}

#define error_set(...)    tidy_failure(error_set(__VA_ARGS__))
#define error_system(...) tidy_failure(error_system(__VA_ARGS__))
#endif
#endif
