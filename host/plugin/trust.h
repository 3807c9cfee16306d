/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether a plugin file may be loaded, by who could have changed it (rule
 * C23): nobody but root, the user, the user behind sudo, and the owner of the
 * nvbw-host binary may be able to write the file or to replace it. */
#ifndef NVBW_TRUST_H
#define NVBW_TRUST_H

#include "status.h"

/* One thing on the path to the file: the file itself, or a folder above. */
struct trust_object {
    const char *path;
    uint32_t is_folder;
    uint32_t mode;          /* as st_mode */
    uint32_t owner, group;  /* user and group numbers */
    uint32_t private_group; /* 1: the group is the owner's own */
};

/* Whose files are trusted besides root's. -1: there is no such user. */
struct trust_users {
    int64_t user;
    int64_t sudo_user;  /* SUDO_UID, where the user is root */
    int64_t host_owner; /* of the nvbw-host binary */
};

/* The rule for one object. Pure. NVBW_E_INVALID with who could change it and
 * what to do about it. */
int32_t trust_judge(const struct trust_object *object,
    const struct trust_users *users, struct error *err);

/* The users of this process; host_file may be NULL. */
struct trust_users trust_users_here(const char *host_file);

/* The rule for a file, which must be a real path, and for each folder above
 * it. */
int32_t trust_check(
    const char *real_path, const struct trust_users *users, struct error *err);

#endif
