/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Describes itself otherwise once it is to run (rules C14 and C17). */
#include "bad_plugin.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int32_t run(struct nvbw_ctx *ctx)
{
    return settle(ctx, 0);
}

static const struct nvbw_testcase *list[2];

__attribute__((constructor)) static void choose(void);

BAD_TESTCASE("two_faces", "1", run);
static const struct nvbw_testcase other = {
    .size = sizeof other,
    .name = "two_faces_other",
    .summary = "Breaks one rule.",
    .metrics = (const struct nvbw_metric *const[]){ &bad_figure, NULL },
    .run = run,
};

/* The role is the worker's last argument. */
static void choose(void)
{
    char line[4096] = { 0 };
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t length = read(fd, line, sizeof line - 1);
    list[0] = &bad_testcase;
    if (length > 4 && memcmp(line + length - 4, "run", 4) == 0) {
        list[0] = &other;
    }
    (void)close(fd);
}

#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("two_faces"),
    .testcases = list };
