/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "needed.h"
#include "plugin_file.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 4096,
    CACHE_HEADER_BYTES = 48,
    CACHE_ENTRY_BYTES = 24,
    OLD_HEADER_BYTES = 16, /* magic, a pad and the number of entries */
    OLD_ENTRY_BYTES = 12,
};

#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define OLD_MAGIC   "ld.so-1.7.0"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif

const char *const needed_default_folders[] = {
    "/lib/" MULTIARCH,
    "/usr/lib/" MULTIARCH,
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    NULL,
};

/* What is known of a library after looking somewhere. */
enum found { FOUND_NO = 0, FOUND_YES, FOUND_UNSURE };

static uint32_t u32_at(const unsigned char *bytes)
{
    uint32_t value = 0;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* A text inside the bytes, or NULL. */
static const char *text_at(
    const unsigned char *bytes, size_t length, uint32_t offset)
{
    if (offset >= length ||
        memchr(bytes + offset, '\0', length - offset) == NULL) {
        return NULL;
    }
    return (const char *)bytes + offset;
}

/* The table of the present format; some systems put one of an old format
 * before it. Offsets in the table count from its own magic. */
static const unsigned char *find_table(
    const unsigned char *cache, size_t cache_bytes, size_t *out_bytes)
{
    size_t at = 0;
    if (cache_bytes >= OLD_HEADER_BYTES &&
        memcmp(cache, OLD_MAGIC, strlen(OLD_MAGIC)) == 0) {
        const uint64_t entries = u32_at(cache + OLD_HEADER_BYTES - 4);
        const uint64_t end = OLD_HEADER_BYTES + entries * OLD_ENTRY_BYTES;
        at = (size_t)((end + 7) / 8 * 8);
    }
    if (at > cache_bytes || cache_bytes - at < CACHE_HEADER_BYTES ||
        memcmp(cache + at, CACHE_MAGIC, strlen(CACHE_MAGIC)) != 0) {
        return NULL;
    }
    *out_bytes = cache_bytes - at;
    return cache + at;
}

const char *needed_in_cache(const unsigned char *cache, size_t cache_bytes,
    const char *name, uint32_t *position)
{
    size_t length = 0;
    const unsigned char *table =
        cache == NULL ? NULL : find_table(cache, cache_bytes, &length);
    if (table == NULL) {
        return NULL;
    }
    const uint32_t count = u32_at(table + strlen(CACHE_MAGIC));
    const uint64_t room = (length - CACHE_HEADER_BYTES) / CACHE_ENTRY_BYTES;
    while (*position < count && *position < room) {
        const unsigned char *entry =
            table + CACHE_HEADER_BYTES + *position * (size_t)CACHE_ENTRY_BYTES;
        const char *key = text_at(table, length, u32_at(entry + 4));
        const char *file = text_at(table, length, u32_at(entry + 8));
        (*position)++;
        if (key != NULL && file != NULL && strcmp(key, name) == 0) {
            return file;
        }
    }
    return NULL;
}

/* The loader passes over libraries of other machines, and so do we. */
static enum found look_at(const char *file)
{
    unsigned char head[sizeof(Elf64_Ehdr)];
    const int64_t got = file_head_read(file, head, sizeof head);
    return got >= 0 && elf_is_loadable(head, (size_t)got) ? FOUND_YES
                                                          : FOUND_NO;
}

static enum found look_in(
    const char *folder, size_t folder_length, const char *name)
{
    char file[PATH_BYTES];
    const int length = snprintf(
        file, sizeof file, "%.*s/%s", (int)folder_length, folder, name);
    if (length < 0 || (size_t)length >= sizeof file) {
        return FOUND_UNSURE;
    }
    return look_at(file);
}

/* One entry of a search path, $ORIGIN replaced. Other tokens ($LIB,
 * $PLATFORM) have values that only the loader knows. */
static enum found look_in_entry(
    const char *entry, size_t length, const char *origin, const char *name)
{
    static const char *const tokens[] = { "$ORIGIN", "${ORIGIN}" };
    char folder[PATH_BYTES];

    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        const size_t token = strlen(tokens[i]);
        if (length < token || memcmp(entry, tokens[i], token) != 0) {
            continue;
        }
        const int written = snprintf(folder, sizeof folder, "%s%.*s", origin,
            (int)(length - token), entry + token);
        if (written < 0 || (size_t)written >= sizeof folder ||
            strchr(folder + strlen(origin), '$') != NULL) {
            return FOUND_UNSURE;
        }
        return look_in(folder, (size_t)written, name);
    }
    if (memchr(entry, '$', length) != NULL) {
        return FOUND_UNSURE;
    }
    /* An empty entry is the current folder, of which nothing is said. */
    return length == 0 ? FOUND_NO : look_in(entry, length, name);
}

static enum found look_along(const char *path, const char *separators,
    const char *origin, const char *name)
{
    if (path == NULL) {
        return FOUND_NO;
    }
    enum found seen = FOUND_NO;
    for (const char *entry = path;; entry++) {
        const size_t length = strcspn(entry, separators);
        const enum found here = length < PATH_BYTES
                                    ? look_in_entry(entry, length, origin, name)
                                    : FOUND_UNSURE;
        if (here == FOUND_YES) {
            return FOUND_YES;
        }
        seen = here == FOUND_UNSURE ? FOUND_UNSURE : seen;
        entry += length;
        if (*entry == '\0') {
            return seen;
        }
    }
}

static enum found look_in_cache(
    const struct needed_places *places, const char *name)
{
    uint32_t position = 0;
    for (;;) {
        const char *file = needed_in_cache(
            places->cache, places->cache_bytes, name, &position);
        if (file == NULL) {
            return FOUND_NO;
        }
        if (look_at(file) == FOUND_YES) {
            return FOUND_YES;
        }
    }
}

static enum found look_in_defaults(
    const struct needed_places *places, const char *name)
{
    for (const char *const *folder = places->folders; *folder != NULL;
         folder++) {
        if (look_in(*folder, strlen(*folder), name) == FOUND_YES) {
            return FOUND_YES;
        }
    }
    return FOUND_NO;
}

static enum found look_everywhere(const struct elf_report *report,
    const char *origin, const struct needed_places *places, const char *name)
{
    if (strchr(name, '/') != NULL) {
        return strchr(name, '$') != NULL ? FOUND_UNSURE : look_at(name);
    }
    const enum found paths[] = {
        look_along(report->rpath, ":", origin, name),
        look_along(places->library_path, ":;", origin, name),
        look_along(report->runpath, ":", origin, name),
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i] != FOUND_NO) {
            return paths[i];
        }
    }
    const enum found cached = look_in_cache(places, name);
    return cached != FOUND_NO ? cached : look_in_defaults(places, name);
}

const char *needed_missing(const struct elf_report *report, const char *folder,
    const struct needed_places *places)
{
    for (uint32_t i = 0; i < report->needed_count; i++) {
        if (look_everywhere(report, folder, places, report->needed[i]) ==
            FOUND_NO) {
            return report->needed[i];
        }
    }
    return NULL;
}
