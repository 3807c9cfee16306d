/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTERVAL_LEAST = 6, /* five samples cannot bound a median at 95 % */
    TAILS_LEAST = 20,   /* below, p5 is the minimum under another name */
    DRIFT_POINTS = 200, /* 19 900 slopes at most */
    EXACT_COUNT = 1000  /* 2^-n is a normal double up to here */
};

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;

    return (a > b) - (a < b);
}

/* The samples that are numbers, in their order; the caller frees it. NULL
 * without memory or without samples. */
static double *copy_numbers(
    const double *samples, uint32_t count, uint32_t *out_count)
{
    double *const copy = count == 0 ? NULL : calloc(count, sizeof *copy);
    uint32_t kept = 0;

    for (uint32_t i = 0; copy != NULL && i < count; i++) {
        if (!isnan(samples[i])) {
            copy[kept++] = samples[i];
        }
    }
    *out_count = kept;
    return copy;
}

static double quantile_of_sorted(const double *sorted, uint32_t count, double q)
{
    if (count == 0 || !(q >= 0.0 && q <= 1.0)) {
        return NAN;
    }

    const double at = q * (double)(count - 1);
    const uint32_t below = (uint32_t)at;
    const uint32_t above = below + 1 < count ? below + 1 : below;
    const double part = at - (double)below;

    if (part == 0.0) {
        return sorted[below];
    }
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

static double median_in_place(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
    return quantile_of_sorted(values, count, 0.5);
}

/* ---- interval ---- */

/* The largest k for which P(B < k) <= 2.5 %, B binomial (n, 1/2): then the
 * k-th smallest and the k-th largest bound the median at 95 % or better. */
static uint32_t exact_rank(uint32_t count)
{
    double term = ldexp(1.0, -(int)count);
    double tail = term;
    uint32_t rank = 0;

    while (tail <= 0.025 && rank < count / 2) {
        rank++;
        term *= (double)(count - rank + 1) / (double)rank;
        tail += term;
    }
    return rank;
}

int stats_ranks(uint32_t count, uint32_t *out_low, uint32_t *out_high)
{
    if (count < INTERVAL_LEAST) {
        return 0;
    }

    const double n = (double)count;
    const uint32_t rank = count <= EXACT_COUNT
                              ? exact_rank(count)
                              : (uint32_t)((n - 1.96 * sqrt(n)) / 2.0);

    *out_low = rank;
    *out_high = count + 1 - rank;
    return 1;
}

/* ---- drift ---- */

/* Folds the series into at most DRIFT_POINTS medians of equal blocks, in
 * place, and returns how many. A rest shorter than a block is left out. */
static uint32_t fold(double *series, uint32_t count)
{
    const uint32_t block = (count + DRIFT_POINTS - 1) / DRIFT_POINTS;

    if (block <= 1) {
        return count;
    }

    const uint32_t points = count / block;

    for (uint32_t i = 0; i < points; i++) {
        series[i] = median_in_place(series + (size_t)i * block, block);
    }
    return points;
}

/* The median of the slopes between all pairs of points. */
static double median_slope(const double *series, uint32_t points)
{
    if (points < 2) {
        return NAN;
    }

    const uint32_t pairs = points * (points - 1) / 2;
    double *const slopes = calloc(pairs, sizeof *slopes);
    uint32_t at = 0;

    if (slopes == NULL) {
        return NAN;
    }
    for (uint32_t i = 0; i < points; i++) {
        for (uint32_t k = i + 1; k < points; k++) {
            slopes[at++] = (series[k] - series[i]) / (double)(k - i);
        }
    }

    const double slope = median_in_place(slopes, pairs);

    free(slopes);
    return slope;
}

/* Changes series. */
static double drift_of(double *series, uint32_t count, double median)
{
    if (count < INTERVAL_LEAST || median == 0.0) {
        return NAN;
    }

    const uint32_t points = fold(series, count);

    return median_slope(series, points) * (double)(points - 1) / median;
}

/* ---- all of it ---- */

static void add_moments(const double *values, uint32_t count, struct stats *out)
{
    double mean = 0.0;
    double squares = 0.0;

    for (uint32_t i = 0; i < count; i++) {
        const double gap = values[i] - mean;

        mean += gap / (double)(i + 1);
        squares += gap * (values[i] - mean);
    }
    out->mean = mean;
    if (count >= 2) {
        out->deviation = sqrt(squares / (double)(count - 1));
    }
}

static void add_order(const double *sorted, uint32_t count, struct stats *out)
{
    uint32_t low = 0;
    uint32_t high = 0;

    out->min = sorted[0];
    out->max = sorted[count - 1];
    out->median = quantile_of_sorted(sorted, count, 0.5);
    if (stats_ranks(count, &low, &high)) {
        out->low = sorted[low - 1];
        out->high = sorted[high - 1];
    }
    if (count >= TAILS_LEAST) {
        out->p5 = quantile_of_sorted(sorted, count, 0.05);
        out->p95 = quantile_of_sorted(sorted, count, 0.95);
    }
}

void stats_of(const double *samples, uint32_t count, struct stats *out)
{
    uint32_t kept = 0;
    double *const values = copy_numbers(samples, count, &kept);
    double *const series = copy_numbers(samples, count, &kept);

    *out = (struct stats){
        .median = NAN,
        .mean = NAN,
        .min = NAN,
        .max = NAN,
        .deviation = NAN,
        .low = NAN,
        .high = NAN,
        .p5 = NAN,
        .p95 = NAN,
        .drift = NAN,
    };
    if (values != NULL && series != NULL && kept > 0) {
        out->count = kept;
        add_moments(values, kept, out);
        qsort(values, kept, sizeof *values, compare);
        add_order(values, kept, out);
        out->drift = drift_of(series, kept, out->median);
    }
    free(series);
    free(values);
}

double stats_quantile(const double *samples, uint32_t count, double q)
{
    uint32_t kept = 0;
    double *const values = copy_numbers(samples, count, &kept);
    double quantile = NAN;

    if (values != NULL && kept > 0) {
        qsort(values, kept, sizeof *values, compare);
        quantile = quantile_of_sorted(values, kept, q);
    }
    free(values);
    return quantile;
}

double stats_half_width(const struct stats *stats)
{
    if (stats->median == 0.0) {
        return NAN;
    }
    return (stats->high - stats->low) / 2.0 / stats->median;
}

/* ---- Student ---- */

/* Exact for the first degrees of freedom, then the expansion by their inverse,
 * which is right to three digits from there on. */
double stats_student_99(uint32_t freedom)
{
    static const double exact[] = { 63.657, 9.925, 5.841, 4.604, 4.032, 3.707,
        3.499, 3.355, 3.250, 3.169 };
    static const double z = 2.575829;

    if (freedom == 0) {
        return INFINITY;
    }
    if (freedom <= sizeof exact / sizeof exact[0]) {
        return exact[freedom - 1];
    }

    const double n = (double)freedom;
    const double z3 = z * z * z;
    const double z5 = z3 * z * z;
    const double z7 = z5 * z * z;

    return z + (z3 + z) / (4.0 * n) +
           (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n) +
           (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
}
