/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that move the bytes of flows, as one module. */
#include "access.cuh"
#include "copy.cuh"
#include "multicast.cuh"
#include "numbers.cuh"
#include "paced.cuh"
#include "read.cuh"
#include "stream.cuh"
#include "tma.cuh"
#include "write.cuh"
