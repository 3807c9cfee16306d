/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "run_dir.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SAME_SECOND_LIMIT = 99 };

/* ---- the name ---- */

static void add_host(struct strbuf *out)
{
    char host[256] = "host";

    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') {
        strbuf_add(out, "host");
        return;
    }
    for (const char *c = host; *c != '\0'; c++) {
        const int is_plain =
            isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;

        strbuf_add_n(out, is_plain ? c : "_", 1);
    }
}

static void add_time(struct strbuf *out)
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[32] = "";

    if (gmtime_r(&now, &parts) != NULL) {
        strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
    }
    strbuf_add(out, text);
}

static int32_t expand(
    const char *pattern, struct strbuf *out, struct error *err)
{
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%') {
            strbuf_add_n(out, at, 1);
            continue;
        }
        at++;
        switch (*at) {
        case 'h':
            add_host(out);
            break;
        case 't':
            add_time(out);
            break;
        case '%':
            strbuf_add(out, "%");
            break;
        default:
            return error_set(err, NVBW_E_INVALID,
                "run directory \"%s\": after %% there may be h (host), t "
                "(time) or %%",
                pattern);
        }
    }
    FAIL_IF(out->failed || out->length == 0, err, NVBW_E_INVALID,
        "run directory \"%s\": the name is empty or longer than %zu bytes",
        pattern, out->limit);
    return NVBW_OK;
}

/* ---- folders ---- */

static int32_t make_folder(const char *path, struct error *err)
{
    struct stat stat_now;

    if (mkdir(path, 0755) == 0) {
        return NVBW_OK;
    }
    if (errno != EEXIST) {
        return error_system(err, "making the folder %s", path);
    }
    FAIL_IF(stat(path, &stat_now) != 0 || !S_ISDIR(stat_now.st_mode), err,
        NVBW_E_SYSTEM, "%s is there and is not a folder", path);
    return NVBW_OK;
}

static int32_t make_folders(const char *path, struct error *err)
{
    char part[sizeof((struct run_dir *)NULL)->path];

    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TRY(make_folder(part, err));
        *slash = '/';
    }
    return make_folder(part, err);
}

static int32_t join(char *out, size_t size, const char *folder,
    const char *name, struct error *err)
{
    const int length = snprintf(out, size, "%s/%s", folder, name);

    FAIL_IF(length < 0 || (size_t)length >= size, err, NVBW_E_INVALID,
        "the name %s/%s is too long", folder, name);
    return NVBW_OK;
}

static int holds_run(const char *path)
{
    char journal[5000];
    struct stat stat_now;

    return join(journal, sizeof journal, path, "journal.ndjson", NULL) >= 0 &&
           lstat(journal, &stat_now) == 0;
}

/* ---- the lock ---- */

/* The lock belongs to the open file, so it ends with the process however that
 * ends, and no stale lock is ever left. */
static int32_t lock(struct run_dir *dir, struct error *err)
{
    char name[5000];

    TRY(join(name, sizeof name, dir->path, "lock", err));
    dir->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (dir->lock_fd < 0) {
        return error_system(err, "opening %s", name);
    }
    if (flock(dir->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        return NVBW_OK;
    }

    const int code = errno;

    close(dir->lock_fd);
    dir->lock_fd = -1;
    FAIL_IF(code == EWOULDBLOCK, err, NVBW_E_SYSTEM,
        "%s is in use by another nvbw-host", dir->path);
    errno = code;
    return error_system(err, "locking %s", name);
}

/* ---- shared ---- */

static int32_t set_path(
    struct run_dir *dir, const char *path, struct error *err)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    *dir = (struct run_dir){ .lock_fd = -1 };
    FAIL_IF(length == 0 || length >= sizeof dir->path - 64, err, NVBW_E_INVALID,
        "the name of the run directory is %s",
        length == 0 ? "empty" : "too long");
    memcpy(dir->path, path, length);
    return NVBW_OK;
}

static int32_t make_inside(const struct run_dir *dir, struct error *err)
{
    static const char *const names[] = { "plan", "workers" };
    char name[5000];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        TRY(join(name, sizeof name, dir->path, names[i], err));
        TRY(make_folder(name, err));
    }
    return NVBW_OK;
}

static int32_t create_at(
    const char *path, struct run_dir *out, struct error *err)
{
    TRY(set_path(out, path, err));
    TRY(make_folders(out->path, err));
    TRY(lock(out, err));

    const int32_t status =
        holds_run(out->path)
            ? error_set(err, NVBW_E_INVALID,
                  "%s holds a run already; `nvbw-host resume` goes on with it",
                  out->path)
            : make_inside(out, err);

    if (status < 0) {
        run_dir_close(out);
    }
    return status;
}

/* Two runs may begin within one second: where the name was to tell them apart
 * by the time, a number does. */
static int32_t create_free(const char *pattern, const struct strbuf *name,
    struct run_dir *out, struct error *err)
{
    char numbered[4096];
    int32_t status = NVBW_OK;

    if (strstr(pattern, "%t") == NULL || !holds_run(name->text)) {
        return create_at(name->text, out, err);
    }
    for (int number = 2; number <= SAME_SECOND_LIMIT; number++) {
        snprintf(numbered, sizeof numbered, "%s-%d", name->text, number);
        if (!holds_run(numbered)) {
            break;
        }
    }
    status = create_at(numbered, out, err);
    return status;
}

int32_t run_dir_create(
    const char *pattern, struct run_dir *out, struct error *err)
{
    struct strbuf name;

    *out = (struct run_dir){ .lock_fd = -1 };
    strbuf_init(&name, sizeof out->path - 64);

    int32_t status = expand(pattern, &name, err);

    if (status >= 0) {
        status = create_free(pattern, &name, out, err);
    }
    strbuf_free(&name);
    return status;
}

int32_t run_dir_open(const char *path, struct run_dir *out, struct error *err)
{
    TRY(set_path(out, path, err));
    FAIL_IF(!holds_run(out->path), err, NVBW_E_INVALID,
        "%s holds no run: there is no journal.ndjson in it", out->path);
    return lock(out, err);
}

int32_t run_dir_reopen(const struct run_dir *dir, struct error *err)
{
    char name[5000];

    TRY(join(name, sizeof name, dir->path, "summary.ndjson", err));
    if (unlink(name) != 0) {
        return errno == ENOENT ? NVBW_OK
                               : error_system(err, "removing %s", name);
    }

    const int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    return NVBW_OK;
}

void run_dir_close(struct run_dir *dir)
{
    if (dir->lock_fd >= 0) {
        close(dir->lock_fd);
    }
    dir->lock_fd = -1;
}
