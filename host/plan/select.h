/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Which plugin, testcases and parameters a suite of a plan means. Pure; check
 * and schedule both ask here, so that they cannot differ. */
#ifndef NVBW_SELECT_H
#define NVBW_SELECT_H

#include "plan.h"

/* The schema of the suite's plugin, or NULL. */
const struct plugin_schema *select_plugin(const struct plan_suite *suite,
    const struct plugin_schema *plugins, uint32_t plugins_count);

/* Whether the suite's tests name the testcase. */
int select_in_suite(const struct plan_suite *suite, const char *testcase);

/* Whether it is to run in this call: enabled, in the suite, chosen by -t (if
 * any) and by --tags (if any). testcase NULL: the suite's placeholder. */
int select_runs(const struct plan *plan, const struct plan_suite *suite,
    const struct testcase_schema *testcase);

/* The testcase's own parameter of that name, else the standard one. */
const struct param_schema *select_param(
    const struct testcase_schema *testcase, const char *name);

/* What the plan says for a parameter of a suite, or NULL: its default. */
const struct plan_value *select_value(
    const struct plan *plan, const struct plan_suite *suite, const char *name);

/* A setting of the suite, else of defaults, else fallback. member: offset in
 * struct plan_settings. */
const char *select_setting(const struct plan *plan,
    const struct plan_suite *suite, size_t member, const char *fallback);

/* 1 if the option is there and says true. */
int select_flag(const struct plan *plan, const char *option);

#endif
