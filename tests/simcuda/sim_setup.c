/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_setup.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PROFILE "laptop_x4"
#define PROFILE_FOLDER  "/../../../share/nvbw/sim"

/* The profiles stand at the same place from this library in a build tree and
 * in an installation. */
static void find_profiles(char *out, size_t size)
{
    static const char here;
    Dl_info info;

    snprintf(out, size, ".");
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');

    snprintf(out, size, "%.*s%s",
        slash == NULL ? 1 : (int)(slash - info.dli_fname),
        slash == NULL ? "." : info.dli_fname, PROFILE_FOLDER);
}

int setup_read(
    struct profile *profile, struct faults *faults, char *trouble, size_t size)
{
    char folder[PATH_MAX];
    const char *name = secure_getenv("NVBW_SIM_PROFILE");
    const char *more = secure_getenv("NVBW_SIM_FAULTS");

    find_profiles(folder, sizeof folder);
    if (name == NULL || name[0] == '\0') {
        name = DEFAULT_PROFILE;
    }
    if (profile_load(name, folder, profile, trouble, size) != 0 ||
        faults_parse(profile->faults, faults, trouble, size) != 0) {
        return -1;
    }
    return more == NULL ? 0 : faults_parse(more, faults, trouble, size);
}
