/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether what a testcase declares makes sense (C8 to C11). Pure. */
#ifndef NVBW_DESCRIBE_CHECK_H
#define NVBW_DESCRIBE_CHECK_H

#include "schema.h"
#include "status.h"

/* NVBW_E_INVALID and the rule, or NVBW_OK. */
int32_t describe_check_testcase(
    const struct testcase_schema *testcase, struct error *err);

#endif
