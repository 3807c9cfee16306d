/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Three threads that log without end and outlive run(): log is [any]. */
#include "bad_plugin.h"

#include <pthread.h>
#include <unistd.h>

static void *babble(void *ctx)
{
    const struct nvbw_host *const host = ((struct nvbw_ctx *)ctx)->host;
    for (;;) {
        host->log(ctx, NVBW_LOG_INFO, "still here");
        if (host->cancelled(ctx) || host->time_left_ns(ctx) < 0) {
            (void)usleep(1000);
        }
    }
    return NULL;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        (void)pthread_create(&thread, NULL, babble, ctx);
    }
    (void)usleep(100000);
    return settle(ctx, 0);
}

BAD_PLUGIN("thread_logs", "1", run);
