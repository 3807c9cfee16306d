/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "quantity.h"

/* Of the shares that a plan speaks of: a few percent of the time. */
static const double usual_share = 0.02;

enum { CONFIRM_MAX = 100, ROUNDS_MAX = 100000, SHA256_DIGITS = 64 };

static int32_t check_word(const char *text, const char *const *words,
    const char *all, struct error *err)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0) {
            return NVBW_OK;
        }
    }
    return error_set(
        err, NVBW_E_INVALID, "\"%.80s\" is not one of %s", text, all);
}

int32_t plan_value_required(const char *text, struct error *err)
{
    static const char *const words[] = { "yes", "if_possible", "no", NULL };

    return check_word(text, words, "yes, if_possible, no", err);
}

int32_t plan_value_isolate(const char *text, struct error *err)
{
    static const char *const words[] = { "auto", "run", "plugin", "testcase",
        NULL };

    return check_word(text, words, "auto, run, plugin, testcase", err);
}

int32_t plan_value_nvbandwidth_version(const char *text, struct error *err)
{
    static const char *const words[] = { "0.8", "0.10", NULL };

    return check_word(text, words, "0.8, 0.10", err);
}

int32_t plan_value_direction(const char *text, struct error *err)
{
    return check_word(
        text, limit_directions, "h2d, d2h, d2d, h2h, local, both", err);
}

static int32_t check_range(const char *text, int64_t least, int64_t most,
    int64_t *out, struct error *err)
{
    TRY(quantity_int(text, out, err));
    FAIL_IF(*out < least || *out > most, err, NVBW_E_INVALID,
        "\"%.80s\" must be from %lld to %lld", text, (long long)least,
        (long long)most);
    return NVBW_OK;
}

int32_t plan_value_confirm(const char *text, struct error *err)
{
    int64_t value = 0;

    return check_range(text, 0, CONFIRM_MAX, &value, err);
}

int32_t plan_value_count(const char *text, struct error *err)
{
    int64_t value = 0;

    return check_range(text, 0, INT32_MAX, &value, err);
}

int32_t plan_value_rounds(const char *text, struct error *err)
{
    int64_t value = 0;

    return check_range(text, 1, ROUNDS_MAX, &value, err);
}

int32_t plan_value_pass(const char *text, struct error *err)
{
    char *end = NULL;
    const long part =
        isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

    if (end != NULL && strncmp(end, " of ", 4) == 0 &&
        isdigit((unsigned char)end[4])) {
        const long whole = strtol(end + 4, &end, 10);

        if (*end == '\0' && part >= 1 && part <= whole &&
            whole <= CONFIRM_MAX + 1) {
            return NVBW_OK;
        }
    }
    return error_set(err, NVBW_E_INVALID,
        "\"%.80s\" is no rule for passing, write it like \"2 of 3\"", text);
}

int32_t plan_value_limit(const char *text, struct error *err)
{
    enum limit_base base = LIMIT_ABSOLUTE;
    double value = 0;
    uint32_t unit = 0;

    return quantity_limit(text, &base, &value, &unit, err);
}

int32_t plan_value_flag(const char *text, struct error *err)
{
    int flag = 0;

    return quantity_bool(text, &flag, err);
}

int32_t plan_value_duration(const char *text, struct error *err)
{
    uint64_t ns = 0;

    return quantity_duration(text, &ns, err);
}

int32_t plan_value_ratio(const char *text, struct error *err)
{
    double value = 0;

    TRY(quantity_ratio(text, usual_share, &value, err));
    FAIL_IF(value < 0 || value > 1, err, NVBW_E_INVALID,
        "\"%.80s\" must be from 0 to 100 %%", text);
    return NVBW_OK;
}

static long days_of(long year, long month)
{
    static const long days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
        31 };
    const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

int32_t plan_value_date(const char *text, struct error *err)
{
    static const char form[] = "dddd-dd-dd";
    int right = strlen(text) == sizeof form - 1;

    for (size_t i = 0; right && form[i] != '\0'; i++) {
        right = form[i] == 'd' ? isdigit((unsigned char)text[i]) != 0
                               : text[i] == form[i];
    }

    const long month = right ? strtol(text + 5, NULL, 10) : 0;
    const long day = right ? strtol(text + 8, NULL, 10) : 0;

    FAIL_IF(month < 1 || month > 12 || day < 1, err, NVBW_E_INVALID,
        "\"%.80s\" is no date, write it like \"2027-03-31\"", text);

    const long days = days_of(strtol(text, NULL, 10), month);

    FAIL_IF(day > days, err, NVBW_E_INVALID,
        "\"%.80s\" is no date, that month has %ld days", text, days);
    return NVBW_OK;
}

int32_t plan_value_text(const char *text, struct error *err)
{
    FAIL_IF(*text == '\0', err, NVBW_E_INVALID, "the text is empty");
    return NVBW_OK;
}

int32_t plan_value_sha256(const char *text, struct error *err)
{
    FAIL_IF(strlen(text) != SHA256_DIGITS ||
                strspn(text, "0123456789abcdefABCDEF") != SHA256_DIGITS,
        err, NVBW_E_INVALID, "\"%.80s\" is no sha256, it has 64 hex digits",
        text);
    return NVBW_OK;
}
