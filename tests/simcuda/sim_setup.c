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

/* A rack is one machine to the simulator and several to those who use it: the
 * GPUs of the host that NVBW_SIM_HOST names, by number, come first and are the
 * only ones that driver and NVML offer. The others can be reached by
 * handles. */
static int choose_host(struct profile *profile, char *trouble, size_t size)
{
    const char *text = secure_getenv("NVBW_SIM_HOST");
    const uint32_t tray = profile->tray;

    profile->visible = profile->count;
    for (uint32_t i = 0; i < profile->count; i++) {
        profile->gpus[i].number = i;
    }
    if (tray == 0 || tray >= profile->count) {
        return 0;
    }

    const unsigned long host = text == NULL ? 0 : strtoul(text, NULL, 10);

    if ((host + 1) * tray > profile->count) {
        snprintf(trouble, size, "NVBW_SIM_HOST: there is no host %lu", host);
        return -1;
    }

    const size_t bytes = tray * sizeof *profile->gpus;
    struct profile_gpu *const own = malloc(bytes);

    if (own == NULL) {
        snprintf(trouble, size, "out of memory");
        return -1;
    }
    memcpy(own, profile->gpus + host * tray, bytes);
    memmove(profile->gpus + tray, profile->gpus,
        host * tray * sizeof *profile->gpus);
    memcpy(profile->gpus, own, bytes);
    free(own);
    profile->visible = tray;
    snprintf(profile->host_name, sizeof profile->host_name, "host-%lu", host);
    return 0;
}

/* As launchers do that give each rank a GPU: the one of this number is the only
 * one that driver and NVML offer. */
static int choose_gpu(struct profile *profile, char *trouble, size_t size)
{
    const char *text = secure_getenv("NVBW_SIM_VISIBLE");

    if (text == NULL || profile->visible == 0) {
        return 0;
    }

    const unsigned long gpu = strtoul(text, NULL, 10);

    if (gpu >= profile->visible) {
        snprintf(trouble, size, "NVBW_SIM_VISIBLE: there is no GPU %lu", gpu);
        return -1;
    }

    const struct profile_gpu first = profile->gpus[0];

    profile->gpus[0] = profile->gpus[gpu];
    profile->gpus[gpu] = first;
    profile->visible = 1;
    return 0;
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
        choose_host(profile, trouble, size) != 0 ||
        choose_gpu(profile, trouble, size) != 0 ||
        faults_parse(profile->faults, faults, trouble, size) != 0) {
        return -1;
    }
    return more == NULL ? 0 : faults_parse(more, faults, trouble, size);
}
