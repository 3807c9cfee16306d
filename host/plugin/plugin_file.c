/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plugin_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What st_mode says, in words. */
static const char *kind_of(mode_t mode)
{
    static const struct {
        mode_t mode;
        const char *words;
    } kinds[] = {
        { S_IFDIR, "a folder" },
        { S_IFIFO, "a FIFO" },
        { S_IFSOCK, "a socket" },
        { S_IFCHR, "a character device" },
        { S_IFBLK, "a block device" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if ((mode & S_IFMT) == kinds[i].mode) {
            return kinds[i].words;
        }
    }
    return "something else";
}

/* Sockets cannot be opened at all, so the kind is looked at first for the
 * words, and once more on the open descriptor for the truth. */
static int32_t open_regular(
    const char *file, int *out_fd, struct stat *out_info, struct error *err)
{
    if (stat(file, out_info) < 0) {
        return error_system(err, "cannot be found");
    }
    FAIL_IF(!S_ISREG(out_info->st_mode), err, NVBW_E_INVALID,
        "is %s, not a regular file", kind_of(out_info->st_mode));
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return error_system(err, "cannot be opened");
    }
    if (fstat(fd, out_info) < 0 || !S_ISREG(out_info->st_mode)) {
        (void)close(fd);
        return error_set(err, NVBW_E_INVALID, "is not a regular file");
    }
    *out_fd = fd;
    return NVBW_OK;
}

/* How many bytes came, fewer than size only at the end of the file; or -1
 * and errno. */
static int64_t read_up_to(int fd, void *out, size_t size)
{
    size_t have = 0;
    while (have < size) {
        const ssize_t got = read(fd, (char *)out + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        have += (size_t)got;
    }
    return (int64_t)have;
}

int32_t file_bytes_read(const char *file, size_t limit_bytes,
    struct file_bytes *out, struct error *err)
{
    struct stat info;
    int fd = -1;
    *out = (struct file_bytes){ .bytes = NULL };
    TRY(open_regular(file, &fd, &info, err));

    int32_t status = NVBW_OK;
    const size_t size = (size_t)info.st_size;
    unsigned char *bytes = NULL;
    if ((uint64_t)info.st_size > limit_bytes) {
        status = error_set(err, NVBW_E_INVALID,
            "is too long: %lld bytes, at most %zu are read",
            (long long)info.st_size, limit_bytes);
        goto close_file;
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        status = error_system(err, "needs %zu bytes to be read", size);
        goto close_file;
    }
    const int64_t got = read_up_to(fd, bytes, size);
    if (got < 0) {
        status = error_system(err, "cannot be read");
        goto free_bytes;
    }
    *out = (struct file_bytes){ .bytes = bytes, .length = (size_t)got };
    bytes = NULL;

free_bytes:
    free(bytes);
close_file:
    (void)close(fd);
    return status;
}

void file_bytes_free(struct file_bytes *file)
{
    free(file->bytes);
    *file = (struct file_bytes){ .bytes = NULL };
}

void file_bytes_sha256(
    const struct file_bytes *file, char out[PLUGIN_FILE_SHA256_BYTES])
{
    _Static_assert(PLUGIN_FILE_SHA256_BYTES == SHA256_DIGEST_STRING_LENGTH,
        "a sum is 64 digits and a NUL");
    if (SHA256Data(file->bytes, file->length, out) == NULL) {
        out[0] = '\0';
    }
}

int64_t file_head_read(const char *file, void *out, size_t size)
{
    struct stat info;
    int fd = -1;
    if (open_regular(file, &fd, &info, NULL) < 0) {
        return -1;
    }
    const int64_t got = read_up_to(fd, out, size);
    (void)close(fd);
    return got;
}
