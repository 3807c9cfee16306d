/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Files that a person names are opened here: whoever waits at a pipe waits for
 * ever. */
#ifndef NVBW_REGULAR_FILE_H
#define NVBW_REGULAR_FILE_H

#include <stdio.h>

#include "status.h"

/* Opens a regular file, or a link to one, for reading; the caller closes it.
 * Anything else (a FIFO, a device, a folder) is NVBW_E_INVALID at once. */
int32_t regular_file_open(const char *file, FILE **out, struct error *err);

/* Whether it is one, without opening it. */
int32_t regular_file_check(const char *file, struct error *err);

#endif
