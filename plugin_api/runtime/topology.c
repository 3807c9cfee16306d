/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "topology.h"

int32_t topology_read(const char *driver_file, struct arena *arena,
    struct facts *out, struct error *err)
{
    *out = (struct facts){ .driver_file = driver_file == NULL ? "libcuda.so.1"
                                                              : driver_file };
    TRY(topology_host("", arena, out, err));
    TRY(topology_numa("", arena, out, err));
    out->driver_trouble = "the driver was not looked for";
    return NVBW_OK;
}
