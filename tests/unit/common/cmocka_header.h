/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* cmocka wants these before its own header. */
#ifndef NVBW_CMOCKA_HEADER_H
#define NVBW_CMOCKA_HEADER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
