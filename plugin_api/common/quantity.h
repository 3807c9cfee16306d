/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Text to numbers and back: the one parser of every value that a person
 * writes, in plans, descriptors and on the command line. Pure. */
#ifndef NVBW_QUANTITY_H
#define NVBW_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#include "schema.h"
#include "status.h"

/* "512 MiB", "1 GB", "4096 B"; blanks between number and unit are optional. */
int32_t quantity_size(const char *text, uint64_t *out_bytes, struct error *err);
/* "60 s", "250 ms", "1500 ns", "2 h", "5 min"; "10m" is ten minutes. */
int32_t quantity_duration(
    const char *text, uint64_t *out_ns, struct error *err);
int32_t quantity_int(const char *text, int64_t *out_value, struct error *err);
int32_t quantity_bool(const char *text, int *out_value, struct error *err);
/* "0.25"; with unit NVBW_UNIT_RATIO also "0.5 %" (0.005). */
int32_t quantity_real(
    const char *text, uint32_t unit, double *out_value, struct error *err);
/* A ratio of which usual is a common value. A bare number that is nearer to it
 * as so many percent than as what it says is refused: where 0.005 is usual,
 * "0.5" may be half of the whole or half a percent. */
int32_t quantity_ratio(
    const char *text, double usual, double *out_value, struct error *err);

/* What a limit says. */
enum limit_base {
    LIMIT_ABSOLUTE = 1, /* value in the metric's unit */
    LIMIT_EXPECTED,     /* value is a ratio of the base */
    LIMIT_LINK,
    LIMIT_SIBLINGS,
    LIMIT_BASELINE
};
/* "48 GB/s", "1500 ns", "95 % of expected", "0.4 %". *out_unit is the
 * NVBW_UNIT_* of an absolute value, else NVBW_UNIT_RATIO. A bare number is an
 * error that says which units there are. */
int32_t quantity_limit(const char *text, enum limit_base *out_base,
    double *out_value, uint32_t *out_unit, struct error *err);

/* One value of a parameter, checked against its type, minimum, maximum and
 * choices. *out_value is what param_int gives (param_real for REAL). */
struct quantity_value {
    int64_t integer;
    double real;
};
int32_t quantity_param(const struct param_schema *param, const char *text,
    struct quantity_value *out_value, struct error *err);

/* A figure for people: "55.44 GB/s", "1.198 us", "512 MiB", "95.2 %". Writes
 * at most size bytes, NUL included. */
void quantity_format(double value, uint32_t unit, char *out, size_t size);
/* "512 MiB", "4097 B": exact, and what quantity_size reads back. */
void quantity_format_size(uint64_t bytes, char *out, size_t size);
void quantity_format_duration(uint64_t ns, char *out, size_t size);

#endif
