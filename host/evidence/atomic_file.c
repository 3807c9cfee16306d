/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum target {
    TARGET_FILE,  /* not there, or a regular file: replaced by rename */
    TARGET_DIRECT /* a device, pipe or socket: opened and written to */
};

static int32_t write_all(int fd, const void *bytes, size_t length,
    const char *path, struct error *err)
{
    const char *at = bytes;

    while (length > 0) {
        const ssize_t put = write(fd, at, length);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return error_system(err, "writing %s", path);
        }
        at += put;
        length -= (size_t)put;
    }
    return NVBW_OK;
}

/* A name that is a symbolic link is refused: replacing it would leave what it
 * points to behind, and following it would write where nobody looked. Names
 * under /dev are links by design (/dev/stdout) and are written through. */
static int32_t classify(
    const char *path, enum target *out_target, struct error *err)
{
    struct stat here;
    struct stat there;

    *out_target = TARGET_FILE;
    if (lstat(path, &here) != 0) {
        return errno == ENOENT ? NVBW_OK
                               : error_system(err, "writing %s", path);
    }
    if (stat(path, &there) != 0) {
        there = here;
    }
    FAIL_IF(S_ISDIR(there.st_mode), err, NVBW_E_INVALID,
        "%s is a directory, not a file", path);
    if (!S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {
        *out_target = TARGET_DIRECT;
        return NVBW_OK;
    }
    if (S_ISLNK(here.st_mode)) {
        FAIL_IF(strncmp(path, "/dev/", 5) != 0, err, NVBW_E_INVALID,
            "%s is a symbolic link; name the file itself", path);
        *out_target = TARGET_DIRECT;
    }
    return NVBW_OK;
}

/* Opened without blocking, so that a pipe without a reader is an error and not
 * a hang; written with blocking, so that a slow reader gets all of it. */
static int32_t write_direct(
    const char *path, const void *bytes, size_t length, struct error *err)
{
    const int fd =
        open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        return error_system(err, "opening %s", path);
    }

    int32_t status = NVBW_OK;
    const int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
        status = error_system(err, "opening %s", path);
    } else {
        status = write_all(fd, bytes, length, path, err);
    }
    close(fd);
    return status;
}

/* The folder that the file is in, for the caller to free; NULL without
 * memory. */
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash == NULL   ? strdup(".")
           : slash == path ? strdup("/")
                           : strndup(path, (size_t)(slash - path));
}

/* "./a//b/" and "a/b" are one: the next name of a path, NULL after the last. */
static const char *next_name(const char **path, size_t *out_length)
{
    const char *at = *path + strspn(*path, "/");

    while (at[0] == '.' && (at[1] == '/' || at[1] == '\0')) {
        at += 1 + strspn(at + 1, "/");
    }
    *out_length = strcspn(at, "/");
    *path = at + *out_length;
    return *out_length == 0 ? NULL : at;
}

/* 1 if one of the two paths leads to the other. */
static int is_on_the_way(const char *one, const char *other)
{
    size_t length = 0;
    size_t length_other = 0;

    if ((one[0] == '/') != (other[0] == '/')) {
        return 0;
    }
    for (;;) {
        const char *const name = next_name(&one, &length);
        const char *const name_other = next_name(&other, &length_other);

        if (name == NULL || name_other == NULL) {
            return 1;
        }
        if (length != length_other || strncmp(name, name_other, length) != 0) {
            return 0;
        }
    }
}

int32_t file_check_atomic(
    const char *path, const char *run_dir, struct error *err)
{
    enum target target = TARGET_FILE;

    TRY(classify(path, &target, err));
    if (target == TARGET_DIRECT) {
        return access(path, W_OK) == 0 ? NVBW_OK
                                       : error_system(err, "writing %s", path);
    }
    char *const folder = folder_of(path);

    FAIL_IF(folder == NULL, err, NVBW_E_SYSTEM, "no memory to write %s", path);
    int32_t status = NVBW_OK;

    if (access(folder, W_OK | X_OK) != 0 &&
        (errno != ENOENT || run_dir == NULL ||
            !is_on_the_way(folder, run_dir))) {
        status = error_system(err, "making a file beside %s", path);
    }
    free(folder);
    return status;
}

/* Makes the rename itself durable. Not every file system can; the file is
 * whole in any case. */
static void sync_folder(const char *path)
{
    char *const folder = folder_of(path);
    const int fd =
        folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

static int32_t fill(int fd, const char *path, const void *bytes, size_t length,
    struct error *err)
{
    struct stat old;
    const mode_t mode =
        stat(path, &old) == 0 ? old.st_mode & 0777 : (mode_t)0644;

    TRY(write_all(fd, bytes, length, path, err));
    if (fchmod(fd, mode) != 0 || fsync(fd) != 0) {
        return error_system(err, "writing %s", path);
    }
    return NVBW_OK;
}

/* ".name.XXXXXX" beside the file. */
static int32_t make_temporary(
    const char *path, char **out_name, int *out_fd, struct error *err)
{
    const char *const slash = strrchr(path, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - path) + 1;

    FAIL_IF(
        asprintf(out_name, "%.*s.%s.XXXXXX", folder, path, path + folder) < 0,
        err, NVBW_E_SYSTEM, "no memory to write %s", path);
    *out_fd = mkostemp(*out_name, O_CLOEXEC);
    if (*out_fd < 0) {
        const int32_t status =
            error_system(err, "making a file beside %s", path);

        free(*out_name);
        return status;
    }
    return NVBW_OK;
}

static int32_t replace(
    const char *path, const void *bytes, size_t length, struct error *err)
{
    char *temporary = NULL;
    int fd = -1;

    TRY(make_temporary(path, &temporary, &fd, err));

    int32_t status = fill(fd, path, bytes, length, err);

    if (close(fd) != 0 && status >= 0) {
        status = error_system(err, "writing %s", path);
    }
    if (status >= 0 && rename(temporary, path) != 0) {
        status = error_system(err, "renaming %s to %s", temporary, path);
    }
    if (status < 0) {
        unlink(temporary);
    } else {
        sync_folder(path);
    }
    free(temporary);
    return status;
}

int32_t file_write_atomic(
    const char *path, const void *bytes, size_t length, struct error *err)
{
    enum target target = TARGET_FILE;

    TRY(classify(path, &target, err));
    if (target == TARGET_DIRECT) {
        return write_direct(path, bytes, length, err);
    }
    return replace(path, bytes, length, err);
}
