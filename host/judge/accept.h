/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Accepted defects: what the plan says is known. A cell or finding that an
 * entry covers keeps its state and is marked; it no longer asks for an exit
 * code. An entry that has ended covers nothing and is told. Wrong data is
 * never accepted. Pure: the day is that on which the run began. */
#ifndef NVBW_ACCEPT_H
#define NVBW_ACCEPT_H

#include "cells.h"

/* Fills out->acceptances, marks cells and findings, and adds a finding for
 * each entry that has ended. After findings_add. */
int32_t accept_apply(const struct judging *judging, struct verdicts *out);

/* The entry that covers a finding on the day ("2026-11-29..."), or NULL. gpu
 * and peer are positions in facts->gpus, or -1. */
const struct plan_accept *accept_find(const struct plan *plan,
    const struct facts *facts, const char *day, const struct finding *finding);

#endif
