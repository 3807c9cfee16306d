/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "standard_types.h"

#include <stddef.h>
#include <string.h>

static const char *modes[] = { "adaptive", "fixed" };
static const char *chases[] = { "stride", "random" };
static const char *concurrencies[] = { "alone", "disjoint" };
static const char *peer_modes[] = { "on", "off", "both" };

#define CHOICES(list)                                                          \
    .choices = (list), .choices_count = sizeof(list) / sizeof(list)[0]

static const struct param_schema types[] = {
    { .name = "mode", .type = NVBW_TYPE_ENUM, CHOICES(modes) },
    { .name = "buffer_size", .type = NVBW_TYPE_SIZE },
    { .name = "copies", .type = NVBW_TYPE_INT },
    { .name = "samples", .type = NVBW_TYPE_INT },
    { .name = "min_samples", .type = NVBW_TYPE_INT },
    { .name = "max_samples", .type = NVBW_TYPE_INT },
    { .name = "precision", .type = NVBW_TYPE_REAL, .unit = NVBW_UNIT_RATIO },
    { .name = "precision_contended",
        .type = NVBW_TYPE_REAL,
        .unit = NVBW_UNIT_RATIO },
    { .name = "warmup", .type = NVBW_TYPE_INT },
    { .name = "verify", .type = NVBW_TYPE_BOOL },
    { .name = "devices", .type = NVBW_TYPE_TEXT },
    { .name = "affinity", .type = NVBW_TYPE_BOOL },
    { .name = "timeout", .type = NVBW_TYPE_DURATION },
    { .name = "seed", .type = NVBW_TYPE_INT },
    { .name = "gate", .type = NVBW_TYPE_BOOL },
    { .name = "chase", .type = NVBW_TYPE_ENUM, CHOICES(chases) },
    { .name = "sizes", .type = NVBW_TYPE_SIZE, .flags = NVBW_PARAM_LIST },
    { .name = "concurrency", .type = NVBW_TYPE_ENUM, CHOICES(concurrencies) },
    { .name = "p2p", .type = NVBW_TYPE_ENUM, CHOICES(peer_modes) },
    { .name = "threads", .type = NVBW_TYPE_INT },
};

const struct param_schema *standard_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}
