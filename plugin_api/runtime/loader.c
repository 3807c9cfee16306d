/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "loader.h"

#include <dlfcn.h>
#include <string.h>

#include "abi.h"

int32_t loader_load(const char *file, struct arena *arena,
    struct loaded_plugin *out, struct error *err)
{
    FAIL_IF(file == NULL || file[0] != '/', err, NVBW_E_INVALID,
        "plugin %s: only absolute paths are loaded",
        file == NULL ? "(none)" : file);

    /* RTLD_NODELETE and no dlclose: a plugin's threads and what the driver
     * keeps of it must not lose their code. */
    void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    FAIL_IF(
        library == NULL, err, NVBW_E_SYSTEM, "plugin %s: %s", file, dlerror());

    const struct nvbw_plugin *const given = dlsym(library, "nvbw_plugin_v1");

    FAIL_IF(given == NULL, err, NVBW_E_INVALID,
        "plugin %s: C1: it exports no nvbw_plugin_v1", file);
    return describe_plugin(given, file, arena, out, err);
}

int32_t loader_find(const struct loaded_plugin *plugin, const char *testcase)
{
    for (uint32_t i = 0; i < plugin->schema.testcases_count; i++) {
        if (strcmp(plugin->schema.testcases[i].name, testcase) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}
