/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The traffic class of a cell, from its flows and the facts, never from the
 * name of a testcase. Pure. */
#ifndef NVBW_TRAFFIC_CLASS_H
#define NVBW_TRAFFIC_CLASS_H

#include "ceiling.h"

/* The class of a cell by its first counted flow; way WAY_NONE if it has no
 * flow that moves bytes. */
void traffic_of_record(const struct facts *facts, const struct record *record,
    struct traffic *out);

/* The name of the GPU whose link that flow crosses, its source's between
 * peers; NULL: none. */
const char *traffic_gpu(const struct facts *facts, const struct record *record);

/* For a limit's `direction`: "h2d", "d2h", "d2d", "h2h", "local", or "both"
 * where the counted flows go both ways; NULL: unknown. */
const char *traffic_direction(
    const struct facts *facts, const struct record *record);

#endif
