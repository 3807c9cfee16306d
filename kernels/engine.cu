/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels that every measurement on a GPU needs, as one module: they are
 * also shipped as text (ptx/engine.ptx) for builds without nvcc. */
#include "fill.cuh"
#include "spin.cuh"
#include "verify.cuh"
