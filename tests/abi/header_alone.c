/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rule C3: compiled as C11, C17 and C++17 with every warning an error. */
#include "nvbw/plugin.h"

extern const struct nvbw_cell header_alone_cell;
const struct nvbw_cell header_alone_cell = NVBW_CELL("bandwidth", 1, 2);
