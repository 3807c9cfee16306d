/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Judge: evidence in, verdicts out. Pure; calls nothing that measures, reads
 * no file and no clock. */
#ifndef NVBW_JUDGE_H
#define NVBW_JUDGE_H

#include "evidence.h"
#include "state.h"
#include "stats.h"

/* One cell's verdict. Texts live in the arena of the verdicts. */
struct verdict {
    uint32_t unit, row, col;
    const char *metric;
    uint32_t cell;  /* number in the unit */
    uint32_t state; /* STATE_*; never MEASURED or NONE */
    const char *reason, *message;
    uint32_t exit_code; /* what this cell asks for, by `required` */
    double figure;      /* median of all attempts, NaN: none */
    struct stats stats; /* of the attempt that the figure comes from */
    uint32_t attempts, passed;
    double limit; /* in the metric's unit, NaN: none */
    uint32_t limit_is_max;
    const char *limit_text;   /* "95 % of expected"; NULL: no limit is for it */
    const char *base_trouble; /* why a limit has no value, or NULL */
    double warn;              /* beyond it a pass is a warning, NaN: none */
    const char *warn_text;
    struct origin limit_origin;
    double base;              /* what the percentage is of, NaN */
    const char *base_formula; /* how it was computed, or NULL */
    double theoretical;       /* of the path, NaN: none derived */
    const char *theoretical_formula;
    double utilisation; /* figure / theoretical, NaN */
    double margin;      /* (figure - limit) / limit, better is positive */
    const struct plan_accept *accept; /* of a known defect, NULL: none */
    const struct record *record;      /* that counts; NULL: none */
};

/* A finding: what is likely wrong, in words. */
struct finding {
    const char *id;     /* of the rule, "pcie_width" */
    const char *family; /* of a diagnosis, "physical link"; else NULL */
    int32_t gpu, peer;  /* positions in facts->gpus, or -1 */
    const char *what;   /* sentence with evidence */
    const char *action; /* one line: what to do */
    const char *next;   /* how to tell that it was this, or NULL */
    uint32_t exit_code;
    uint32_t accepted;
};

struct trend;

/* What became of one entry of the plan's `accept`. */
struct acceptance {
    const struct plan_accept *entry;
    uint32_t cells, findings; /* that it covers, or would if it had not ended */
    uint32_t ended;           /* 1: its last day is over, so it covers none */
};

struct verdicts {
    struct verdict *list; /* in order of units and cells: every planned cell
                             exactly once */
    uint32_t count;
    uint32_t by_state[STATE_COUNT];
    struct finding *findings;
    uint32_t findings_count;
    struct trend *trends; /* over rounds (trend.h); none where they are few */
    uint32_t trends_count;
    struct acceptance *acceptances; /* in order of the plan */
    uint32_t acceptances_count;
    uint32_t accepted_count;       /* failed cells that are accepted */
    const char **unmatched_limits; /* limits that matched no cell */
    uint32_t unmatched_limits_count;
    int32_t exit_code; /* the gravest of all */
};

int32_t judge_run(const struct evidence *evidence, struct arena *arena,
    struct verdicts *out, struct error *err);

/* The same for one unit at its end: which cells fail and must be confirmed.
 * Cell numbers, in order. */
int32_t judge_unit(const struct evidence *evidence, uint32_t unit,
    struct arena *arena, uint32_t **out_cells, uint32_t *out_count,
    struct error *err);

/* Exit codes (outcome.c). */
enum {
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_HEALTH = 3,
    EXIT_INCOMPLETE = 4,
    EXIT_CONTRACT = 5
};
/* The table of product.md: what one cell asks for. */
int32_t outcome_of_cell(
    uint32_t state, const char *reason, const char *required, int has_limit);
/* The gravest wins: 3, 5, 4, 1, 0. */
int32_t outcome_worse(int32_t one, int32_t other);

#endif
