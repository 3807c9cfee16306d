/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Resources: what transfers share, and how fast each goes. Pure arithmetic;
 * rates are bytes per nanosecond, that is GB/s. */
#ifndef SIM_RESOURCES_H
#define SIM_RESOURCES_H

#include <stdint.h>

enum { SIM_USES_MAX = 18 };

/* One resource that a transfer crosses. cost: bytes that the resource moves
 * per byte of payload. weight: the transfer's part when there is not enough. */
struct resource_use {
    uint32_t resource;
    double cost;
    double weight;
};

struct transfer_load {
    struct resource_use uses[SIM_USES_MAX];
    uint32_t uses_count;
    double limit; /* what the transfer reaches alone, 0: no limit */
    double rate;  /* out */
};

/* Gives every transfer its rate: the slowest share is settled first, what it
 * leaves over is shared again by the others. capacities: of each resource, 0
 * means unlimited. */
void resources_share(const double *capacities, uint32_t resources_count,
    struct transfer_load *const *loads, uint32_t loads_count);

#endif
