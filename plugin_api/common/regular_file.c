/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int32_t check(
    const struct stat *stat, const char *file, struct error *err)
{
    FAIL_IF(!S_ISREG(stat->st_mode), err, NVBW_E_INVALID,
        "%s is %s, not a regular file", file,
        S_ISFIFO(stat->st_mode)  ? "a pipe"
        : S_ISDIR(stat->st_mode) ? "a folder"
        : S_ISCHR(stat->st_mode) ? "a device"
                                 : "something else");
    return NVBW_OK;
}

int32_t regular_file_open(const char *file, FILE **out, struct error *err)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat stat;

    if (fd < 0 || fstat(fd, &stat) != 0) {
        const int32_t status = error_system(err, "opening %s", file);

        if (fd >= 0) {
            close(fd);
        }
        return status;
    }
    if (check(&stat, file, err) < 0) {
        close(fd);
        return NVBW_E_INVALID;
    }
    *out = fdopen(fd, "r");
    if (*out == NULL) {
        const int32_t status = error_system(err, "opening %s", file);

        close(fd);
        return status;
    }
    return NVBW_OK;
}

int32_t regular_file_check(const char *file, struct error *err)
{
    struct stat stat_of;

    if (stat(file, &stat_of) != 0) {
        return error_system(err, "opening %s", file);
    }
    return check(&stat_of, file, err);
}
