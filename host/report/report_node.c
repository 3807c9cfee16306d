/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_node.h"

#include <stdio.h>

#include "report_matrix.h"

static void name_cell(const struct facts *facts, const struct unit *unit,
    uint32_t cell, char *out, size_t size)
{
    char label[2 * LABEL_BYTES + 4];

    report_cell_label(facts, unit, cell, label);
    snprintf(out, size, "%s", label);
}

int32_t report_node(const struct evidence *evidence,
    const struct verdicts *verdicts, struct arena *arena, struct node *out,
    struct error *err)
{
    return node_of_run(evidence, verdicts, name_cell, arena, out, err);
}
