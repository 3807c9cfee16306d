/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* manifest.sha256 of a run directory, in the form of sha256sum, so that
 * `sha256sum -c manifest.sha256` checks it too. */
#include "regular_file.h"
#include "run_dir.h"

#include <sys/types.h>

#include <errno.h>
#include <fts.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEX_LENGTH = 64, MANIFEST_LIMIT = 64 << 20, FILES_LIMIT = 100000 };
static const char MANIFEST_NAME[] = "manifest.sha256";

struct entry {
    const char *name; /* below the run directory */
    char sha256[HEX_LENGTH + 1];
    uint32_t seen;
};

struct entries {
    struct arena *arena;
    struct entry *list;
    uint32_t count;
};

static int compare(const void *one, const void *other)
{
    return strcmp(
        ((const struct entry *)one)->name, ((const struct entry *)other)->name);
}

static int32_t add_entry(struct entries *entries, const char *name,
    const char *sha256, struct error *err)
{
    struct entry *const list = entries->count >= FILES_LIMIT
                                   ? NULL
                                   : arena_append(entries->arena, entries->list,
                                         &entries->count, sizeof *list);
    char *const copy = arena_text(entries->arena, name);

    FAIL_IF(list == NULL || copy == NULL, err, NVBW_E_SYSTEM,
        "a run directory with more than %d files", FILES_LIMIT);
    entries->list = list;
    list[entries->count - 1].name = copy;
    memcpy(list[entries->count - 1].sha256, sha256, HEX_LENGTH);
    return NVBW_OK;
}

/* ---- sums of what is there ---- */

static int is_counted(const char *name)
{
    return strcmp(name, MANIFEST_NAME) != 0 && strcmp(name, "lock") != 0;
}

static int32_t add_file(struct entries *entries, const FTSENT *file,
    const char *name, struct error *err)
{
    char hex[HEX_LENGTH + 1] = "";

    FAIL_IF(strchr(name, '\n') != NULL || strchr(name, '\\') != NULL, err,
        NVBW_E_INVALID,
        "a file in the run directory has a line feed or a backslash in its "
        "name");
    if (SHA256File(file->fts_accpath, hex) == NULL) {
        return error_system(err, "reading %s", file->fts_path);
    }
    return add_entry(entries, name, hex, err);
}

static int32_t walk(
    FTS *tree, size_t root_length, struct entries *out, struct error *err)
{
    for (const FTSENT *file = fts_read(tree); file != NULL;
         file = fts_read(tree)) {
        if (file->fts_info == FTS_F &&
            is_counted(file->fts_path + root_length + 1)) {
            TRY(add_file(out, file, file->fts_path + root_length + 1, err));
        } else if (file->fts_info == FTS_ERR || file->fts_info == FTS_DNR ||
                   file->fts_info == FTS_NS) {
            errno = file->fts_errno;
            return error_system(err, "reading %s", file->fts_path);
        }
    }
    return NVBW_OK;
}

/* Symbolic links are neither followed nor counted: a run directory holds
 * none. */
static int32_t sum_files(
    const char *path, struct entries *out, struct error *err)
{
    char *const root = strdup(path);
    char *const roots[] = { root, NULL };
    FTS *const tree =
        root == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int32_t status = NVBW_OK;

    if (tree == NULL) {
        status = error_system(err, "reading %s", path);
    } else {
        status = walk(tree, strlen(path), out, err);
        fts_close(tree);
    }
    free(root);
    if (out->count > 0) {
        qsort(out->list, out->count, sizeof *out->list, compare);
    }
    return status;
}

int32_t run_dir_seal(const struct run_dir *dir, struct error *err)
{
    struct arena arena;
    struct entries entries = { .arena = &arena };
    struct strbuf text;
    char file[sizeof dir->path + 32];

    snprintf(file, sizeof file, "%s/%s", dir->path, MANIFEST_NAME);
    arena_init(&arena, MANIFEST_LIMIT);
    strbuf_init(&text, MANIFEST_LIMIT);

    int32_t status = sum_files(dir->path, &entries, err);

    for (uint32_t i = 0; i < entries.count; i++) {
        strbuf_format(
            &text, "%s  %s\n", entries.list[i].sha256, entries.list[i].name);
    }
    if (status >= 0 && text.failed) {
        status = error_set(err, NVBW_E_SYSTEM, "%s is too large", file);
    }
    if (status >= 0) {
        status = file_write_atomic(file, text.text, text.length, err);
    }
    strbuf_free(&text);
    arena_clear(&arena);
    return status;
}

