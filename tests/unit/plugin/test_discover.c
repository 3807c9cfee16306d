/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rules C22 and C23 over a folder of good and odd files, and over bad plugins
 * of the build. Nothing is loaded. */
#include "discover.h"
#include "state.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* Two source folders, and what was found in them. */
struct place {
    char first[64], second[64];
    struct plugin_source sources[2];
    struct discover_request request;
    struct arena arena;
    struct problems problems;
    struct candidates found;
};

static void path_in(
    char *out, size_t size, const char *folder, const char *name)
{
    const int length = snprintf(out, size, "%s/%s", folder, name);
    assert_true(length > 0 && (size_t)length < size);
}

static void place_open(struct place *place)
{
    *place = (struct place){ .request = { .sources_count = 2 } };
    memcpy(place->first, "/tmp/nvbw-discover-XXXXXX", 26);
    memcpy(place->second, "/tmp/nvbw-discover-XXXXXX", 26);
    assert_non_null(mkdtemp(place->first));
    assert_non_null(mkdtemp(place->second));
    place->sources[0].folder = place->first;
    place->sources[1].folder = place->second;
    place->request.sources = place->sources;
    arena_init(&place->arena, 1 << 20);
    place->problems.arena = &place->arena;
}

static void empty_folder(const char *folder)
{
    static const char *const names[] = { "a.so", "b.so", "c.so", "d.so", "e.so",
        "f.so", "g.so", "h.txt", ".i.so" };
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_in(path, sizeof path, folder, names[i]);
        (void)remove(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void place_close(struct place *place)
{
    arena_clear(&place->arena);
    empty_folder(place->first);
    empty_folder(place->second);
}

static void copy_plugin(const char *folder, const char *name, mode_t mode)
{
    char path[128];
    unsigned char bytes[65536];
    path_in(path, sizeof path, folder, name);
    const int from = open(TEST_PLUGIN, O_RDONLY | O_CLOEXEC);
    const int to = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(from >= 0 && to >= 0);
    for (;;) {
        const ssize_t got = read(from, bytes, sizeof bytes);
        assert_true(got >= 0);
        if (got == 0) {
            break;
        }
        assert_int_equal(write(to, bytes, (size_t)got), got);
    }
    assert_int_equal(fchmod(to, mode), 0);
    assert_int_equal(close(from), 0);
    assert_int_equal(close(to), 0);
}

static void discover(struct place *place)
{
    struct error err = { 0 };
    if (discover_plugins(&place->request, &place->arena, &place->found,
            &place->problems, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static const struct candidate *find(const struct place *place, const char *stem)
{
    for (uint32_t i = 0; i < place->found.count; i++) {
        if (strcmp(place->found.list[i].stem, stem) == 0) {
            return &place->found.list[i];
        }
    }
    fail_msg("%s was not found", stem);
    return NULL;
}

static void expect_refused(
    const struct place *place, const char *stem, const char *words)
{
    const struct candidate *candidate = find(place, stem);
    assert_int_equal(candidate->state, STATE_ERROR);
    assert_string_equal(candidate->reason, "refused");
    if (strstr(candidate->message, words) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", candidate->message, words);
    }
}

static void plugins_come_in_name_order(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    place.sources[1].installed = 1;
    copy_plugin(place.first, "c.so", 0644);
    copy_plugin(place.first, "a.so", 0644);
    copy_plugin(place.first, "h.txt", 0644);
    copy_plugin(place.first, ".i.so", 0644);
    copy_plugin(place.second, "b.so", 0644);
    discover(&place);
    assert_int_equal(place.found.count, 3);
    assert_string_equal(place.found.list[0].stem, "a");
    assert_string_equal(place.found.list[1].stem, "c");
    assert_string_equal(place.found.list[2].stem, "b");
    assert_int_equal(place.found.list[0].installed, 0);
    assert_int_equal(place.found.list[2].installed, 1);
    assert_int_equal(place.found.list[2].source, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(place.found.list[i].state, STATE_NONE);
        assert_int_equal(place.found.list[i].trusted, 1);
        assert_int_equal(strlen(place.found.list[i].sha256), 64);
    }
    assert_int_equal(place.problems.count, 0);
    place_close(&place);
}

static void the_earlier_source_wins_with_a_warning(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    copy_plugin(place.first, "a.so", 0644);
    copy_plugin(place.second, "a.so", 0644);
    discover(&place);
    assert_int_equal(place.found.count, 1);
    assert_int_equal(place.found.list[0].source, 0);
    assert_int_equal(place.problems.count, 1);
    assert_int_equal(place.problems.errors, 0);
    assert_non_null(strstr(place.problems.list[0].text, place.first));
    assert_non_null(strstr(place.problems.list[0].text, place.second));
    place_close(&place);
}

static void links_lead_to_one_plugin(void **state)
{
    (void)state;
    struct place place;
    char target[128];
    char link[128];
    place_open(&place);
    copy_plugin(place.first, "a.so", 0644);
    path_in(target, sizeof target, place.first, "a.so");
    path_in(link, sizeof link, place.first, "b.so");
    assert_int_equal(symlink(target, link), 0);
    path_in(link, sizeof link, place.second, "c.so");
    assert_int_equal(symlink(target, link), 0);
    discover(&place);
    assert_int_equal(place.found.count, 1);
    assert_string_equal(place.found.list[0].stem, "a");
    assert_string_equal(place.found.list[0].file, target);
    assert_int_equal(place.problems.count, 0);
    place_close(&place);
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(
        bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(close(fd), 0);
}

/* The FIFO has no writer: opening it the plain way would wait for ever. */
static void odd_files_are_refused_at_once(void **state)
{
    (void)state;
    struct place place;
    char path[128];
    place_open(&place);
    path_in(path, sizeof path, place.first, "a.so");
    assert_int_equal(mkfifo(path, 0644), 0);
    path_in(path, sizeof path, place.first, "b.so");
    make_socket(path);
    path_in(path, sizeof path, place.first, "c.so");
    assert_int_equal(symlink("/no/such/file", path), 0);
    path_in(path, sizeof path, place.first, "d.so");
    assert_int_equal(mkdir(path, 0755), 0);
    path_in(path, sizeof path, place.first, "e.so");
    assert_int_equal(symlink("/dev/zero", path), 0);
    path_in(path, sizeof path, place.first, "f.so");
    assert_int_equal(symlink(path, path), 0);
    copy_plugin(place.first, "g.so", 0644);
    discover(&place);
    expect_refused(&place, "a", "is a FIFO");
    expect_refused(&place, "b", "is a socket");
    expect_refused(&place, "c", "cannot be found");
    expect_refused(&place, "d", "is a folder");
    expect_refused(&place, "e", "is a character device");
    expect_refused(&place, "f", "cannot be found");
    assert_int_equal(find(&place, "g")->state, STATE_NONE);
    place_close(&place);
}

static void untrusted_files_are_refused_unless_told(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    copy_plugin(place.first, "a.so", 0666);
    discover(&place);
    expect_refused(&place, "a", "is not trusted");
    place.request.trust_all = 1;
    discover(&place);
    assert_int_equal(find(&place, "a")->state, STATE_NONE);
    assert_int_equal(find(&place, "a")->trusted, 0);
    place_close(&place);
}

static void absent_folders_are_problems(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    place.sources[0].folder = "/no/such/folder";
    place.sources[1].folder = "/no/such/install";
    place.sources[1].installed = 1;
    discover(&place);
    assert_int_equal(place.found.count, 0);
    assert_int_equal(place.problems.count, 2);
    assert_int_equal(place.problems.errors, 1);
    assert_non_null(strstr(place.problems.list[0].text, "/no/such/folder"));
    place_close(&place);
}

struct bad {
    const char *name;
    uint32_t state;
    const char *reason, *words;
};

static const struct bad bads[] = {
    { "two_symbols", STATE_ERROR, "refused", "\"acme_version\"" },
    { "no_symbol", STATE_ERROR, "refused", "(rule C1)" },
    { "undefined_host", STATE_ERROR, "refused", "\"nvbw_host_version\"" },
    { "truncated", STATE_ERROR, "refused", "cut short" },
    { "not_elf", STATE_ERROR, "refused", "not an ELF file" },
    { "missing_library", STATE_SKIP, "missing_library", "libacme_missing.so" },
    { "missing_mpi", STATE_SKIP, "no_mpi", "libmpi_missing.so" },
    { "segfault_run", STATE_NONE, NULL, NULL },
};

static void bad_plugins_are_told_from_their_bytes(void **state)
{
    (void)state;
    const struct discover_request request = { .trust_all = 1 };
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct candidate candidate;
        struct error err = { 0 };
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s/%s.so", TEST_BAD_FOLDER,
            bads[i].name, bads[i].name);
        assert_int_equal(
            discover_file(&request, file, &arena, &candidate, &err), NVBW_OK);
        if (candidate.state != bads[i].state) {
            fail_msg("%s: state %u: %s", bads[i].name, candidate.state,
                candidate.message == NULL ? "" : candidate.message);
        }
        if (bads[i].reason != NULL) {
            assert_string_equal(candidate.reason, bads[i].reason);
            assert_non_null(reason_find(candidate.state, candidate.reason));
            assert_non_null(strstr(candidate.message, bads[i].words));
        }
    }
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_come_in_name_order),
        cmocka_unit_test(the_earlier_source_wins_with_a_warning),
        cmocka_unit_test(links_lead_to_one_plugin),
        cmocka_unit_test(odd_files_are_refused_at_once),
        cmocka_unit_test(untrusted_files_are_refused_unless_told),
        cmocka_unit_test(absent_folders_are_problems),
        cmocka_unit_test(bad_plugins_are_told_from_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
