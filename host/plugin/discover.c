/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "discover.h"
#include "elf_check.h"
#include "needed.h"
#include "plugin_file.h"
#include "state.h"
#include "trust.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX      ".so"
#define CACHE_FILE  "/etc/ld.so.cache"
#define MPI_PATTERN "libmpi*.so*"

enum {
    FOLDER_FILES_LIMIT = 1024, /* plugins of one folder */
    CACHE_LIMIT = 64 << 20
};

/* What holds for all files of one call. */
struct search {
    const struct discover_request *request;
    struct arena *arena;
    struct trust_users users;
    struct needed_places places;
    struct file_bytes cache;
};

static void search_open(struct search *search,
    const struct discover_request *request, struct arena *arena)
{
    *search = (struct search){
        .request = request,
        .arena = arena,
        .users = trust_users_here(request->host_file),
        .places = { .library_path = secure_getenv("LD_LIBRARY_PATH"),
            .folders = needed_default_folders },
    };
    /* A system without the cache is told by its default folders alone. */
    (void)file_bytes_read(CACHE_FILE, CACHE_LIMIT, &search->cache, NULL);
    search->places.cache = search->cache.bytes;
    search->places.cache_bytes = search->cache.length;
}

static void search_close(struct search *search)
{
    file_bytes_free(&search->cache);
}

/* ---- One file ----------------------------------------------------------- */

static int32_t set_message(struct search *search, struct candidate *candidate,
    uint32_t state, const char *reason, const char *message, struct error *err)
{
    candidate->state = state;
    candidate->reason = reason;
    candidate->message = arena_format(
        search->arena, "plugin file %s %s", candidate->file, message);
    FAIL_IF(candidate->message == NULL, err, NVBW_E_SYSTEM,
        "no memory for plugin file %s", candidate->file);
    return NVBW_OK;
}

static int32_t refuse(struct search *search, struct candidate *candidate,
    const struct error *why, struct error *err)
{
    const char *const rule =
        strstr(why->text, "(rule ") == NULL ? " (rule C23)" : "";

    return set_message(search, candidate, STATE_ERROR, "refused",
        arena_format(search->arena, "%s%s", why->text, rule), err);
}

static char *stem_of(struct arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    size_t length = strlen(name);
    if (length > strlen(SUFFIX) &&
        strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0) {
        length -= strlen(SUFFIX);
    }
    return arena_text_n(arena, name, length);
}

/* Fills given, file and stem. Where there is no real path, as for a dangling
 * link, file is the path as found; reading it will say what is wrong. */
static int32_t name_candidate(struct search *search, const char *given,
    struct candidate *out, struct error *err)
{
    char *real = realpath(given, NULL);
    out->given = arena_text(search->arena, given);
    out->file = arena_text(search->arena, real == NULL ? given : real);
    out->stem = stem_of(search->arena, given);
    free(real);
    FAIL_IF(out->given == NULL || out->file == NULL || out->stem == NULL, err,
        NVBW_E_SYSTEM, "no memory for plugin file %s", given);
    return NVBW_OK;
}

static int32_t examine_trust(
    struct search *search, struct candidate *candidate, struct error *err)
{
    struct error why = { 0 };
    const char *real = candidate->file;
    candidate->trusted =
        *real == '/' && trust_check(real, &search->users, &why) == NVBW_OK;
    if (candidate->trusted || search->request->trust_all) {
        return NVBW_OK;
    }
    return set_message(search, candidate, STATE_ERROR, "refused",
        arena_format(search->arena, "is not trusted: %s", why.text), err);
}

static int32_t examine_needed(struct search *search,
    struct candidate *candidate, const struct elf_report *report,
    struct error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(candidate->file, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - candidate->file);
    FAIL_IF(length >= sizeof folder, err, NVBW_E_INVALID,
        "the path of plugin file %s is too long", candidate->file);
    memcpy(folder, candidate->file, length);
    folder[length] = '\0';

    const char *missing = needed_missing(report, folder, &search->places);
    if (missing == NULL) {
        return NVBW_OK;
    }
    const int is_mpi = fnmatch(MPI_PATTERN, missing, 0) == 0;
    return set_message(search, candidate, STATE_SKIP,
        is_mpi ? "no_mpi" : "missing_library",
        arena_format(search->arena,
            "needs the library %s, which is not installed: %s", missing,
            is_mpi ? "install the MPI that it was built with"
                   : "install it or set LD_LIBRARY_PATH"),
        err);
}

static int32_t examine_bytes(struct search *search, struct candidate *candidate,
    const struct file_bytes *bytes, struct error *err)
{
    struct error why = { 0 };
    struct elf_report report;
    char sum[PLUGIN_FILE_SHA256_BYTES];
    file_bytes_sha256(bytes, sum);
    candidate->sha256 = arena_text(search->arena, sum);
    FAIL_IF(candidate->sha256 == NULL, err, NVBW_E_SYSTEM,
        "no memory for plugin file %s", candidate->file);
    if (elf_check(bytes->bytes, bytes->length, &report, &why) < 0) {
        return refuse(search, candidate, &why, err);
    }
    return examine_needed(search, candidate, &report, err);
}