/* ---- comparing ---- */

static int is_hex(const char *text)
{
    return strspn(text, "0123456789abcdef") >= HEX_LENGTH;
}

static int32_t read_manifest(
    const char *file, struct entries *out, struct error *err)
{
    FILE *stream = NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    int32_t status = NVBW_OK;

    TRY(regular_file_open(file, &stream, err));
    while (status >= 0 && (length = getline(&line, &capacity, stream)) > 0) {
        if (line[length - 1] == '\n') {
            line[--length] = '\0';
        }
        if (length < HEX_LENGTH + 3 || !is_hex(line) ||
            line[HEX_LENGTH] != ' ') {
            status = error_set(err, NVBW_E_INVALID,
                "%s:%u: not a line of sha256sum", file, out->count + 1);
        } else {
            status = add_entry(out, line + HEX_LENGTH + 2, line, err);
        }
    }
    free(line);
    fclose(stream);
    if (out->count > 0) {
        qsort(out->list, out->count, sizeof *out->list, compare);
    }
    return status;
}

static struct entry *find(const struct entries *entries, const char *name)
{
    const struct entry key = { .name = name };

    return entries->count == 0 ? NULL
                               : bsearch(&key, entries->list, entries->count,
                                     sizeof key, compare);
}

static int32_t add_bad(struct arena *arena, const char ***list, uint32_t *count,
    const char *name, const char *why, struct error *err)
{
    const char **const grown = arena_append(arena, *list, count, sizeof *grown);
    char *const text = arena_format(arena, "%s: %s", name, why);

    FAIL_IF(grown == NULL || text == NULL, err, NVBW_E_SYSTEM,
        "no memory for the list of wrong files");
    grown[*count - 1] = text;
    *list = grown;
    return NVBW_OK;
}

static int32_t compare_all(const struct entries *wanted,
    const struct entries *there, struct arena *arena, const char ***out_bad,
    uint32_t *out_count, struct error *err)
{
    for (uint32_t i = 0; i < there->count; i++) {
        struct entry *const entry = find(wanted, there->list[i].name);
        const char *const why =
            entry == NULL ? "not in the manifest"
            : strcmp(entry->sha256, there->list[i].sha256) != 0
                ? "changed since the run"
                : NULL;

        if (entry != NULL) {
            entry->seen = 1;
        }
        if (why != NULL) {
            TRY(add_bad(
                arena, out_bad, out_count, there->list[i].name, why, err));
        }
    }
    for (uint32_t i = 0; i < wanted->count; i++) {
        if (!wanted->list[i].seen) {
            TRY(add_bad(arena, out_bad, out_count, wanted->list[i].name,
                "missing", err));
        }
    }
    return NVBW_OK;
}

int32_t run_dir_verify(const char *path, struct arena *arena,
    const char ***out_bad, uint32_t *out_count, struct error *err)
{
    struct arena scratch;
    struct entries wanted = { .arena = &scratch };
    struct entries there = { .arena = &scratch };
    char file[5000];
    int32_t status = NVBW_OK;

    *out_bad = NULL;
    *out_count = 0;
    FAIL_IF(snprintf(file, sizeof file, "%s/%s", path, MANIFEST_NAME) >=
                (int)sizeof file,
        err, NVBW_E_INVALID, "the name of the run directory is too long");
    arena_init(&scratch, 2 * (size_t)MANIFEST_LIMIT);
    status = read_manifest(file, &wanted, err);
    if (status >= 0) {
        status = sum_files(path, &there, err);
    }
    if (status >= 0) {
        status = compare_all(&wanted, &there, arena, out_bad, out_count, err);
    }
    arena_clear(&scratch);
    return status;
}
