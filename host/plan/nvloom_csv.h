/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Traffic that nvloom reads from a CSV file, as a plan for the plugin pattern.
 *
 * A line of such a file is a copy: number of the measurement, bandwidth or
 * latency, ranks of source and destination, copies, kind of memory of both,
 * write or read, ce or sm or multicast, bytes, a comment, and in files that
 * nvloom wrote the result. Lines of one number start together, so they become
 * one group; rank N becomes GPU N, egm memory the host's nearest to that GPU.
 * Measurements with a line that has no counterpart are left out whole: without
 * it the others would measure something else. Pure. */
#ifndef NVBW_NVLOOM_CSV_H
#define NVBW_NVLOOM_CSV_H

#include "plan.h"
#include "strbuf.h"

enum { NVLOOM_LINES_LIMIT = PLAN_GROUPS_LIMIT, NVLOOM_PLAN_BYTES = 4 << 20 };

/* Appends the plan to out. Lines that cannot be read are errors in problems,
 * measurements that are left out warnings; name is the file's for both. Where
 * there are errors, or nothing is left, out is of no use; the latter is an
 * error too. Negative only without memory. */
int32_t nvloom_csv_plan(const char *name, const char *text, struct strbuf *out,
    struct problems *problems, struct error *err);

#endif
