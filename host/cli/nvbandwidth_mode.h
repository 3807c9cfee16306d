/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What nvbandwidth's flags need beside a plan; `run` does all the rest with
 * them as with any other. */
#ifndef NVBW_NVBANDWIDTH_MODE_H
#define NVBW_NVBANDWIDTH_MODE_H

#include "prepare.h"

/* The plan that the flags mean, into prepared->plan. */
int32_t nvbandwidth_mode_plan(struct prepared *prepared, struct error *err);

/* Between plugins and check: which plugin carries out which testcase. */
int32_t nvbandwidth_mode_settle(struct prepared *prepared, struct error *err);

/* -l. Prints to stdout and returns the exit code. */
int nvbandwidth_mode_list(const struct options *options, struct arena *arena);

#endif
