/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The guard of multicast. An object of NVLink multicast can take the GPUs of a
 * host out of service for everybody else on it, so this file is the only way to
 * one: multicast_create asks whether it may as the last thing before the
 * driver's call, whoever asked before. */
#ifndef NVBW_MULTICAST_GUARD_H
#define NVBW_MULTICAST_GUARD_H

#include "gpu.h"

/* allowed: the plan says allow_multicast = true. NVBW_E_SKIPPED and its reason
 * where not: no_multicast where the GPU has none, multicast_disabled where the
 * plan does not allow it or this process's environment forbids it. */
int32_t multicast_permitted(
    const struct gpu *gpu, uint32_t allowed, struct error *err);

/* The driver's cuMulticastCreate, where that is permitted. */
int32_t multicast_create(const struct gpu *gpu, uint32_t allowed,
    const struct cu_multicast_prop *prop, cu_memory *out, struct error *err);

#endif
