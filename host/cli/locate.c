/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "locate.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static void cut_name(char *path)
{
    char *const slash = strrchr(path, '/');

    if (slash != NULL) {
        *slash = '\0';
    }
}

int32_t locate_parts(
    struct arena *arena, struct locations *out, struct error *err)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length < 0) {
        return error_system(err, "cannot read /proc/self/exe");
    }
    path[length] = '\0';
    out->host = arena_text(arena, path);
    cut_name(path);
    cut_name(path);
    out->worker = arena_format(arena, "%s/libexec/nvbw/nvbw-worker", path);
    out->plugins = arena_format(arena, "%s/lib/nvbw/plugins", path);
    out->data = arena_format(arena, "%s/share/nvbw", path);
    FAIL_IF(out->host == NULL || out->worker == NULL || out->plugins == NULL ||
                out->data == NULL,
        err, NVBW_E_SYSTEM, "out of memory");
    return NVBW_OK;
}
