/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Where this installation, build tree or bundle keeps its parts, found from
 * the program's own place: PREFIX/bin/nvbw-host. */
#ifndef NVBW_LOCATE_H
#define NVBW_LOCATE_H

#include "arena.h"
#include "status.h"

struct locations {
    const char *host;    /* the program itself */
    const char *worker;  /* PREFIX/libexec/nvbw/nvbw-worker */
    const char *plugins; /* PREFIX/lib/nvbw/plugins */
    const char *data;    /* PREFIX/share/nvbw */
};
int32_t locate_parts(
    struct arena *arena, struct locations *out, struct error *err);

#endif
