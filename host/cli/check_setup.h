/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What workers are started with, looked at before the first one: one that
 * finds its profile or wrapper missing can only fail, each time anew. */
#ifndef NVBW_CHECK_SETUP_H
#define NVBW_CHECK_SETUP_H

#include "arena.h"
#include "status.h"

/* A profile that the simulated driver at driver_file, a real path, would not
 * find. name with a slash is a path, else it stands in the driver's folder of
 * profiles. */
int32_t check_sim_profile(const char *driver_file, const char *name,
    struct arena *arena, struct error *err);

/* The first word of --wrap must be a program; text is what was given. */
int32_t check_wrap(
    const char *const *words, const char *text, struct error *err);

#endif
