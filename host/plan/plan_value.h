/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether the text of a key that needs no plugin to be judged is right. Each
 * returns NVBW_OK or says what is wrong and what would be right. Pure. */
#ifndef NVBW_PLAN_VALUE_H
#define NVBW_PLAN_VALUE_H

#include "status.h"

typedef int32_t plan_value_fn(const char *text, struct error *err);

plan_value_fn plan_value_required; /* yes, if_possible, no */
plan_value_fn plan_value_isolate;  /* auto, run, plugin, testcase */
plan_value_fn plan_value_confirm;  /* 0 to 100 */
plan_value_fn plan_value_pass;     /* "2 of 3" */
plan_value_fn plan_value_limit;    /* "48 GB/s", "95 % of expected" */
plan_value_fn plan_value_direction;
plan_value_fn plan_value_flag;
plan_value_fn plan_value_count;  /* 0 or more */
plan_value_fn plan_value_rounds; /* 1 or more */
plan_value_fn plan_value_duration;
plan_value_fn plan_value_ratio;
plan_value_fn plan_value_date; /* "2027-03-31" */
plan_value_fn plan_value_text; /* anything but nothing */
plan_value_fn plan_value_sha256;
plan_value_fn plan_value_nvbandwidth_version; /* 0.8, 0.10 */

#endif
