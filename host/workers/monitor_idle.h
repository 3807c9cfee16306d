/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#ifndef NVBW_MONITOR_IDLE_H
#define NVBW_MONITOR_IDLE_H

#include "monitor.h"

/* Where the plan expects idle GPUs: waits until they are, for as long as its
 * telemetry lets others settle. An event `busy` for each GPU that is not idle
 * then; out_unfit: why nothing may be measured, "" if something may. */
int32_t monitor_expect_idle(
    struct monitor *monitor, char *out_unfit, size_t size, struct error *err);

#endif
