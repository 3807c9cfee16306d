/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A flag of no known meaning (rule C2). */
#include "bad_plugin.h"

BAD_TESTCASE("plugin_flags", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("plugin_flags"),
    .flags = 0x80000000u };
