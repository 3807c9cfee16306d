/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbw-worker: everything that touches a plugin, CUDA or NVML runs in this
 * program. The host starts it with frames on descriptors 3 and 4. */
#include <time.h>
#include <unistd.h>

#include "version.h"
#include "wire.h"

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
    const struct hello_frame hello = {
        .build = NVBW_BUILD, .pid = (int32_t)getpid(), .now_ns = now_ns()
    };

    wire_send(WIRE_OUT_FD, FRAME_HELLO, &hello, NULL);
    _exit(0);
}
