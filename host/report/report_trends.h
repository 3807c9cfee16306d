/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What became of cells over the rounds of a run. */
#ifndef NVBW_REPORT_TRENDS_H
#define NVBW_REPORT_TRENDS_H

#include <jansson.h>

#include "report.h"

/* A summary and the cells that fall; nothing where there are no trends. */
void report_trends_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out);

/* A list with all of them. */
json_t *report_trends_json(const struct report_input *input);

#endif
