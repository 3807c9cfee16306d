/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Findings: what is likely wrong, in words. Pure. */
#ifndef NVBW_FINDINGS_H
#define NVBW_FINDINGS_H

#include "cells.h"

/* Adds what the rules find in evidence and verdicts to out. */
int32_t findings_add(const struct judging *judging, struct verdicts *out);

#endif
