/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Topology: reads the facts of the machine from driver, NVML, sysfs and the
 * system. Only workers of role `facts` call it. What cannot be read is absent
 * in the facts, never guessed. */
#ifndef NVBW_TOPOLOGY_H
#define NVBW_TOPOLOGY_H

#include "arena.h"
#include "facts.h"
#include "status.h"

/* Everything. driver_file: instead of libcuda.so.1, or NULL. Negative only
 * without memory: a machine without a driver has facts that say so. */
int32_t topology_read(const char *driver_file, struct arena *arena,
    struct facts *out, struct error *err);

/* The parts, in the order in which they are read. root: of the file system,
 * "" but in tests. */
int32_t topology_host(const char *root, struct arena *arena,
    struct facts *facts, struct error *err);
int32_t topology_numa(const char *root, struct arena *arena,
    struct facts *facts, struct error *err);

#endif
