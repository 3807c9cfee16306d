/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A judged run in short, its places named as in reports. */
#ifndef NVBW_REPORT_NODE_H
#define NVBW_REPORT_NODE_H

#include "node_of_run.h"

int32_t report_node(const struct evidence *evidence,
    const struct verdicts *verdicts, struct arena *arena, struct node *out,
    struct error *err);

#endif
