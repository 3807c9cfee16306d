/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Codes of the CUDA driver that people meet on broken installations, with one
 * sentence of cause and remedy each. Pure. */
#ifndef NVBW_DRIVER_CODES_H
#define NVBW_DRIVER_CODES_H

#include <stdint.h>

/* The sentence for a CUresult, or NULL for a code without one. */
const char *driver_code_text(int64_t code);
/* "CUDA_ERROR_NO_DEVICE" for 100, or "CUresult". Never NULL. */
const char *driver_code_name(int64_t code);
/* 1 for an error after which the process has no usable GPU. */
int driver_code_is_sticky(int64_t code);

#endif
