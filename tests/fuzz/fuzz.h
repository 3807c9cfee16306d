/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Fuzz targets: any bytes in; no crash, no endless work, and what a target
 * claims of its input holds.
 *
 * Each fuzz_NAME.c has LLVMFuzzerTestOneInput. Built with clang and
 * -DNVBW_FUZZ=ON it is a libFuzzer program, run by tests/soak.sh. In every
 * build it is also a plain test: fuzz_main.c gives it all files of
 * corpus/NAME, their beginnings, and seeded mutations of them. */
#ifndef NVBW_FUZZ_H
#define NVBW_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Bytes as a file that has a path, for what reads files itself. */
struct fuzz_file {
    int fd;
    char path[32];
};
void fuzz_file_open(struct fuzz_file *file, const void *bytes, size_t length);
void fuzz_file_close(struct fuzz_file *file);

/* The part of an input up to the next line that is "%%", the line taken off;
 * 0 where nothing is left. */
struct fuzz_part {
    const uint8_t *bytes;
    size_t length;
};
int fuzz_next_part(struct fuzz_part *rest, struct fuzz_part *out);
/* Ends with NUL; freed by the caller. */
char *fuzz_text(const struct fuzz_part *part);

/* Aborts with the sentence where a target's claim does not hold. */
void fuzz_claim(int holds, const char *sentence);

#endif
