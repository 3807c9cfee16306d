/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ends the thread that the host called it on; another one goes on (rule
 * C17). */
#include "bad_plugin.h"

#include <pthread.h>
#include <unistd.h>

static void *spin(void *unused)
{
    for (;;) {
        (void)sleep(1);
    }
    return unused;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    pthread_t thread;
    (void)ctx;
    (void)pthread_create(&thread, NULL, spin, NULL);
    pthread_exit(NULL);
}

BAD_PLUGIN("thread_exit", "1", run);
