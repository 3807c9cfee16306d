/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Lists of hosts as schedulers write them: "node[001-064,070],login1", ranges
 * with as many digits as their first number has, brackets as often as wanted;
 * "@FILE" holds such lists, one or more a line, "#" begins a comment. */
#ifndef NVBW_HOST_NAMES_H
#define NVBW_HOST_NAMES_H

#include "options.h"

enum { HOST_NAMES_LIMIT = 1 << 20 };

/* Appends the names to out. Texts live in arena. */
int32_t host_names_parse(const char *text, struct arena *arena,
    struct text_list *out, struct error *err);

#endif
