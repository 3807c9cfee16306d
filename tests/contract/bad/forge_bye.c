/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Says goodbye in the worker's name and stays (rules C18 and C20). */
#include "bad_plugin.h"

#include <unistd.h>

#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct bye_frame bye = { .why = "poisoned" };
    (void)ctx;
    (void)wire_send(4, FRAME_BYE, &bye, NULL);
    for (;;) {
        (void)sleep(1);
    }
    return NVBW_OK;
}

BAD_PLUGIN("forge_bye", "1", run);
