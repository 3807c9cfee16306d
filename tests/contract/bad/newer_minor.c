/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Needs a host of the future (rule C6). */
#include "bad_plugin.h"

BAD_TESTCASE("newer_minor", "1", NULL);
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
const struct nvbw_plugin nvbw_plugin_v1 = { BAD_MEMBERS("newer_minor"),
    .abi_minor = 99, .min_host_minor = 99 };
