/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "check_setup.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nearest.h"
#include "strbuf.h"

enum { NAMES_BYTES = 4096, PATH_BYTES = 4096 };

/* ---- --sim-profile ------------------------------------------------------ */

/* As the simulated driver finds it: the same way from its library in a build
 * tree and in an installation. */
static const char *profile_folder(const char *driver_file, struct arena *arena)
{
    const char *const slash = strrchr(driver_file, '/');

    return arena_format(arena, "%.*s/../../../share/nvbw/sim",
        slash == NULL ? 1 : (int)(slash - driver_file),
        slash == NULL ? "." : driver_file);
}

static int is_profile(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 4 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 4, ".cfg") == 0;
}

/* Names without their ".cfg", as they are given. */
static int32_t refuse_profile(
    const char *name, struct dirent **entries, int count, struct error *err)
{
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;
    struct strbuf known;

    strbuf_init(&known, NAMES_BYTES);
    nearest_begin(&nearest, name);
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - 4] = '\0';
        nearest_offer(&nearest, entries[i]->d_name);
        strbuf_format(&known, "%s%s", i == 0 ? "" : " ", entries[i]->d_name);
    }
    error_set(err, NVBW_E_INVALID,
        "--sim-profile: there is no machine \"%.100s\"%s; there are: %s", name,
        nearest_hint(&nearest, hint), known.text);
    strbuf_free(&known);
    return NVBW_E_INVALID;
}

static int32_t look_in_folder(
    const char *folder, const char *name, struct error *err)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_profile, alphasort);
    int32_t status = NVBW_OK;
    int is_found = 0;

    if (count < 0) {
        return error_system(err, "--sim-profile: the folder \"%s\"", folder);
    }
    for (int i = 0; i < count; i++) {
        is_found |= strlen(entries[i]->d_name) == strlen(name) + 4 &&
                    strncmp(entries[i]->d_name, name, strlen(name)) == 0;
    }
    if (!is_found) {
        status = refuse_profile(name, entries, count, err);
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    return status;
}

int32_t check_sim_profile(const char *driver_file, const char *name,
    struct arena *arena, struct error *err)
{
    if (strchr(name, '/') != NULL) {
        return access(name, R_OK) == 0
                   ? NVBW_OK
                   : error_system(err, "--sim-profile \"%s\"", name);
    }

    const char *const folder = profile_folder(driver_file, arena);

    FAIL_IF(folder == NULL, err, NVBW_E_SYSTEM, "out of memory");
    return look_in_folder(folder, name, err);
}

/* ---- --wrap ------------------------------------------------------------- */

static int is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           access(path, X_OK) == 0;
}

static int is_in_path(const char *word)
{
    const char *const given = secure_getenv("PATH");
    const char *at = given == NULL ? "/bin:/usr/bin" : given;
    char path[PATH_BYTES];

    while (*at != '\0') {
        const size_t length = strcspn(at, ":");
        const int written = snprintf(path, sizeof path, "%.*s%s%s", (int)length,
            at, length == 0 ? "" : "/", word);

        if (written > 0 && (size_t)written < sizeof path && is_program(path)) {
            return 1;
        }
        at += length + (at[length] == ':');
    }
    return 0;
}

int32_t check_wrap(
    const char *const *words, const char *text, struct error *err)
{
    FAIL_IF(words[0] == NULL, err, NVBW_E_INVALID,
        "--wrap \"%.80s\" names no program", text);
    if (strchr(words[0], '/') != NULL) {
        FAIL_IF(!is_program(words[0]), err, NVBW_E_INVALID,
            "--wrap: \"%.200s\" is no program", words[0]);
        return NVBW_OK;
    }
    FAIL_IF(!is_in_path(words[0]), err, NVBW_E_INVALID,
        "--wrap: there is no program \"%.200s\" in PATH", words[0]);
    return NVBW_OK;
}
