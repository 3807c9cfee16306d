/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A judged run in short. Pure. */
#ifndef NVBW_NODE_OF_RUN_H
#define NVBW_NODE_OF_RUN_H

#include "judge.h"
#include "node.h"

/* What a cell's place is called, of which the judge knows nothing. */
typedef void (*cell_name_fn)(const struct facts *facts, const struct unit *unit,
    uint32_t cell, char *out, size_t size);

/* Texts point into evidence, verdicts and arena. */
int32_t node_of_run(const struct evidence *evidence,
    const struct verdicts *verdicts, cell_name_fn name_cell,
    struct arena *arena, struct node *out, struct error *err);

#endif
