/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "run_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "environment.h"

static char base[64];
static struct arena arena;

/* Removes what a test left, folders last. */
static void remove_tree(const char *folder)
{
    static const char *const names[] = { "run/journal.ndjson", "run/lock",
        "run/manifest.sha256", "run/workers/w.log", "run/workers/new.log",
        "run/workers", "run/plan", "run", "a/b/lock", "a/b/workers", "a/b/plan",
        "a/b", "a", "file", "link", "fifo", "" };
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)remove(path);
    }
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    snprintf(base, sizeof base, "test_run_dir_XXXXXX");
    return mkdtemp(base) == NULL ? -1 : 0;
}

static int stop(void **state)
{
    (void)state;
    remove_tree(base);
    arena_clear(&arena);
    return 0;
}

static char *at(const char *name)
{
    return arena_format(&arena, "%s/%s", base, name);
}

static void put(const char *name, const char *text)
{
    FILE *const stream = fopen(at(name), "w");

    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static const char *get(const char *name)
{
    char text[256] = "";
    FILE *const stream = fopen(at(name), "r");

    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    assert_int_equal(fclose(stream), 0);
    return arena_text(&arena, text);
}

static int is_there(const char *name)
{
    return access(at(name), F_OK) == 0;
}

static struct run_dir create(const char *name)
{
    struct run_dir dir;
    struct error err = { 0 };

    if (run_dir_create(at(name), &dir, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return dir;
}

static void parents_are_made(void **state)
{
    struct run_dir dir = create("a/b/");

    (void)state;
    assert_true(is_there("a/b/workers") && is_there("a/b/plan"));
    assert_string_equal(dir.path, at("a/b"));
    run_dir_close(&dir);
}

static void a_run_is_never_overwritten(void **state)
{
    struct run_dir dir = create("run");
    struct error err = { 0 };

    (void)state;
    put("run/journal.ndjson", "");
    run_dir_close(&dir);
    assert_int_equal(run_dir_create(at("run"), &dir, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "holds a run already"));
    assert_int_equal(dir.lock_fd, -1);
}

static void a_run_is_written_by_one(void **state)
{
    struct run_dir first = create("run");
    struct run_dir second;
    struct error err = { 0 };

    (void)state;
    put("run/journal.ndjson", "");
    assert_int_equal(run_dir_open(at("run"), &second, &err), NVBW_E_SYSTEM);
    assert_non_null(strstr(err.text, "in use by another"));
    run_dir_close(&first);
    assert_int_equal(run_dir_open(at("run"), &second, &err), NVBW_OK);
    run_dir_close(&second);
}

static void only_a_run_is_opened(void **state)
{
    struct run_dir dir;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(run_dir_open(base, &dir, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "holds no run"));
}

static void patterns_are_expanded(void **state)
{
    static const char *const wrong[] = { "", "x%y", "x%" };
    struct run_dir dir;
    struct error err = { 0 };
    char *const pattern = at("run-%h-%t-%%");

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(run_dir_create(wrong[i], &dir, &err), NVBW_E_INVALID);
    }
    assert_int_equal(run_dir_create(pattern, &dir, &err), NVBW_OK);
    assert_null(strstr(dir.path, "%h"));
    assert_null(strstr(dir.path, "%t"));
    assert_string_equal(dir.path + strlen(dir.path) - 3, "Z-%");
    run_dir_close(&dir);
    static const char *const parts[] = { "lock", "plan", "workers" };
    for (size_t i = 0; i < 3; i++) {
        (void)remove(arena_format(&arena, "%s/%s", dir.path, parts[i]));
    }
    (void)remove(dir.path);
}

static uint32_t bad_count(const char *wanted)
{
    const char **bad = NULL;
    uint32_t count = 0;
    struct error err = { 0 };

    if (run_dir_verify(at("run"), &arena, &bad, &count, &err) < 0) {
        fail_msg("%s", err.text);
    }
    if (count > 0 && wanted != NULL) {
        assert_string_equal(bad[0], wanted);
    }
    return count;
}

static void a_seal_shows_every_change(void **state)
{
    struct run_dir dir = create("run");

    (void)state;
    put("run/journal.ndjson", "abc");
    put("run/workers/w.log", "");
    assert_int_equal(run_dir_seal(&dir, NULL), NVBW_OK);
    run_dir_close(&dir);
    assert_string_equal(get("run/manifest.sha256"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        "  journal.ndjson\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        "  workers/w.log\n");
    assert_int_equal(bad_count(NULL), 0);

    put("run/journal.ndjson", "abd");
    assert_int_equal(bad_count("journal.ndjson: changed since the run"), 1);
    put("run/journal.ndjson", "abc");
    put("run/workers/new.log", "");
    assert_int_equal(bad_count("workers/new.log: not in the manifest"), 1);
    assert_int_equal(remove(at("run/workers/new.log")), 0);
    assert_int_equal(remove(at("run/workers/w.log")), 0);
    assert_int_equal(bad_count("workers/w.log: missing"), 1);
}

static void a_manifest_must_be_one(void **state)
{
    const char **bad = NULL;
    uint32_t count = 0;
    struct error err = { 0 };
    struct run_dir dir = create("run");

    (void)state;
    run_dir_close(&dir);
    assert_int_equal(
        run_dir_verify(at("run"), &arena, &bad, &count, &err), NVBW_E_SYSTEM);
    put("run/manifest.sha256", "hello\n");
    assert_int_equal(
        run_dir_verify(at("run"), &arena, &bad, &count, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "manifest.sha256:1:"));
}

static int32_t write_to(const char *name, const char *text, struct error *err)
{
    return file_write_atomic(at(name), text, strlen(text), err);
}

static void files_are_made_and_replaced(void **state)
{
    struct stat stat_now;

    (void)state;
    assert_int_equal(write_to("file", "one", NULL), NVBW_OK);
    assert_string_equal(get("file"), "one");
    assert_int_equal(chmod(at("file"), 0600), 0);
    assert_int_equal(write_to("file", "two", NULL), NVBW_OK);
    assert_string_equal(get("file"), "two");
    assert_int_equal(stat(at("file"), &stat_now), 0);
    assert_int_equal(stat_now.st_mode & 0777, 0600);
    assert_int_equal(rmdir(base), -1);
    remove_tree(base);
    assert_int_not_equal(access(base, F_OK), 0); /* no temporary file left */
}

static void links_are_refused(void **state)
{
    struct error err = { 0 };

    (void)state;
    put("file", "old");
    assert_int_equal(symlink("file", at("link")), 0);
    assert_int_equal(write_to("link", "new", &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "symbolic link"));
    assert_string_equal(get("file"), "old");
}

static void folders_are_refused(void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal(file_write_atomic(base, "x", 1, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, "is a directory"));
    assert_int_equal(write_to("no/such", "x", &err), NVBW_E_SYSTEM);
}

static void pipes_are_written_through(void **state)
{
    struct error err = { 0 };
    char text[8] = "";

    (void)state;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_int_equal(write_to("fifo", "abc", &err), NVBW_E_SYSTEM);

    const int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    assert_true(reader >= 0);
    assert_int_equal(write_to("fifo", "abc", &err), NVBW_OK);
    assert_int_equal(read(reader, text, sizeof text), 3);
    assert_string_equal(text, "abc");
    close(reader);
    assert_int_equal(file_write_atomic("/dev/null", "x", 1, &err), NVBW_OK);
    assert_int_equal(access("/dev/null", W_OK), 0);
}

static void the_header_can_be_typed_again(void **state)
{
    static const char *const argv[] = { "nvbw-host", "-c", "my plan.cfg",
        "--set", "a='b'", "" };
    struct run_header header;

    (void)state;
    setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    setenv("NVIDIA_API_KEY", "secret", 1);
    assert_int_equal(run_header_fill(&header, 6, argv, &arena, NULL), NVBW_OK);
    assert_string_equal(
        header.command, "nvbw-host -c 'my plan.cfg' --set 'a='\\''b'\\''' ''");
    assert_int_equal(header.version, EVIDENCE_VERSION);
    assert_int_equal(strlen(header.started), 20);
    assert_true(header.started_ns > 0);

    int found = 0;

    for (uint32_t i = 0; i < header.environment_count; i++) {
        found |= strcmp(header.environment[i], "CUDA_VISIBLE_DEVICES=0,1") == 0;
        assert_null(strstr(header.environment[i], "secret"));
    }
    assert_true(found);
    assert_int_equal(run_header_add(&header, "A=1", &arena, NULL), NVBW_OK);
    assert_string_equal(
        header.environment[header.environment_count - 1], "A=1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(parents_are_made),
        TEST(a_run_is_never_overwritten),
        TEST(a_run_is_written_by_one),
        TEST(only_a_run_is_opened),
        TEST(patterns_are_expanded),
        TEST(a_seal_shows_every_change),
        TEST(a_manifest_must_be_one),
        TEST(files_are_made_and_replaced),
        TEST(links_are_refused),
        TEST(folders_are_refused),
        TEST(pipes_are_written_through),
        TEST(the_header_can_be_typed_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
