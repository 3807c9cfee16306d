/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Another magic number (rule C2). */
#include "bad_plugin.h"

BAD_TESTCASE("wrong_magic", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("wrong_magic"),
    .magic = 0x1122334455667788 };
