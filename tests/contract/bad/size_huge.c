/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Says that its struct is longer than any contract's (rule C4). */
#include "bad_plugin.h"

BAD_TESTCASE("size_huge", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("size_huge"),
    .size = 0x7fffffff };
