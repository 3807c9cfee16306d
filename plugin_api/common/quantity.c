/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "quantity.h"

#include "measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NUMBER_BYTES = 64,   /* longest number that is read, sign included */
    FRACTION_DIGITS = 18 /* most that fit into 64 bits */
};

/* One kind of value that is a number and a unit. */
struct kind {
    const char *what, *example, *units;
    const struct measure *measures; /* ends with a NULL word */
    const char *whole;              /* what it must be a whole number of */
};

#define KI UINT64_C(1024)
#define K  UINT64_C(1000)

const struct measure size_measures[] = {
    { "B", 1, 0 },
    { "kB", K, 0 },
    { "KB", K, 0 },
    { "MB", K *K, 0 },
    { "GB", K *K *K, 0 },
    { "TB", K *K *K *K, 0 },
    { "KiB", KI, 0 },
    { "MiB", KI *KI, 0 },
    { "GiB", KI *KI *KI, 0 },
    { "TiB", KI *KI *KI *KI, 0 },
    { NULL, 0, 0 },
};

const struct measure duration_measures[] = {
    { "ns", 1, 0 },
    { "us", K, 0 },
    { "ms", K *K, 0 },
    { "s", K *K *K, 0 },
    { "min", 60 * K *K *K, 0 },
    { "m", 60 * K *K *K, 0 },
    { "h", 3600 * K *K *K, 0 },
    { "d", 86400 * K *K *K, 0 },
    { NULL, 0, 0 },
};

static const struct measure limit_measures[] = {
    { "B/s", 1, NVBW_UNIT_BYTES_PER_SECOND },
    { "kB/s", K, NVBW_UNIT_BYTES_PER_SECOND },
    { "MB/s", K *K, NVBW_UNIT_BYTES_PER_SECOND },
    { "GB/s", K *K *K, NVBW_UNIT_BYTES_PER_SECOND },
    { "TB/s", K *K *K *K, NVBW_UNIT_BYTES_PER_SECOND },
    { "MiB/s", KI *KI, NVBW_UNIT_BYTES_PER_SECOND },
    { "GiB/s", KI *KI *KI, NVBW_UNIT_BYTES_PER_SECOND },
    { "ns", 1, NVBW_UNIT_NANOSECONDS },
    { "us", K, NVBW_UNIT_NANOSECONDS },
    { "ms", K *K, NVBW_UNIT_NANOSECONDS },
    { "s", K *K *K, NVBW_UNIT_NANOSECONDS },
    { "B", 1, NVBW_UNIT_BYTES },
    { "KiB", KI, NVBW_UNIT_BYTES },
    { "MiB", KI *KI, NVBW_UNIT_BYTES },
    { "GiB", KI *KI *KI, NVBW_UNIT_BYTES },
    { "MB", K *K, NVBW_UNIT_BYTES },
    { "GB", K *K *K, NVBW_UNIT_BYTES },
    { "count", 1, NVBW_UNIT_COUNT },
    { NULL, 0, 0 },
};

static const struct kind size_kind = {
    .what = "size",
    .example = "512 MiB",
    .units = "B, kB, MB, GB, TB, KiB, MiB, GiB and TiB",
    .measures = size_measures,
    .whole = "bytes",
};

static const struct kind duration_kind = {
    .what = "duration",
    .example = "60 s",
    .units = "ns, us, ms, s, min, h and d",
    .measures = duration_measures,
    .whole = "nanoseconds",
};

static const struct kind limit_kind = {
    .what = "limit",
    .example = "48 GB/s",
    .units = "B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, ns, us, ms, s, B, "
             "KiB, MiB, GiB, MB, GB, count, % and "
             "\"% of expected|link|siblings|baseline\"",
    .measures = limit_measures,
};

static const struct kind int_kind = { .what = "whole number", .example = "15" };
static const struct kind real_kind = { .what = "number", .example = "0.25" };
static const struct kind ratio_kind = {
    .what = "ratio",
    .example = "0.5 %",
};

/* ---- Pieces of text ----------------------------------------------------- */

