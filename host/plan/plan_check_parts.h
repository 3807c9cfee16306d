/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The parts of plan_check that have files of their own. */
#ifndef NVBW_PLAN_CHECK_PARTS_H
#define NVBW_PLAN_CHECK_PARTS_H

#include "plan.h"

struct plan_checker {
    const struct plan *plan;
    const struct plugin_schema *plugins;
    uint32_t plugins_count;
    struct problems *problems;
};

/* A value of a GROUP parameter; 0 where a problem was added. (plan_groups.c) */
int check_groups(const struct plan_checker *checker,
    const struct testcase_schema *testcase, const struct param_schema *param,
    const struct plan_value *value);
/* Parameters of a suite whose plugin can be used. (check_param.c) */
void check_params(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plugin_schema *plugin);
/* Parameters of defaults. (check_param.c) */
void check_defaults(const struct plan_checker *checker);

/* Limits of a suite, or those of the plan where suite is NULL.
 * (check_limit.c) */
void check_limits(
    const struct plan_checker *checker, const struct plan_suite *suite);

#endif
