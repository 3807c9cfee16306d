/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Steps of fleet_finish that have a file of their own, after nodes are in
 * order. (fleet_census.c) */
#ifndef NVBW_FLEET_PARTS_H
#define NVBW_FLEET_PARTS_H

#include "fleet.h"

int32_t fleet_find_differences(struct fleet *fleet, struct error *err);
int32_t fleet_find_missing(struct fleet *fleet, const char *const *expected,
    uint32_t expected_count, struct error *err);

#endif
