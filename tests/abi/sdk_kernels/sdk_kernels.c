/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin with a kernel of its own, as far as building it goes. */
#include "nvbw/plugin.h"

#if NVBW_HAVE_KERNELS
extern const unsigned char touch_fatbin[], touch_fatbin_end[];
#endif

static int32_t run(struct nvbw_ctx *ctx)
{
#if NVBW_HAVE_KERNELS
    /* A fatbin begins with a magic number. */
    const double bytes = (double)(touch_fatbin_end - touch_fatbin);
    const struct nvbw_cell cell = NVBW_CELL("size", 0, 0);
    return touch_fatbin[0] == 0x50 ? ctx->host->put(ctx, &cell, &bytes, 1)
                                   : NVBW_E_INVALID;
#else
    return ctx->host->skip(
        ctx, NULL, NVBW_SKIP_NOT_BUILT, "built without nvcc");
#endif
}

static const struct nvbw_metric size = {
    .size = sizeof size,
    .unit = NVBW_UNIT_BYTES,
    .better = NVBW_LOWER,
    .name = "size",
    .help = "Bytes of the kernel.",
};
static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "sdk_kernels",
    .summary = "Has a kernel.",
    .metrics = (const struct nvbw_metric *const[]){ &size, NULL },
    .run = run,
};
const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "sdk_kernels",
    .version = "1.0.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL },
};
