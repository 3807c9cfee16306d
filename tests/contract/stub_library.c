/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The library that is missing: plugins are linked with it and cannot find it
 * where they are loaded. */
extern __attribute__((visibility("default"))) int acme_open(void);
int acme_open(void)
{
    return 0;
}
