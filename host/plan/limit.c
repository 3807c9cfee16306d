/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "limit.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"

enum { SIZE_TEXT_BYTES = 64, DEVICE_MAX = 4095 };

const char *const limit_directions[] = { "h2d", "d2h", "d2d", "h2h", "local",
    "both", NULL };

/* ---- Numbers of devices ------------------------------------------------- */

struct span {
    long first, last;
};

/* Reads a whole number; NULL where there is none. */
static const char *read_number(const char *text, long *out)
{
    char *end = NULL;

    text += strspn(text, " ");
    if (*text < '0' || *text > '9') {
        return NULL;
    }
    *out = strtol(text, &end, 10);
    return *out > DEVICE_MAX ? NULL : end + strspn(end, " ");
}

/* Reads "3" or "0-3" up to a comma or the end; NULL where it is neither. */
static const char *read_span(const char *text, struct span *out)
{
    const char *at = read_number(text, &out->first);

    if (at == NULL) {
        return NULL;
    }
    out->last = out->first;
    if (*at == '-') {
        at = read_number(at + 1, &out->last);
    }
    if (at == NULL || out->last < out->first) {
        return NULL;
    }
    if (*at == ',' && at[1] != '\0') {
        return at + 1;
    }
    return *at == '\0' ? at : NULL;
}

static int is_listed(const char *list, int32_t device)
{
    struct span span;

    for (const char *at = list; at != NULL && *at != '\0';) {
        at = read_span(at, &span);
        if (at != NULL && device >= span.first && device <= span.last) {
            return 1;
        }
    }
    return 0;
}

int limit_matches_devices(
    const char *list, const int32_t *devices, uint32_t count)
{
    if (list == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!is_listed(list, devices[i])) {
            return 0;
        }
    }
    return count > 0;
}

int32_t limit_check_devices(const char *list, struct error *err)
{
    struct span span;
    const char *at = list;

    do {
        at = read_span(at, &span);
        FAIL_IF(at == NULL, err, NVBW_E_INVALID,
            "\"%.80s\" is not a list of device numbers, write it like "
            "\"0-3,5\"",
            list);
    } while (*at != '\0');
    return NVBW_OK;
}

/* 1 and both numbers of "0-1". */
static int read_pair(const char *pair, long *out_one, long *out_other)
{
    const char *const dash = read_number(pair, out_one);

    if (dash == NULL || *dash != '-') {
        return 0;
    }

    const char *const end = read_number(dash + 1, out_other);

    return end != NULL && *end == '\0' && *out_one != *out_other;
}

int limit_matches_pair(const char *pair, const int32_t *devices, uint32_t count)
{
    long one = 0;
    long other = 0;

    if (pair == NULL) {
        return 1;
    }
    if (count != 2 || !read_pair(pair, &one, &other)) {
        return 0;
    }
    return (devices[0] == one && devices[1] == other) ||
           (devices[0] == other && devices[1] == one);
}

int32_t limit_check_pair(const char *pair, struct error *err)
{
    long one = 0;
    long other = 0;

    FAIL_IF(!read_pair(pair, &one, &other), err, NVBW_E_INVALID,
        "\"%.80s\" is not a pair of device numbers, write it like \"0-1\"",
        pair);
    return NVBW_OK;
}

/* ---- Sizes -------------------------------------------------------------- */

static int32_t read_sizes(const char *text, uint64_t *out_first,
    uint64_t *out_last, struct error *err)
{
    const char *const dash = strchr(text, '-');
    char first[SIZE_TEXT_BYTES];

    if (dash == NULL || dash == text) {
        TRY(quantity_size(text, out_first, err));
        *out_last = *out_first;
        return NVBW_OK;
    }

    const size_t length = (size_t)(dash - text);

    FAIL_IF(length >= sizeof first, err, NVBW_E_INVALID,
        "\"%.80s\" is not a size, write it like \"64 MiB\"", text);
    memcpy(first, text, length);
    first[length] = '\0';
    TRY(quantity_size(first, out_first, err));
    TRY(quantity_size(dash + 1, out_last, err));
    FAIL_IF(*out_first > *out_last, err, NVBW_E_INVALID,
        "\"%.80s\" ends below its beginning", text);
    return NVBW_OK;
}

int limit_matches_size(const char *size, uint64_t bytes)
{
    uint64_t first = 0;
    uint64_t last = 0;

    if (size == NULL) {
        return 1;
    }
    return read_sizes(size, &first, &last, NULL) == NVBW_OK && bytes >= first &&
           bytes <= last;
}

