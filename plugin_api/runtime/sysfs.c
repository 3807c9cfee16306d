/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes read into out, which is ended by a NUL; -1 where it failed. */
static ssize_t read_file(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t done = 0;

    if (fd < 0) {
        return -1;
    }
    while (done < size - 1) {
        const ssize_t got = read(fd, out + done, size - 1 - done);

        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    close(fd);
    out[done] = '\0';
    return (ssize_t)done;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    const size_t blanks = strspn(text, " \t\n");

    while (length > blanks && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    memmove(text, text + blanks, length - blanks);
    text[length - blanks] = '\0';
}

static int read_trimmed(
    char *out, size_t size, const char *format, va_list args)
{
    char path[SYSFS_PATH_BYTES];
    const int length = vsnprintf(path, sizeof path, format, args);

    if (length < 0 || (size_t)length >= sizeof path ||
        read_file(path, out, size) <= 0) {
        return 0;
    }
    trim(out);
    return out[0] != '\0';
}

int sysfs_read(char *out, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int is_read = read_trimmed(out, size, format, args);

    va_end(args);
    return is_read;
}

char *sysfs_text(struct arena *arena, const char *format, ...)
{
    char *const text = calloc(1, SYSFS_TEXT_BYTES);
    char *copy = NULL;
    va_list args;

    if (text == NULL) {
        return NULL;
    }
    va_start(args, format);
    if (read_trimmed(text, SYSFS_TEXT_BYTES, format, args)) {
        copy = arena_text(arena, text);
    }
    va_end(args);
    free(text);
    return copy;
}

int sysfs_number(int64_t *out_value, const char *format, ...)
{
    char text[64];
    char *end = NULL;
    va_list args;

    va_start(args, format);
    const int is_read = read_trimmed(text, sizeof text, format, args);

    va_end(args);
    if (!is_read) {
        return 0;
    }

    const long long value = strtoll(text, &end, 0);

    if (end == text) {
        return 0;
    }
    *out_value = value;
    return 1;
}

char *sysfs_value(struct arena *arena, const char *text, const char *key)
{
    const size_t length = strlen(key);

    while (text != NULL && strncmp(text, key, length) != 0) {
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
    if (text == NULL) {
        return NULL;
    }
    text += length;
    text += strspn(text, " \t:=\"");

    char *const copy = arena_text_n(arena, text, strcspn(text, "\n\""));

    if (copy != NULL) {
        trim(copy);
    }
    return copy;
}
