/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A library like any other (rule C1). */
extern __attribute__((visibility("default"))) const int acme_version;
const int acme_version = 1;
