/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a cell's state asks of the exit code: the table of docs/results.md. */
#include "judge.h"

#include <string.h>

enum outcome_when {
    WHEN_ANY = 0,
    WHEN_HAS_LIMIT,
    WHEN_THROTTLED,
    WHEN_TOPOLOGY, /* reasons of topology or build */
    WHEN_CONTRACT  /* the plugin broke the contract */
};

/* Of the rows of a state the first whose condition holds counts. */
struct outcome_row {
    uint32_t state;
    enum outcome_when when;
    int32_t yes, if_possible, no;
};

static const struct outcome_row rows[] = {
    { STATE_PASS, WHEN_ANY, 0, 0, 0 },
    { STATE_WARN, WHEN_ANY, 0, 0, 0 },
    { STATE_UNCHECKED, WHEN_HAS_LIMIT, 4, 0, 0 },
    { STATE_UNCHECKED, WHEN_ANY, 0, 0, 0 },
    { STATE_FAIL, WHEN_ANY, 1, 1, 0 },
    { STATE_MISMATCH, WHEN_ANY, 1, 1, 0 },
    { STATE_INVALID, WHEN_THROTTLED, 3, 3, 0 },
    { STATE_INVALID, WHEN_ANY, 4, 4, 0 },
    { STATE_SKIP, WHEN_TOPOLOGY, 4, 0, 0 },
    { STATE_SKIP, WHEN_ANY, 4, 4, 0 },
    { STATE_ERROR, WHEN_CONTRACT, 5, 5, 0 },
    { STATE_ERROR, WHEN_ANY, 4, 4, 0 },
    { STATE_CRASH, WHEN_ANY, 4, 4, 0 },
    { STATE_TIMEOUT, WHEN_ANY, 4, 4, 0 },
    { STATE_CANCELLED, WHEN_ANY, 4, 4, 0 },
    { STATE_NOT_RUN, WHEN_ANY, 4, 4, 0 },
    { STATE_BLOCKED, WHEN_ANY, 3, 3, 0 },
};

static int is_kind(uint32_t state, const char *reason, enum reason_kind kind)
{
    const struct reason *const found = reason_find(state, reason);

    return found != NULL && found->kind == kind;
}

static int holds(
    enum outcome_when when, uint32_t state, const char *reason, int has_limit)
{
    switch (when) {
    case WHEN_ANY:
        return 1;
    case WHEN_HAS_LIMIT:
        return has_limit;
    case WHEN_THROTTLED:
        return reason != NULL && strcmp(reason, "throttled") == 0;
    case WHEN_TOPOLOGY:
        return is_kind(state, reason, REASON_TOPOLOGY);
    case WHEN_CONTRACT:
        return is_kind(state, reason, REASON_CONTRACT);
    }
    return 0;
}

static int32_t for_required(const struct outcome_row *row, const char *required)
{
    if (required != NULL && strcmp(required, "no") == 0) {
        return row->no;
    }
    if (required != NULL && strcmp(required, "if_possible") == 0) {
        return row->if_possible;
    }
    return row->yes;
}

int32_t outcome_of_cell(
    uint32_t state, const char *reason, const char *required, int has_limit)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].state == state &&
            holds(rows[i].when, state, reason, has_limit)) {
            return for_required(&rows[i], required);
        }
    }
    return EXIT_INCOMPLETE; /* no verdict at all */
}

static int gravity(int32_t code)
{
    static const int32_t order[] = { EXIT_PASSED, EXIT_FAILED, EXIT_INCOMPLETE,
        EXIT_CONTRACT, EXIT_HEALTH };

    for (int i = 0; i < (int)(sizeof order / sizeof order[0]); i++) {
        if (order[i] == code) {
            return i;
        }
    }
    return -1;
}

int32_t outcome_worse(int32_t one, int32_t other)
{
    return gravity(other) > gravity(one) ? other : one;
}
