/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the testcases of this plugin share. */
#ifndef NVBW_LATENCY_H
#define NVBW_LATENCY_H

#include "chase_footprint.h"
#include "nvbw/plugin.h"

/* latency_loaded.c */
extern const struct nvbw_testcase host_device_latency_loaded;
extern const struct nvbw_testcase device_to_device_latency_loaded;
extern const struct nvbw_testcase device_local_latency_loaded;

#endif
