/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* CLOCK_MONOTONIC in nanoseconds: the clock of frames, journal and
 * deadlines. */
#ifndef NVBW_HOST_CLOCK_H
#define NVBW_HOST_CLOCK_H

#include <stdint.h>

uint64_t host_clock_ns(void);

/* now + span, UINT64_MAX (never) where that is past the end of time. */
uint64_t host_clock_after(uint64_t now_ns, uint64_t span_ns);

#endif