int32_t limit_check_size(const char *size, struct error *err)
{
    uint64_t first = 0;
    uint64_t last = 0;

    return read_sizes(size, &first, &last, err);
}

/* ---- Names -------------------------------------------------------------- */

int limit_matches_name(
    const char *match, const char *testcase, const char *metric)
{
    if (match == NULL) {
        return 1;
    }

    const char *const slash = strchr(match, '/');

    if (slash == NULL) {
        return fnmatch(match, testcase, 0) == 0;
    }

    char name[256];
    const size_t length = (size_t)(slash - match);

    if (length >= sizeof name) {
        return 0;
    }
    memcpy(name, match, length);
    name[length] = '\0';
    return fnmatch(name, testcase, 0) == 0 &&
           fnmatch(slash + 1, metric, 0) == 0;
}

int limit_is_exact(const struct plan_limit *limit)
{
    return limit->match != NULL &&
           strcspn(limit->match, "*?[") >= strcspn(limit->match, "/");
}

const char *limit_text(const struct plan_limit *limit, uint32_t better)
{
    return better == NVBW_LOWER ? limit->max : limit->min;
}

/* ---- The one that holds ------------------------------------------------- */

/* Whether what the limit says can bound this metric. */
static int can_bind(
    const struct plan_limit *limit, const struct limit_cell *cell)
{
    const char *const text = limit_text(limit, cell->better);
    enum limit_base base = LIMIT_ABSOLUTE;
    double value = 0;
    uint32_t unit = 0;

    if (text == NULL || quantity_limit(text, &base, &value, &unit, NULL) < 0) {
        return 0;
    }
    switch (base) {
    case LIMIT_ABSOLUTE:
        return unit == cell->unit;
    case LIMIT_EXPECTED:
    case LIMIT_LINK:
        return cell->unit == NVBW_UNIT_BYTES_PER_SECOND;
    case LIMIT_SIBLINGS:
    case LIMIT_BASELINE:
        return 1;
    }
    return 0;
}

static int matches(
    const struct plan_limit *limit, const struct limit_cell *cell)
{
    return limit_matches_name(limit->match, cell->testcase, cell->metric) &&
           limit_matches_devices(
               limit->devices, cell->devices, cell->devices_count) &&
           limit_matches_pair(
               limit->pair, cell->devices, cell->devices_count) &&
           (limit->direction == NULL ||
               (cell->direction != NULL &&
                   strcmp(limit->direction, cell->direction) == 0)) &&
           limit_matches_size(limit->size, cell->buffer_bytes) &&
           can_bind(limit, cell);
}

struct weight {
    uint32_t keys, literals, of_suite, rank;
};

static uint32_t count_literals(const char *match)
{
    uint32_t count = 0;
    int in_set = 0;

    for (const char *at = match; at != NULL && *at != '\0'; at++) {
        in_set = in_set ? *at != ']' : *at == '[';
        count += !in_set && strchr("*?]", *at) == NULL;
    }
    return count;
}

static struct weight weigh(const struct plan_limit *limit, uint32_t of_suite)
{
    return (struct weight){
        .keys = (uint32_t)((limit->devices != NULL) + (limit->pair != NULL) +
                           (limit->direction != NULL) + (limit->size != NULL)),
        .literals = count_literals(limit->match),
        .of_suite = of_suite,
        .rank = limit->rank,
    };
}

static int is_heavier(const struct weight *one, const struct weight *other)
{
    if (one->keys != other->keys) {
        return one->keys > other->keys;
    }
    if (one->literals != other->literals) {
        return one->literals > other->literals;
    }
    if (one->of_suite != other->of_suite) {
        return one->of_suite > other->of_suite;
    }
    return one->rank >= other->rank;
}

struct search {
    const struct limit_cell *cell;
    const struct plan_limit *best;
    struct weight weight;
};

static void search_in(struct search *search, const struct plan_limit *limits,
    uint32_t count, uint32_t of_suite)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct weight weight = weigh(&limits[i], of_suite);

        if (matches(&limits[i], search->cell) &&
            (search->best == NULL || is_heavier(&weight, &search->weight))) {
            search->best = &limits[i];
            search->weight = weight;
        }
    }
}

const struct plan_limit *limit_find(
    const struct plan *plan, uint32_t suite, const struct limit_cell *cell)
{
    struct search search = { .cell = cell };

    search_in(&search, plan->limits, plan->limits_count, 0);
    if (suite < plan->suites_count) {
        search_in(&search, plan->suites[suite].limits,
            plan->suites[suite].limits_count, 1);
    }
    return search.best;
}
