/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_claim(int holds, const char *sentence)
{
    if (!holds) {
        fprintf(stderr, "fuzz: %s\n", sentence);
        abort();
    }
}

void fuzz_file_open(struct fuzz_file *file, const void *bytes, size_t length)
{
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_claim(
        file->fd >= 0 && write(file->fd, bytes, length) == (ssize_t)length,
        "no memory for a file");
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

void fuzz_file_close(struct fuzz_file *file)
{
    close(file->fd);
}

static const char line[] = "%%\n";
enum { LINE_BYTES = sizeof line - 1 };

static int is_line(const struct fuzz_part *rest, size_t at)
{
    return rest->length - at >= LINE_BYTES &&
           memcmp(rest->bytes + at, line, LINE_BYTES) == 0 &&
           (at == 0 || rest->bytes[at - 1] == '\n');
}

int fuzz_next_part(struct fuzz_part *rest, struct fuzz_part *out)
{
    if (rest->length == 0) {
        return 0;
    }
    size_t end = 0;

    while (end < rest->length && !is_line(rest, end)) {
        end++;
    }
    const size_t taken = end < rest->length ? end + LINE_BYTES : end;

    *out = (struct fuzz_part){ rest->bytes, end };
    rest->bytes += taken;
    rest->length -= taken;
    return 1;
}

char *fuzz_text(const struct fuzz_part *part)
{
    char *const text = calloc(part->length + 1, 1);

    fuzz_claim(text != NULL, "no memory for a text");
    memcpy(text, part->bytes, part->length);
    return text;
}