/* Trust comes first: of a file that anyone may have put there not even the
 * bytes matter. */
static int32_t examine(
    struct search *search, struct candidate *candidate, struct error *err)
{
    struct error why = { 0 };
    struct file_bytes bytes;
    if (file_bytes_read(candidate->file, PLUGIN_FILE_LIMIT, &bytes, &why) < 0) {
        return refuse(search, candidate, &why, err);
    }
    int32_t status = examine_trust(search, candidate, err);
    if (status == NVBW_OK && candidate->state == STATE_NONE) {
        status = examine_bytes(search, candidate, &bytes, err);
    }
    file_bytes_free(&bytes);
    return status;
}

int32_t discover_file(const struct discover_request *request, const char *file,
    struct arena *arena, struct candidate *out, struct error *err)
{
    struct search search;
    *out = (struct candidate){ .file = NULL };
    search_open(&search, request, arena);
    int32_t status = name_candidate(&search, file, out, err);
    if (status == NVBW_OK) {
        status = examine(&search, out, err);
    }
    search_close(&search);
    return status;
}

/* ---- A folder ----------------------------------------------------------- */

static int is_plugin_name(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
           strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* By bytes, whatever the locale, so that every machine has one order. */
static int by_name(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

/* 1 if the candidate is to be left out: the same file under another name, or
 * a name that an earlier source has already. */
static int is_taken(const struct candidates *found,
    const struct candidate *candidate, struct problems *problems)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct candidate *earlier = &found->list[i];
        if (strcmp(earlier->file, candidate->file) == 0) {
            return 1;
        }
        if (strcmp(earlier->stem, candidate->stem) == 0) {
            problem_add(problems, (struct origin){ NULL, 0 }, 1,
                "plugin %s is in two folders: %s is used, %s is not; name "
                "one with file = in its suite",
                candidate->stem, earlier->given, candidate->given);
            return 1;
        }
    }
    return 0;
}

static int32_t add_file(struct search *search, uint32_t source,
    const char *name, struct candidates *out, struct problems *problems,
    struct error *err)
{
    const struct plugin_source *from = &search->request->sources[source];
    struct candidate candidate = {
        .source = source,
        .installed = from->installed,
    };
    const char *given =
        arena_format(search->arena, "%s/%s", from->folder, name);
    FAIL_IF(given == NULL, err, NVBW_E_SYSTEM,
        "no memory for the plugins of folder %s", from->folder);
    TRY(name_candidate(search, given, &candidate, err));
    if (is_taken(out, &candidate, problems)) {
        return NVBW_OK;
    }
    TRY(examine(search, &candidate, err));
    struct candidate *list = arena_append(
        search->arena, out->list, &out->count, sizeof out->list[0]);
    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM,
        "no memory for the plugins of folder %s", from->folder);
    out->list = list;
    out->list[out->count - 1] = candidate;
    return NVBW_OK;
}

/* An absent folder is no more than a warning if nobody named it. */
static void report_folder(
    const struct plugin_source *source, int code, struct problems *problems)
{
    problem_add(problems, (struct origin){ NULL, 0 }, source->installed ? 1 : 0,
        "plugin folder %s cannot be read: %s", source->folder, strerror(code));
}

static int32_t add_folder(struct search *search, uint32_t source,
    struct candidates *out, struct problems *problems, struct error *err)
{
    const struct plugin_source *from = &search->request->sources[source];
    struct dirent **entries = NULL;
    const int count = scandir(from->folder, &entries, is_plugin_name, by_name);
    if (count < 0) {
        report_folder(from, errno, problems);
        return NVBW_OK;
    }
    int32_t status = NVBW_OK;
    if (count > FOLDER_FILES_LIMIT) {
        problem_add(problems, (struct origin){ NULL, 0 }, 0,
            "plugin folder %s holds %d plugins, at most %d are read",
            from->folder, count, FOLDER_FILES_LIMIT);
    }
    for (int i = 0; i < count; i++) {
        if (status == NVBW_OK && i < FOLDER_FILES_LIMIT) {
            status = add_file(
                search, source, entries[i]->d_name, out, problems, err);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

int32_t discover_plugins(const struct discover_request *request,
    struct arena *arena, struct candidates *out, struct problems *problems,
    struct error *err)
{
    struct search search;
    int32_t status = NVBW_OK;
    *out = (struct candidates){ .list = NULL };
    search_open(&search, request, arena);
    for (uint32_t i = 0; i < request->sources_count && status == NVBW_OK; i++) {
        status = add_folder(&search, i, out, problems, err);
    }
    search_close(&search);
    return status;
}
