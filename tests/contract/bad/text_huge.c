/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A message of 100 MiB: it is cut (rule C20). */
#include "bad_plugin.h"

#include <stdlib.h>
#include <string.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    const size_t length = (size_t)100 << 20;
    char *const text = malloc(length + 1);
    if (text == NULL) {
        return NVBW_E_SYSTEM;
    }
    memset(text, 'a', length);
    text[length] = '\0';
    ctx->host->log(ctx, NVBW_LOG_INFO, text);
    return ctx->host->fail(ctx, NULL, NVBW_E_SYSTEM, 0, text);
}

BAD_PLUGIN("text_huge", "1", run);
