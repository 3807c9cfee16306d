/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "trust.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEDY "or use --trust-plugins if that is meant (rule C23)"

static int is_trusted_owner(uint32_t owner, const struct trust_users *users)
{
    return owner == 0 || owner == users->user || owner == users->sudo_user ||
           owner == users->host_owner;
}

int32_t trust_judge(const struct trust_object *object,
    const struct trust_users *users, struct error *err)
{
    const char *what = object->is_folder ? "folder" : "file";
    FAIL_IF(!is_trusted_owner(object->owner, users), err, NVBW_E_INVALID,
        "%s %s belongs to user %u, who is neither root nor you: chown "
        "it, " REMEDY,
        what, object->path, object->owner);

    /* In a sticky folder only the owner of a file can replace it. */
    if (object->is_folder && (object->mode & S_ISVTX) != 0) {
        return NVBW_OK;
    }
    FAIL_IF((object->mode & S_IWOTH) != 0, err, NVBW_E_INVALID,
        "%s %s is writable by everyone (mode %04o): chmod o-w it, " REMEDY,
        what, object->path, object->mode & 07777);
    FAIL_IF((object->mode & S_IWGRP) != 0 && !object->private_group, err,
        NVBW_E_INVALID,
        "%s %s is writable by group %u (mode %04o): chmod g-w it, " REMEDY,
        what, object->path, object->group, object->mode & 07777);
    return NVBW_OK;
}

/* A group is private if it is its user's first one, bears the user's name and
 * has no other member. */
static int is_private_group(uid_t owner, gid_t group)
{
    const struct passwd *user = getpwuid(owner);
    if (user == NULL || user->pw_gid != group) {
        return 0;
    }
    char name[256];
    const size_t length = strlen(user->pw_name);
    if (length >= sizeof name) {
        return 0;
    }
    memcpy(name, user->pw_name, length + 1);

    const struct group *entry = getgrgid(group);
    if (entry == NULL || strcmp(entry->gr_name, name) != 0) {
        return 0;
    }
    for (char **member = entry->gr_mem; *member != NULL; member++) {
        if (strcmp(*member, name) != 0) {
            return 0;
        }
    }
    return 1;
}

static int64_t owner_of(const char *file)
{
    struct stat info;
    if (file == NULL || stat(file, &info) < 0) {
        return -1;
    }
    return info.st_uid;
}

static int64_t user_behind_sudo(void)
{
    const char *text = secure_getenv("SUDO_UID");
    if (geteuid() != 0 || text == NULL || *text < '0' || *text > '9') {
        return -1;
    }
    char *end = NULL;
    const unsigned long user = strtoul(text, &end, 10);
    return *end == '\0' && user < UINT32_MAX ? (int64_t)user : -1;
}

struct trust_users trust_users_here(const char *host_file)
{
    return (struct trust_users){
        .user = geteuid(),
        .sudo_user = user_behind_sudo(),
        .host_owner = owner_of(host_file),
    };
}

static int32_t judge_path(const char *path, int is_folder,
    const struct trust_users *users, struct error *err)
{
    struct stat info;
    if (lstat(path, &info) < 0) {
        return error_system(err, "%s cannot be examined", path);
    }
    const struct trust_object object = {
        .path = path,
        .is_folder = is_folder ? 1 : 0,
        .mode = info.st_mode,
        .owner = info.st_uid,
        .group = info.st_gid,
        .private_group = (info.st_mode & S_IWGRP) != 0 &&
                         is_private_group(info.st_uid, info.st_gid),
    };
    return trust_judge(&object, users, err);
}

int32_t trust_check(
    const char *real_path, const struct trust_users *users, struct error *err)
{
    char path[PATH_MAX];
    const size_t length = strlen(real_path);
    FAIL_IF(*real_path != '/' || length >= sizeof path, err, NVBW_E_INVALID,
        "%.200s is not the real path of a file", real_path);
    memcpy(path, real_path, length + 1);

    TRY(judge_path(path, 0, users, err));
    for (char *slash = strrchr(path, '/'); slash != path;
         slash = strrchr(path, '/')) {
        *slash = '\0';
        TRY(judge_path(path, 1, users, err));
    }
    return judge_path("/", 1, users, err);
}
