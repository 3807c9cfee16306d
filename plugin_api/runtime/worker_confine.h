/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a worker gives up for the time of its life, by its role. When memory
 * runs out, all of them are ended before others. Those that only look at a
 * plugin (describe, check, record) measure nothing and open no driver: no
 * program that they start is set-user-ID any more, and half of the machine's
 * memory is enough for them. Those that open the driver keep what they have,
 * since the driver starts nvidia-modprobe, which is set-user-ID, and pins
 * memory. */
#ifndef NVBW_WORKER_CONFINE_H
#define NVBW_WORKER_CONFINE_H

/* Before anything of a plugin is loaded. role: as the host names it, or NULL.
 * What the kernel refuses is left as it is. */
void worker_confine(const char *role);

#endif
