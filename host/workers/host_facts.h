/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The facts that the host itself can read, for when the facts worker fails:
 * names, memory, and the nodes as sysfs shows them. No GPUs. */
#ifndef NVBW_HOST_FACTS_H
#define NVBW_HOST_FACTS_H

#include "facts.h"

int32_t host_facts_read(
    struct arena *arena, struct facts *out, struct error *err);

#endif
