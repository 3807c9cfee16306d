/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The search for libraries, over an ld.so.cache made here and a folder of the
 * build that holds one library. */
#include "needed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAGIC "glibc-ld.so.cache1.1"

enum { HEADER = 48, ENTRY = 24, CACHE_BYTES = 4096 };

static const char *const no_folders[] = { NULL };

/* A cache of one entry: name -> file. */
static size_t make_cache(
    unsigned char *cache, const char *name, const char *file)
{
    const uint32_t count = 1;
    const uint32_t key = HEADER + ENTRY;
    const uint32_t value = key + (uint32_t)strlen(name) + 1;
    memset(cache, 0, CACHE_BYTES);
    memcpy(cache, MAGIC, strlen(MAGIC));
    memcpy(cache + strlen(MAGIC), &count, sizeof count);
    memcpy(cache + HEADER + 4, &key, sizeof key);
    memcpy(cache + HEADER + 8, &value, sizeof value);
    memcpy(cache + key, name, strlen(name) + 1);
    memcpy(cache + value, file, strlen(file) + 1);
    return value + strlen(file) + 1;
}

static void the_cache_is_read(void **state)
{
    (void)state;
    unsigned char cache[CACHE_BYTES];
    uint32_t position = 0;
    const size_t bytes = make_cache(cache, "libacme.so.1", "/opt/libacme.so.1");
    assert_string_equal(
        needed_in_cache(cache, bytes, "libacme.so.1", &position),
        "/opt/libacme.so.1");
    assert_null(needed_in_cache(cache, bytes, "libacme.so.1", &position));
    position = 0;
    assert_null(needed_in_cache(cache, bytes, "libacme.so", &position));
}

/* The table may stand behind one of the old format. */
static void the_cache_behind_an_old_one_is_read(void **state)
{
    (void)state;
    unsigned char cache[CACHE_BYTES];
    unsigned char both[2 * CACHE_BYTES] = "ld.so-1.7.0";
    const uint32_t entries = 1; /* 16 + 12 bytes, filled up to 32 */
    uint32_t position = 0;
    const size_t bytes = make_cache(cache, "libacme.so.1", "/opt/libacme.so.1");
    memcpy(both + 12, &entries, sizeof entries);
    memcpy(both + 32, cache, bytes);
    assert_non_null(
        needed_in_cache(both, 32 + bytes, "libacme.so.1", &position));
}

static void spoilt_caches_are_survived(void **state)
{
    (void)state;
    unsigned char cache[CACHE_BYTES];
    const size_t bytes = make_cache(cache, "libacme.so.1", "/opt/libacme.so.1");
    for (size_t length = 0; length < bytes; length++) {
        unsigned char *cut = malloc(length == 0 ? 1 : length);
        uint32_t position = 0;
        assert_non_null(cut);
        memcpy(cut, cache, length);
        assert_null(needed_in_cache(cut, length, "libacme.so.1", &position));
        free(cut);
    }
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char kept = cache[i];
        uint32_t position = 0;
        cache[i] = 0xff;
        (void)needed_in_cache(cache, bytes, "libacme.so.1", &position);
        cache[i] = kept;
    }
    uint32_t position = 0;
    assert_null(needed_in_cache(NULL, 0, "libacme.so.1", &position));
}

/* Which library is missing when the report's paths and the places are these. */
static const char *missing(const char *name, const char *rpath,
    const char *runpath, const char *library_path, const char *folder)
{
    const struct elf_report report = {
        .needed = { name },
        .needed_count = 1,
        .rpath = rpath,
        .runpath = runpath,
    };
    const struct needed_places places = {
        .library_path = library_path,
        .folders = no_folders,
    };
    return needed_missing(&report, folder, &places);
}

static void paths_are_searched(void **state)
{
    (void)state;
    const char *name = TEST_LIBRARY_NAME;
    assert_string_equal(missing(name, NULL, NULL, NULL, "/"), name);
    assert_null(missing(name, NULL, NULL, "/no:" TEST_FOLDER, "/"));
    assert_null(missing(name, NULL, NULL, "/no;" TEST_FOLDER, "/"));
    assert_null(missing(name, NULL, TEST_FOLDER, NULL, "/"));
    assert_null(missing(name, TEST_FOLDER, NULL, NULL, "/"));
    assert_non_null(missing(name, NULL, "/no:", ":/no", "/"));
}

static void the_origin_is_replaced(void **state)
{
    (void)state;
    const char *name = TEST_LIBRARY_NAME;
    assert_null(missing(name, NULL, "$ORIGIN", NULL, TEST_FOLDER));
    assert_null(missing(name, NULL, "/no:${ORIGIN}/.", NULL, TEST_FOLDER));
    assert_non_null(missing(name, NULL, "$ORIGIN/no", NULL, TEST_FOLDER));
}

/* What only the loader knows is left to it. */
static void what_is_unsure_counts_as_there(void **state)
{
    (void)state;
    assert_null(missing("libno.so", NULL, "/opt/$LIB", NULL, "/"));
    assert_null(missing("libno.so", NULL, "$ORIGIN/$PLATFORM", NULL, "/"));
    assert_null(missing("$LIB/libno.so", NULL, NULL, NULL, "/"));
}

static void names_with_a_slash_are_paths(void **state)
{
    (void)state;
    assert_null(
        missing(TEST_FOLDER "/" TEST_LIBRARY_NAME, NULL, NULL, NULL, "/"));
    assert_non_null(missing("/no/libno.so", NULL, TEST_FOLDER, NULL, "/"));
}

static void defaults_and_cache_come_last(void **state)
{
    (void)state;
    unsigned char cache[CACHE_BYTES];
    const struct elf_report report = {
        .needed = { TEST_LIBRARY_NAME },
        .needed_count = 1,
    };
    struct needed_places places = { .folders = no_folders, .cache = cache };
    places.cache_bytes =
        make_cache(cache, TEST_LIBRARY_NAME, TEST_FOLDER "/" TEST_LIBRARY_NAME);
    assert_null(needed_missing(&report, "/", &places));

    /* An entry whose file is gone, or is no library, is none. */
    places.cache_bytes = make_cache(cache, TEST_LIBRARY_NAME, "/etc/passwd");
    assert_non_null(needed_missing(&report, "/", &places));

    const char *const folders[] = { "/no", TEST_FOLDER, NULL };
    places.folders = folders;
    assert_null(needed_missing(&report, "/", &places));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_is_read),
        cmocka_unit_test(the_cache_behind_an_old_one_is_read),
        cmocka_unit_test(spoilt_caches_are_survived),
        cmocka_unit_test(paths_are_searched),
        cmocka_unit_test(the_origin_is_replaced),
        cmocka_unit_test(what_is_unsure_counts_as_there),
        cmocka_unit_test(names_with_a_slash_are_paths),
        cmocka_unit_test(defaults_and_cache_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
