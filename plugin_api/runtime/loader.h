/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Loader: a plugin file becomes a checked schema and callable testcases. What
 * it loads stays loaded until the process ends (C24). */
#ifndef NVBW_LOADER_H
#define NVBW_LOADER_H

#include "arena.h"
#include "schema.h"
#include "status.h"

struct loaded_testcase {
    struct nvbw_testcase own;          /* this build's copy of the struct */
    const struct nvbw_testcase *given; /* the plugin's: ctx->testcase */
};

struct loaded_plugin {
    struct nvbw_plugin own;
    struct plugin_schema schema; /* testcases in the order of the plugin */
    struct loaded_testcase *testcases; /* beside schema.testcases */
};

/* dlopen, symbol, ABI, descriptors. What the plugin is refused for goes to
 * err, what a testcase is refused for to its schema's problem. Everything
 * lives in arena. NVBW_E_SYSTEM: the file cannot be loaded; NVBW_E_INVALID:
 * the contract forbids it. */
int32_t loader_load(const char *file, struct arena *arena,
    struct loaded_plugin *out, struct error *err);

/* The same from a descriptor in memory. (describe.c) */
int32_t describe_plugin(const struct nvbw_plugin *given, const char *file,
    struct arena *arena, struct loaded_plugin *out, struct error *err);

/* Position in testcases, or -1. */
int32_t loader_find(const struct loaded_plugin *plugin, const char *testcase);

#endif
