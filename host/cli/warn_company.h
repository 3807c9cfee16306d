/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* concurrency = "disjoint" where pairs of GPUs share bridges. */
#ifndef NVBW_WARN_COMPANY_H
#define NVBW_WARN_COMPANY_H

#include "prepare.h"

/* Warns of each suite whose pairs are measured beside each other though some
 * of them have PCIe between them: what they share makes them slow. Needs the
 * schedule. */
void warn_company(const struct prepared *prepared);

#endif
