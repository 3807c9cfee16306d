/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Says that its struct ends before the magic number (rule C4). */
#include "bad_plugin.h"

BAD_TESTCASE("size_small", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("size_small"),
    .size = 8 };
