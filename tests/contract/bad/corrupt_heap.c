/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bad_plugin.h"

#include <stdlib.h>
#include <string.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    void *(*volatile fill)(void *, int, size_t) = memset;
    char *const first = malloc(2000);
    char *const second = malloc(2000);
    if (first != NULL && second != NULL) {
        (void)fill(first, 0xa5, 2048);
    }
    free(second);
    free(first);
    return settle(ctx, 0);
}

BAD_PLUGIN("corrupt_heap", "1", run);
