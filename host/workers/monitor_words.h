/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What is said of telemetry that a run lacks: events `telemetry`. */
#ifndef NVBW_MONITOR_WORDS_H
#define NVBW_MONITOR_WORDS_H

#include "monitor.h"

/* There will be no more readings: there was none in this run, or there are none
 * from now on. */
int32_t monitor_say_lacking(
    struct monitor *monitor, const char *why, struct error *err);
/* As the run ends: readings that a hanging NVML kept back are told of, where
 * there was something to read. */
int32_t monitor_say_end(struct monitor *monitor, struct error *err);

#endif
