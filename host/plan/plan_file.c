/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a pipe";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    case S_IFSOCK:
        return "a socket";
    default:
        return "something else";
    }
}

/* Reads until the end of the file or the bound, whichever comes first: the
 * size that stat told may be out of date. */
static int32_t read_all(int fd, char *text, size_t limit_bytes,
    size_t *out_length, struct error *err)
{
    size_t length = 0;

    while (length < limit_bytes) {
        const ssize_t got = read(fd, text + length, limit_bytes - length);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_system(err, "cannot be read");
        }
        if (got == 0) {
            break;
        }
        length += (size_t)got;
    }
    *out_length = length;
    return NVBW_OK;
}

static int32_t check_stat(const struct stat *stat, struct error *err)
{
    FAIL_IF(!S_ISREG(stat->st_mode), err, NVBW_E_INVALID,
        "is %s, only regular files are read", kind_of(stat->st_mode));
    FAIL_IF(stat->st_size > PLAN_FILE_LIMIT, err, NVBW_E_INVALID,
        "has %lld bytes, a plan has at most %d", (long long)stat->st_size,
        PLAN_FILE_LIMIT);
    return NVBW_OK;
}

static int32_t read_open(
    int fd, struct arena *arena, struct plan_file *out, struct error *err)
{
    struct stat stat;

    if (fstat(fd, &stat) != 0) {
        return error_system(err, "cannot be examined");
    }
    TRY(check_stat(&stat, err));

    const size_t room = (size_t)stat.st_size + 1;
    char *const text = arena_alloc(arena, room + 1, 1);

    FAIL_IF(text == NULL, err, NVBW_E_SYSTEM, "no memory for its text");
    TRY(read_all(fd, text, room, &out->length, err));
    FAIL_IF(out->length == room, err, NVBW_E_INVALID, "grows while it is read");

    const char *const nul = memchr(text, '\0', out->length);

    FAIL_IF(nul != NULL, err, NVBW_E_INVALID,
        "is not a text file: byte %lld is 0", (long long)(nul - text));
    out->text = text;
    out->device = stat.st_dev;
    out->inode = stat.st_ino;
    return NVBW_OK;
}

int32_t plan_file_read(const char *path, struct arena *arena,
    struct plan_file *out, struct error *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0) {
        return error_system(err, "cannot be opened");
    }

    const int32_t status = read_open(fd, arena, out, err);

    close(fd);
    return status;
}

int plan_file_is_folder(const char *path)
{
    struct stat stat_of;

    return stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode);
}

static int is_plan_name(const char *name)
{
    const size_t length = strlen(name);

    return name[0] != '.' && length > 4 &&
           strcmp(name + length - 4, ".cfg") == 0;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static int32_t collect(DIR *dir, const char *folder, struct arena *arena,
    const char ***out_paths, uint32_t *out_count, struct error *err)
{
    const struct dirent *entry = NULL;

    while ((entry = readdir(dir)) != NULL) {
        if (!is_plan_name(entry->d_name)) {
            continue;
        }
        FAIL_IF(*out_count == PLAN_FILES_LIMIT, err, NVBW_E_INVALID,
            "has more than %d plans", PLAN_FILES_LIMIT);

        char *const path = arena_format(arena, "%s/%s", folder, entry->d_name);
        const char **const list =
            arena_append(arena, *out_paths, out_count, sizeof *list);

        FAIL_IF(path == NULL || list == NULL, err, NVBW_E_SYSTEM,
            "no memory for its names");
        list[*out_count - 1] = path;
        *out_paths = list;
    }
    return NVBW_OK;
}

int32_t plan_file_list(const char *folder, struct arena *arena,
    const char ***out_paths, uint32_t *out_count, struct error *err)
{
    DIR *const dir = opendir(folder);

    *out_paths = NULL;
    *out_count = 0;
    if (dir == NULL) {
        return error_system(err, "cannot be opened");
    }

    const int32_t status =
        collect(dir, folder, arena, out_paths, out_count, err);

    closedir(dir);
    TRY(status);
    FAIL_IF(*out_count == 0, err, NVBW_E_INVALID,
        "is a folder without a file that ends in .cfg");
    qsort(*out_paths, *out_count, sizeof **out_paths, by_name);
    return NVBW_OK;
}
