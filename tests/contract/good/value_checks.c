/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* value_checks: groups in a plan and what a check() says of them; a parameter
 * makes that check() break the contract. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvbw/plugin.h"

static const struct nvbw_param part_name = {
    .size = sizeof part_name,
    .type = NVBW_TYPE_TEXT,
    .name = "name",
    .help = "What it is called.",
};
static const struct nvbw_param part_bytes = { .size = sizeof part_bytes,
    .type = NVBW_TYPE_SIZE,
    .name = "bytes",
    .help = "Not an odd number.",
    .default_text = "1 MiB",
    .max_text = "1 GiB" };
static const struct nvbw_param part_kind = {
    .size = sizeof part_kind,
    .type = NVBW_TYPE_ENUM,
    .name = "kind",
    .help = "One of two.",
    .default_text = "hot",
    .choices =
        (const char *const[]){ "hot", "Hot.", "cold, really", "Cold.", NULL },
};
static const struct nvbw_param parts = {
    .size = sizeof parts,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_GROUP,
    .name = "parts",
    .help = "Parts, each with a name.",
    .members = (const struct nvbw_param *const[]){ &part_name, &part_bytes,
        &part_kind, NULL },
};
static const struct nvbw_param least = { .size = sizeof least,
    .type = NVBW_TYPE_SIZE,
    .name = "least",
    .help = "Bytes that each part must have.",
    .default_text = "0 B" };
static const struct nvbw_param deed = {
    .size = sizeof deed,
    .type = NVBW_TYPE_ENUM,
    .name = "deed",
    .help = "What check() does wrong.",
    .default_text = "none",
    .choices = (const char *const[]){ "none", "Nothing.", "measures",
        "Calls measure().", "places", "Asks for places.", "crashes",
        "Ends the process.", "fails", "Returns an error.", "undeclared",
        "Refuses a parameter that it has not.", "beyond",
        "Refuses an element that is not there.", NULL },
};

enum deed {
    DEED_NONE,
    DEED_MEASURES,
    DEED_PLACES,
    DEED_CRASHES,
    DEED_FAILS,
    DEED_UNDECLARED,
    DEED_BEYOND
};

static int32_t misbehave(struct nvbw_ctx *ctx)
{
    const struct nvbw_host *const host = ctx->host;

    switch (host->param_int(ctx, "deed", 0)) {
    case DEED_MEASURES:
        return host->measure(ctx, NULL);
    case DEED_PLACES:
        host->places(ctx, "gpu");
        return NVBW_OK;
    case DEED_CRASHES:
        abort();
    case DEED_FAILS:
        return NVBW_E_SYSTEM;
    case DEED_UNDECLARED:
        return host->refuse(ctx, "nothing", 0, "it is not there");
    case DEED_BEYOND:
        return host->refuse(ctx, "deed", 9, "it is not there");
    default:
        return NVBW_OK;
    }
}

static int32_t check(struct nvbw_ctx *ctx)
{
    const uint32_t count = ctx->host->param_count(ctx, "parts");
    const int64_t floor = ctx->host->param_int(ctx, "least", 0);
    char text[128];

    if (count == 0) {
        ctx->host->refuse(ctx, "parts", 0, "there are no parts");
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *const name = ctx->host->param_text(ctx, "parts.name", i);
        const int64_t bytes = ctx->host->param_int(ctx, "parts.bytes", i);

        if (bytes % 2 != 0) {
            snprintf(text, sizeof text, "part \"%s\" is odd", name);
            ctx->host->refuse(ctx, "parts.bytes", i, text);
        }
        if (bytes < floor) {
            snprintf(text, sizeof text, "part \"%s\" is small", name);
            ctx->host->refuse(ctx, "parts", i, text);
        }
    }
    return misbehave(ctx);
}

/* The sum of all parts' bytes, and of the cold ones'. */
static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell all = NVBW_CELL("sum", 0, 0);
    const uint32_t count = ctx->host->param_count(ctx, "parts");
    double sum = 0.0;

    for (uint32_t i = 0; i < count; i++) {
        const struct nvbw_cell cell = NVBW_CELL("part", i, 0);
        const double bytes =
            (double)ctx->host->param_int(ctx, "parts.bytes", i);

        if (strstr(ctx->host->param_text(ctx, "parts", i), ".cfg:") == NULL) {
            return NVBW_E_INVALID;
        }
        if (ctx->host->param_int(ctx, "parts.kind", i) == 0) {
            sum += bytes;
        }
        ctx->host->put(ctx, &cell, &bytes, 1);
    }
    return ctx->host->put(ctx, &all, &sum, 1);
}

static const struct nvbw_metric sum_of_hot = { .size = sizeof sum_of_hot,
    .unit = NVBW_UNIT_BYTES,
    .better = NVBW_HIGHER,
    .name = "sum",
    .help = "Of the bytes of hot parts." };
static const struct nvbw_metric part = { .size = sizeof part,
    .unit = NVBW_UNIT_BYTES,
    .better = NVBW_HIGHER,
    .name = "part",
    .help = "Its bytes.",
    .rows = "parts.name" };
static const struct nvbw_testcase value_checks = {
    .size = sizeof value_checks,
    .name = "value_checks",
    .summary = "Groups, and what a check says of them.",
    .params = (const struct nvbw_param *const[]){ &parts, &least, &deed, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &sum_of_hot, &part, NULL },
    .run = run,
    .check = check,
};

const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "value_checks",
    .version = "1.0.0",
    .summary = "Groups, and what a check says of them.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &value_checks, NULL },
};
