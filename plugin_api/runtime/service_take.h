/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin's measurement in this build's structs, checked. */
#ifndef NVBW_SERVICE_TAKE_H
#define NVBW_SERVICE_TAKE_H

#include "service.h"

struct taken {
    struct measure_request all; /* everything at once */
    /* The measurement and those beside it, each by itself. */
    struct measure_request *parts;
    uint32_t parts_count;
};

/* What it makes lives in arena. NVBW_E_INVALID: a broken contract. */
int32_t service_take(struct service *service,
    const struct nvbw_measurement *given, struct arena *arena,
    struct taken *out, struct error *err);

#endif
