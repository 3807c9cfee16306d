/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_clock.h"

#include <time.h>

uint64_t host_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t host_clock_after(uint64_t now_ns, uint64_t span_ns)
{
    return span_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + span_ns;
}
