/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether a plugin's descriptors keep the rules that the host can check: the
 * describe worker sends what it read, this judges it. Pure but for the
 * sentences that it adds. */
#ifndef NVBW_SCHEMA_CHECK_H
#define NVBW_SCHEMA_CHECK_H

#include "schema.h"

/* Checks one plugin and marks what is wrong: a mistake in a testcase sets its
 * problem and so refuses that testcase; one in the plugin sets state
 * STATE_ERROR with reason "contract". Each sentence ends with the rule's
 * number. standard: the standard parameters, ending with a NULL name, or
 * NULL. What has a state or a problem already keeps it. Negative only without
 * memory. */
int32_t schema_check(struct plugin_schema *plugin,
    const struct param_schema *standard, struct arena *arena,
    struct error *err);

#endif