/* A decimal number at the start of a text, still as digits. */
struct pieces {
    int negative;
    const char *number; /* sign included */
    size_t number_length;
    const char *whole;
    size_t whole_length;
    const char *fraction; /* digits after the point */
    size_t fraction_length;
    const char *rest;   /* what follows, without blanks before it */
    size_t rest_length; /* without blanks behind it */
};

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static size_t length_of_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Characters of "e-12" at text, 0 where there is no exponent. */
static size_t length_of_exponent(const char *text)
{
    if (*text != 'e' && *text != 'E') {
        return 0;
    }

    const size_t sign = text[1] == '-' || text[1] == '+' ? 1 : 0;
    const size_t count = length_of_digits(text + 1 + sign);

    return count == 0 ? 0 : 1 + sign + count;
}

/* 1 if the text starts with a number. */
static int split(const char *text, int with_exponent, struct pieces *out)
{
    const char *at = skip_blanks(text);

    *out = (struct pieces){ .number = at, .negative = *at == '-' };
    at += out->negative;
    out->whole = at;
    out->whole_length = length_of_digits(at);
    if (out->whole_length == 0) {
        return 0;
    }
    at += out->whole_length;
    out->fraction = at;
    if (*at == '.') {
        out->fraction = at + 1;
        out->fraction_length = length_of_digits(at + 1);
        if (out->fraction_length == 0) {
            return 0;
        }
        at = out->fraction + out->fraction_length;
    }
    at += with_exponent ? length_of_exponent(at) : 0;
    out->number_length = (size_t)(at - out->number);
    out->rest = skip_blanks(at);
    out->rest_length = strlen(out->rest);
    while (
        out->rest_length > 0 && (out->rest[out->rest_length - 1] == ' ' ||
                                    out->rest[out->rest_length - 1] == '\t')) {
        out->rest_length--;
    }
    return 1;
}

static int rest_is(const struct pieces *pieces, const char *word)
{
    return pieces->rest_length == strlen(word) &&
           strncmp(pieces->rest, word, pieces->rest_length) == 0;
}

static const struct measure *find_measure(
    const struct measure *measures, const struct pieces *pieces)
{
    for (const struct measure *at = measures; at->word != NULL; at++) {
        if (rest_is(pieces, at->word)) {
            return at;
        }
    }
    return NULL;
}

/* 1 and the number, or 0 where the digits say more than 64 bits hold. */
static int parse_digits(const char *digits, size_t length, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        const uint64_t digit = (uint64_t)(digits[i] - '0');

        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return 0;
        }
    }
    *out = value;
    return 1;
}

/* ---- Words about what is wrong ------------------------------------------ */

static int32_t refuse_empty(const struct kind *kind, struct error *err)
{
    return error_set(err, NVBW_E_INVALID,
        "the %s is empty, write it like \"%s\"", kind->what, kind->example);
}

static int32_t refuse_form(
    const struct kind *kind, const char *text, struct error *err)
{
    return error_set(err, NVBW_E_INVALID,
        "\"%.80s\" is not a %s, write it like \"%s\"", text, kind->what,
        kind->example);
}

static int32_t refuse_negative(
    const struct kind *kind, const char *text, struct error *err)
{
    return error_set(err, NVBW_E_INVALID,
        "\"%.80s\" is negative, a %s cannot be", text, kind->what);
}

static int32_t refuse_large(
    const struct kind *kind, const char *text, struct error *err)
{
    return error_set(err, NVBW_E_INVALID, "\"%.80s\" is too large for a %s",
        text, kind->what);
}

/* The unit is missing or unknown. */
static int32_t refuse_unit(const struct kind *kind, const char *text,
    const struct pieces *pieces, struct error *err)
{
    if (pieces->rest_length == 0) {
        return error_set(err, NVBW_E_INVALID,
            "\"%.80s\" has no unit, write it like \"%s\"; units of a %s are %s",
            text, kind->example, kind->what, kind->units);
    }
    return error_set(err, NVBW_E_INVALID,
        "\"%.80s\" has the unknown unit \"%.*s\"; units of a %s are %s", text,
        pieces->rest_length > 40 ? 40 : (int)pieces->rest_length, pieces->rest,
        kind->what, kind->units);
}

static int is_empty(const char *text)
{
    return text == NULL || *skip_blanks(text) == '\0';
}

/* Splits and refuses what has no number at its start. */
static int32_t take_apart(const struct kind *kind, const char *text,
    int with_exponent, struct pieces *out, struct error *err)
{
    if (is_empty(text)) {
        return refuse_empty(kind, err);
    }
    if (!split(text, with_exponent, out)) {
        return refuse_form(kind, text, err);
    }
    return NVBW_OK;
}

