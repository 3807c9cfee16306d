/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Words that are no UTF-8 and would play with a terminal. */
#include "bad_plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    ctx->host->log(ctx, 99, "\x1b[2J\xff\xfe log\r\n");
    return ctx->host->fail(ctx, BAD_CELL(0, 0), NVBW_E_SYSTEM, 5,
        "\x1b]0;owned\x07\xc3\x28 \x80 message\nnext line");
}

BAD_PLUGIN("text_binary", "1", run);
