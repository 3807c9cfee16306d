/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin as a later minor will make them: its structs are longer, and it says
 * that an older host will do (rules C4 and C6). */
#include "nvbw/plugin.h"

enum { LATER_MINOR = 7, MORE_WORDS = 4 };

struct later_cell {
    struct nvbw_cell base;
    uint64_t more[MORE_WORDS];
};
struct later_metric {
    struct nvbw_metric base;
    uint64_t more[MORE_WORDS];
};
struct later_testcase {
    struct nvbw_testcase base;
    uint64_t more[MORE_WORDS];
};
struct later_plugin {
    struct nvbw_plugin base;
    uint64_t more[MORE_WORDS];
};
#define MORE                                                                   \
    {                                                                          \
        1, 2, 3, UINT64_MAX                                                    \
    }

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct later_cell cell = {
        .base = { .size = sizeof cell, .metric = "figure" }, .more = MORE
    };
    const double value = 42.0;

    return ctx->host->put(ctx, &cell.base, &value, 1);
}

static const struct later_metric figure = { .base = { .size = sizeof figure,
                                                .unit = NVBW_UNIT_COUNT,
                                                .better = NVBW_HIGHER,
                                                .name = "figure",
                                                .help = "Always 42." },
    .more = MORE };
static const struct later_testcase testcase = {
    .base = { .size = sizeof testcase,
        .name = "newer_structs",
        .summary = "Structs of a later minor.",
        .metrics = (const struct nvbw_metric *const[]){ &figure.base, NULL },
        .run = run },
    .more = MORE
};

/* The header knows the symbol by its own, shorter type. */
extern const struct later_plugin later __asm__("nvbw_plugin_v1")
    __attribute__((visibility("default")));
const struct later_plugin later = {
    .base = { .size = sizeof later,
        .magic = NVBW_MAGIC,
        .abi_minor = LATER_MINOR,
        .name = "newer_structs",
        .version = "1.0.0",
        .summary = "Structs of a later minor.",
        .licence = "Apache-2.0",
        .testcases =
            (const struct nvbw_testcase *const[]){ &testcase.base, NULL } },
    .more = MORE
};
