/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The types of the standard parameters, for the getters of a plugin and for
 * the engine. Their documentation, defaults and bounds are the host's
 * (host/plan/param.c), which has checked every value before. */
#ifndef NVBW_STANDARD_TYPES_H
#define NVBW_STANDARD_TYPES_H

#include "schema.h"

/* Name, type, unit, flags and choices alone are set; NULL for a name that is
 * not standard. */
const struct param_schema *standard_type(const char *name);

#endif
