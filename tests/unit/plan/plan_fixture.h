/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Plans for tests: files in a folder of their own, loaded and merged. */
#ifndef NVBW_TEST_PLAN_FIXTURE_H
#define NVBW_TEST_PLAN_FIXTURE_H

#include "plan.h"

struct plan_fixture {
    char folder[64];
    struct arena arena;
    struct problems problems;
    struct plan plan;
};

/* Makes an empty folder and goes there. */
void fixture_begin(struct plan_fixture *fixture);
void fixture_end(struct plan_fixture *fixture);
void fixture_write(const char *file, const char *text);
/* Loads "a.cfg b.cfg", then the --set texts; both end with NULL. */
void fixture_load(struct plan_fixture *fixture, const char *const *files,
    const char *const *sets);
/* Loads one text. */
void fixture_load_text(struct plan_fixture *fixture, const char *text);
/* "file:line: text" of a problem, in the fixture's arena. */
const char *fixture_problem(struct plan_fixture *fixture, uint32_t index);

#endif
