/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The operations of STREAM within each GPU, at every size of a ladder. */
#ifndef NVBW_LOCAL_STREAM_H
#define NVBW_LOCAL_STREAM_H

#include "nvbw/plugin.h"

extern const struct nvbw_testcase stream_copy, stream_scale, stream_add,
    stream_triad, stream_dot;

#endif
