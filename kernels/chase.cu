/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that follow chains of dependent loads, as one module. */
#include "chase.cuh"
