/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A header that promises more bytes than any frame may have. */
#include "bad_plugin.h"

#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    static const unsigned char header[12] = { 'N', 'V', 'B', 'W', 8, 0, 0, 0,
        0xff, 0xff, 0xff, 0xff };
    (void)!write(4, header, sizeof header);
    return settle(ctx, 0);
}

BAD_PLUGIN("huge_frame", "1", run);
