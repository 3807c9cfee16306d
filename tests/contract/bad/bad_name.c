/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A name that no plan can spell (rule C2). */
#include "bad_plugin.h"

BAD_TESTCASE("bad_name", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("bad_name"),
    .name = "Bad Name" };
