/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What asks for an exit code, in the order of the run: what somebody looks for
 * first in a run that did not pass. */
#ifndef NVBW_REPORT_FAILED_H
#define NVBW_REPORT_FAILED_H

#include "report_cell.h"

struct report_failed {
    uint32_t first, count; /* verdicts: one with a figure, or those of a unit
                              that say the same without one; of what was not
                              run, those of several units */
    uint32_t next;         /* where to look on */
};
/* From the one before, zeroed before the first; 0 after the last. */
int report_failed_next(
    const struct report_input *input, struct report_failed *at);

/* "ce_h2d/host_to_all_memcpy_ce", or the first and the last of several. */
void report_failed_units(const struct report_input *input,
    const struct report_failed *at, struct strbuf *out);

/* "bandwidth GPU 1: fail, -48.4 %: 27.00 GB/s is below 52.30 GB/s (95 % of
 * expected) in 3 of 3 attempts (plan.cfg:12)" */
void report_failed_sentence(const struct report_input *input,
    const struct report_failed *at, struct strbuf *out);

#endif
