/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What `compare` prints. */
#ifndef NVBW_COMPARE_TEXT_H
#define NVBW_COMPARE_TEXT_H

#include "compare.h"
#include "strbuf.h"

/* all: cells that are the same too. */
void compare_text(const struct compare_request *request,
    const struct comparisons *comparisons, int all, struct strbuf *out);
int32_t compare_json(const struct compare_request *request,
    const struct comparisons *comparisons, struct strbuf *out,
    struct error *err);

#endif
