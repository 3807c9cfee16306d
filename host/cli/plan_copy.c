/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAN_LIMIT_BYTES = 4 << 20 };

static int32_t read_file(
    const char *path, struct strbuf *out, struct error *err)
{
    char block[65536];
    ssize_t got = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return error_system(err, "cannot read plan %s", path);
    }
    while ((got = read(fd, block, sizeof block)) > 0) {
        strbuf_add_n(out, block, (size_t)got);
    }
    close(fd);
    if (got < 0) {
        return error_system(err, "cannot read plan %s", path);
    }
    FAIL_IF(out->failed, err, NVBW_E_SYSTEM, "plan %s is too large", path);
    return NVBW_OK;
}

static int32_t copy_one(const struct run_dir *dir, uint32_t number,
    const char *file, struct arena *arena, struct error *err)
{
    const char *const slash = strrchr(file, '/');
    const char *const to = arena_format(arena, "%s/plan/%u-%s", dir->path,
        number, slash == NULL ? file : slash + 1);
    struct strbuf text;

    FAIL_IF(to == NULL, err, NVBW_E_SYSTEM, "out of memory");
    strbuf_init(&text, PLAN_LIMIT_BYTES);

    int32_t status = read_file(file, &text, err);

    if (status >= 0) {
        status = file_write_atomic(to, text.text, text.length, err);
    }
    strbuf_free(&text);
    return status;
}

int32_t plan_copy(const struct run_dir *dir, const struct plan *plan,
    struct arena *arena, struct error *err)
{
    const char *const folder = arena_format(arena, "%s/plan", dir->path);

    FAIL_IF(folder == NULL, err, NVBW_E_SYSTEM, "out of memory");
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        return error_system(err, "cannot make %s", folder);
    }
    for (uint32_t i = 0; i < plan->files_count; i++) {
        TRY(copy_one(dir, i + 1, plan->files[i], arena, err));
    }
    return NVBW_OK;
}
