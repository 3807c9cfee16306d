/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "quantity.h"

#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The measure in which the value is a whole number with the fewest digits. */
static void format_exact(
    const struct measure *measures, uint64_t value, char *out, size_t size)
{
    const struct measure *best = &measures[0];

    for (const struct measure *at = measures; at->word != NULL; at++) {
        if (value != 0 && value % at->scale == 0 && at->scale > best->scale) {
            best = at;
        }
    }
    snprintf(out, size, "%llu %s", (unsigned long long)(value / best->scale),
        best->word);
}

void quantity_format_size(uint64_t bytes, char *out, size_t size)
{
    format_exact(size_measures, bytes, out, size);
}

void quantity_format_duration(uint64_t ns, char *out, size_t size)
{
    format_exact(duration_measures, ns, out, size);
}

struct step {
    double from; /* magnitude at which this step begins */
    double divide;
    const char *word;
};

/* Rates stay in GB/s above 1 GB/s, as practice writes them. */
static const struct step rate_steps[] = {
    { 1e9, 1e9, "GB/s" },
    { 1e6, 1e6, "MB/s" },
    { 1e3, 1e3, "kB/s" },
    { 0, 1, "B/s" },
};
static const struct step time_steps[] = {
    { 1e9, 1e9, "s" },
    { 1e6, 1e6, "ms" },
    { 1e3, 1e3, "us" },
    { 0, 1, "ns" },
};
static const struct step bytes_steps[] = {
    { 0x1p40, 0x1p40, "TiB" },
    { 0x1p30, 0x1p30, "GiB" },
    { 0x1p20, 0x1p20, "MiB" },
    { 0x1p10, 0x1p10, "KiB" },
    { 0, 1, "B" },
};

/* Four digits that mean something. */
static int decimals(double value)
{
    const double magnitude = fabs(value);

    if (magnitude >= 999.95) {
        return 0;
    }
    if (magnitude >= 99.995) {
        return 1;
    }
    return magnitude >= 9.9995 ? 2 : 3;
}

static void format_steps(
    const struct step *steps, double value, char *out, size_t size)
{
    const struct step *step = steps;

    while (fabs(value) < step->from) {
        step++;
    }

    const double scaled = value / step->divide;

    snprintf(out, size, "%.*f %s", decimals(scaled), scaled, step->word);
}

static void format_bytes(double value, char *out, size_t size)
{
    if (value >= 0 && value < 0x1p63 && floor(value) == value) {
        char exact[32];

        quantity_format_size((uint64_t)value, exact, sizeof exact);
        if (strcspn(exact, " ") <= 4) {
            snprintf(out, size, "%s", exact);
            return;
        }
    }
    format_steps(bytes_steps, value, out, size);
}

void quantity_format(double value, uint32_t unit, char *out, size_t size)
{
    if (!isfinite(value)) {
        snprintf(out, size, "-");
        return;
    }
    switch (unit) {
    case NVBW_UNIT_BYTES_PER_SECOND:
        format_steps(rate_steps, value, out, size);
        break;
    case NVBW_UNIT_NANOSECONDS:
        format_steps(time_steps, value, out, size);
        break;
    case NVBW_UNIT_BYTES:
        format_bytes(value, out, size);
        break;
    case NVBW_UNIT_RATIO:
        snprintf(out, size, "%.*f %%", fabs(value) < 0.1 ? 2 : 1, value * 100);
        break;
    default:
        snprintf(out, size, "%.*f", floor(value) == value ? 0 : decimals(value),
            value);
        break;
    }
}
