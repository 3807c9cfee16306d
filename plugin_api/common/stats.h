/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Statistics of samples. Pure; no figure here is a verdict. */
#ifndef NVBW_STATS_H
#define NVBW_STATS_H

#include <stdint.h>

/* Order statistics of `count` samples (any order, not changed). NaN where
 * count is too small for the figure to mean anything. */
struct stats {
    uint32_t count;
    double median, mean, min, max;
    double deviation; /* sample standard deviation; NaN below 2 */
    double low, high; /* nominal 95 % interval of the median; NaN below 6 */
    double p5, p95;   /* NaN below 20 */
    double drift;     /* slope over the run of samples, relative to the
                         median, from first to last (Theil-Sen); NaN below 6 */
};
void stats_of(const double *samples, uint32_t count, struct stats *out);

/* The quantile q in 0..1 by linear interpolation; NaN for none. */
double stats_quantile(const double *samples, uint32_t count, double q);

/* (high - low) / 2 / median: the half-width that sampling stops at. */
double stats_half_width(const struct stats *stats);

/* Ranks (from 1) of the order statistics that bound the median's nominal 95 %
 * interval at n samples: (1,8) at 8, (3,10) at 12, (4,12) at 15; 0 below 6. */
int stats_ranks(uint32_t count, uint32_t *out_low, uint32_t *out_high);

/* Student's t: 99 % of the distribution lies between -t and t. Infinite for no
 * degree of freedom. */
double stats_student_99(uint32_t freedom);

#endif
