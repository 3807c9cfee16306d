/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "clock.h"

#include <time.h>

uint64_t clock_machine_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static clock_now_fn *clock_in_use = clock_machine_ns;

void clock_use(clock_now_fn *now)
{
    clock_in_use = now != NULL ? now : clock_machine_ns;
}

uint64_t clock_now_ns(void)
{
    return clock_in_use();
}