/* ---- Whole numbers of a smallest unit ----------------------------------- */

static uint64_t common_divisor(uint64_t one, uint64_t other)
{
    while (other != 0) {
        const uint64_t rest = one % other;

        one = other;
        other = rest;
    }
    return one;
}

static uint64_t power_of_ten(size_t exponent)
{
    uint64_t power = 1;

    for (size_t i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

/* What the digits after the point are worth; exact, or an error. */
static int32_t scale_fraction(const struct kind *kind, const char *text,
    const struct pieces *pieces, uint64_t scale, uint64_t *out,
    struct error *err)
{
    size_t length = pieces->fraction_length;
    uint64_t digits = 0;

    while (length > 0 && pieces->fraction[length - 1] == '0') {
        length--;
    }
    *out = 0;
    if (length == 0) {
        return NVBW_OK;
    }
    FAIL_IF(length > FRACTION_DIGITS ||
                !parse_digits(pieces->fraction, length, &digits),
        err, NVBW_E_INVALID, "\"%.80s\" has too many digits", text);

    const uint64_t tens = power_of_ten(length);
    const uint64_t divisor = common_divisor(scale, tens);
    const uint64_t rest = tens / divisor;

    FAIL_IF(rest == 0 || digits % rest != 0, err, NVBW_E_INVALID,
        "\"%.80s\" is not a whole number of %s", text, kind->whole);
    *out = digits / rest * (scale / divisor);
    return NVBW_OK;
}

static int32_t parse_scaled(
    const struct kind *kind, const char *text, uint64_t *out, struct error *err)
{
    struct pieces pieces;

    TRY(take_apart(kind, text, 0, &pieces, err));
    if (pieces.negative) {
        return refuse_negative(kind, text, err);
    }

    const struct measure *const measure = find_measure(kind->measures, &pieces);

    if (measure == NULL) {
        return refuse_unit(kind, text, &pieces, err);
    }

    uint64_t whole = 0;
    uint64_t fraction = 0;

    TRY(scale_fraction(kind, text, &pieces, measure->scale, &fraction, err));
    if (!parse_digits(pieces.whole, pieces.whole_length, &whole) ||
        __builtin_mul_overflow(whole, measure->scale, &whole) ||
        __builtin_add_overflow(whole, fraction, &whole)) {
        return refuse_large(kind, text, err);
    }
    *out = whole;
    return NVBW_OK;
}

int32_t quantity_size(const char *text, uint64_t *out_bytes, struct error *err)
{
    return parse_scaled(&size_kind, text, out_bytes, err);
}

int32_t quantity_duration(const char *text, uint64_t *out_ns, struct error *err)
{
    return parse_scaled(&duration_kind, text, out_ns, err);
}

int32_t quantity_int(const char *text, int64_t *out_value, struct error *err)
{
    struct pieces pieces;
    uint64_t magnitude = 0;

    TRY(take_apart(&int_kind, text, 0, &pieces, err));
    if (pieces.rest_length != 0 || pieces.fraction_length != 0) {
        return refuse_form(&int_kind, text, err);
    }

    const uint64_t most = (uint64_t)INT64_MAX + (pieces.negative ? 1 : 0);

    if (!parse_digits(pieces.whole, pieces.whole_length, &magnitude) ||
        magnitude > most) {
        return refuse_large(&int_kind, text, err);
    }
    if (!pieces.negative) {
        *out_value = (int64_t)magnitude;
    } else {
        *out_value = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    }
    return NVBW_OK;
}

int32_t quantity_bool(const char *text, int *out_value, struct error *err)
{
    static const char *const words[] = { "false", "true", "off", "on", "no",
        "yes", NULL };

    FAIL_IF(is_empty(text), err, NVBW_E_INVALID,
        "the value is empty, write true or false");
    for (int i = 0; words[i] != NULL; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out_value = i % 2;
            return NVBW_OK;
        }
    }
    return error_set(err, NVBW_E_INVALID,
        "\"%.80s\" is neither true nor false; on, off, yes and no are "
        "accepted too",
        text);
}

/* ---- Real numbers ------------------------------------------------------- */

static int32_t parse_number(const struct kind *kind, const char *text,
    const struct pieces *pieces, double *out, struct error *err)
{
    char digits[NUMBER_BYTES];

    FAIL_IF(pieces->number_length >= sizeof digits, err, NVBW_E_INVALID,
        "\"%.80s\" has too many digits", text);
    memcpy(digits, pieces->number, pieces->number_length);
    digits[pieces->number_length] = '\0';
    errno = 0;
    *out = strtod(digits, NULL);
    FAIL_IF(errno == ERANGE || !isfinite(*out), err, NVBW_E_INVALID,
        "\"%.80s\" is out of range for a %s", text, kind->what);
    return NVBW_OK;
}

int32_t quantity_real(
    const char *text, uint32_t unit, double *out_value, struct error *err)
{
    const struct kind *const kind =
        unit == NVBW_UNIT_RATIO ? &ratio_kind : &real_kind;
    struct pieces pieces;
    double value = 0;

    TRY(take_apart(kind, text, 1, &pieces, err));
    TRY(parse_number(kind, text, &pieces, &value, err));
    if (unit == NVBW_UNIT_RATIO && rest_is(&pieces, "%")) {
        *out_value = value / 100;
        return NVBW_OK;
    }
    if (pieces.rest_length != 0) {
        return refuse_form(kind, text, err);
    }
    *out_value = value;
    return NVBW_OK;
}

int32_t quantity_ratio(
    const char *text, double usual, double *out_value, struct error *err)
{
    double value = 0;

    TRY(quantity_real(text, NVBW_UNIT_RATIO, &value, err));
    /* value / usual > usual / (value / 100) */
    FAIL_IF(strchr(text, '%') == NULL && value > 10 * usual, err,
        NVBW_E_INVALID,
        "\"%.80s\" is %g %%; write \"%g %%\" or, if that is meant, \"%g %%\"",
        text, 100 * value, value, 100 * value);
    *out_value = value;
    return NVBW_OK;
}

/* ---- Limits ------------------------------------------------------------- */

static const struct name base_names[] = {
    { LIMIT_EXPECTED, "expected" },
    { LIMIT_LINK, "link" },
    { LIMIT_SIBLINGS, "siblings" },
    { LIMIT_BASELINE, "baseline" },
    { 0, NULL },
};

/* What follows the percent sign: nothing, or "of" and a base. */
static int find_base(const struct pieces *pieces, uint32_t *out_base)
{
    const char *const after = skip_blanks(pieces->rest + 1);
    const size_t length = pieces->rest_length - (size_t)(after - pieces->rest);

    if (after >= pieces->rest + pieces->rest_length) {
        *out_base = LIMIT_ABSOLUTE;
        return 1;
    }
    if (length < 4 || strncmp(after, "of", 2) != 0 ||
        (after[2] != ' ' && after[2] != '\t')) {
        return 0;
    }

    const char *const word = skip_blanks(after + 2);
    char name[16];
    const size_t word_length = length - (size_t)(word - after);

    if (word_length >= sizeof name) {
        return 0;
    }
    memcpy(name, word, word_length);
    name[word_length] = '\0';
    return name_find(base_names, name, out_base);
}

int32_t quantity_limit(const char *text, enum limit_base *out_base,
    double *out_value, uint32_t *out_unit, struct error *err)
{
    struct pieces pieces;
    double value = 0;

    TRY(take_apart(&limit_kind, text, 1, &pieces, err));
    if (pieces.negative) {
        return refuse_negative(&limit_kind, text, err);
    }
    TRY(parse_number(&limit_kind, text, &pieces, &value, err));
    if (pieces.rest_length != 0 && pieces.rest[0] == '%') {
        uint32_t base = 0;

        if (!find_base(&pieces, &base)) {
            return refuse_unit(&limit_kind, text, &pieces, err);
        }
        *out_base = (enum limit_base)base;
        *out_value = value / 100;
        *out_unit = NVBW_UNIT_RATIO;
        return NVBW_OK;
    }

    const struct measure *const measure = find_measure(limit_measures, &pieces);

    if (measure == NULL) {
        return refuse_unit(&limit_kind, text, &pieces, err);
    }
    value *= (double)measure->scale;
    if (!isfinite(value)) {
        return refuse_large(&limit_kind, text, err);
    }
    *out_base = LIMIT_ABSOLUTE;
    *out_value = value;
    *out_unit = measure->unit;
    return NVBW_OK;
}
