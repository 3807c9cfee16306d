/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* SIGTERM asks a worker to stop: the handler only sets a flag. */
#ifndef NVBW_CANCEL_H
#define NVBW_CANCEL_H

#include "status.h"

int32_t cancel_install(struct error *err);
int cancel_requested(void); /* [any] */

#endif
