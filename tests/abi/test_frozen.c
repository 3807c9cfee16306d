/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Today's header reads a plugin that was built from a frozen one. */
#include "nvbw/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int complain(const char *file, const char *what)
{
    fprintf(stderr, "%s: %s\n", file, what);
    return 1;
}

/* A small host: it takes one figure. */
static double taken;

static int32_t put(struct nvbw_ctx *ctx, const struct nvbw_cell *cell,
    const double *samples, uint64_t count)
{
    (void)ctx;
    if (cell->size != sizeof *cell || strcmp(cell->metric, "figure") != 0 ||
        count != 1) {
        return NVBW_E_INVALID;
    }
    taken = samples[0];
    return NVBW_OK;
}

static int check(const char *file, const struct nvbw_plugin *plugin)
{
    const struct nvbw_host host = {
        .size = sizeof host, .abi_minor = NVBW_ABI_MINOR, .put = put
    };
    const struct nvbw_testcase *testcase = plugin->testcases[0];
    struct nvbw_ctx ctx = {
        .size = sizeof ctx, .host = &host, .testcase = testcase
    };

    if (plugin->magic != NVBW_MAGIC || plugin->size > sizeof *plugin) {
        return complain(file, "is not of this contract");
    }
    if (testcase == NULL || testcase->size > sizeof *testcase ||
        plugin->testcases[1] != NULL) {
        return complain(file, "has other testcases than it was built with");
    }
    if (testcase->run(&ctx) != NVBW_OK || taken < 42.0 || taken > 42.0) {
        return complain(file, "did not put its figure");
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return complain(argv[0], "takes the path of one plugin");
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return complain(argv[1], dlerror());
    }
    const struct nvbw_plugin *plugin = dlsym(library, "nvbw_plugin_v1");
    if (plugin == NULL) {
        return complain(argv[1], "exports no nvbw_plugin_v1");
    }
    return check(argv[1], plugin);
}
