/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A plugin without a name (rule C2). */
#include "bad_plugin.h"

BAD_TESTCASE("no_name", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("no_name"),
    .name = NULL };
