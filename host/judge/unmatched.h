/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Limits that matched no cell: most often a mistyped name. Pure. */
#ifndef NVBW_UNMATCHED_H
#define NVBW_UNMATCHED_H

#include "cells.h"

/* Fills out->unmatched_limits. Directions and sizes are known of measured
 * cells only, so a limit that asks for them and whose other keys match a cell
 * that was not measured counts as matched. Nor is a limit listed that is of a
 * testcase which -t or --tags left out: nothing is wrong with its name. */
int32_t unmatched_add(const struct judging *judging, struct verdicts *out);

#endif
