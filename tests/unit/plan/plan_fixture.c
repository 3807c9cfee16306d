/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA_BYTES = 64 << 20 };

void fixture_begin(struct plan_fixture *fixture)
{
    *fixture = (struct plan_fixture){ .folder = "/tmp/nvbw-plan-XXXXXX" };
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(chdir(fixture->folder), 0);
    arena_init(&fixture->arena, ARENA_BYTES);
    fixture->problems.arena = &fixture->arena;
}

/* Tests make no folder deeper than one level. */
static void remove_all(const char *folder)
{
    DIR *const dir = opendir(folder);
    const struct dirent *entry = NULL;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[512];

        if (strcmp(entry->d_name, ".") == 0 ||
            strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0) {
            remove_all(path);
        }
    }
    closedir(dir);
    rmdir(folder);
}

void fixture_end(struct plan_fixture *fixture)
{
    arena_clear(&fixture->arena);
    assert_int_equal(chdir("/"), 0);
    remove_all(fixture->folder);
}

void fixture_write(const char *file, const char *text)
{
    FILE *const out = fopen(file, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
    assert_int_equal(fclose(out), 0);
}

static uint32_t count_of(const char *const *list)
{
    uint32_t count = 0;

    while (list != NULL && list[count] != NULL) {
        count++;
    }
    return count;
}

void fixture_load(struct plan_fixture *fixture, const char *const *files,
    const char *const *sets)
{
    const struct plan_request request = {
        .files = (const char **)(uintptr_t)files,
        .files_count = count_of(files),
        .sets = (const char **)(uintptr_t)sets,
        .sets_count = count_of(sets),
    };
    struct error err = { 0 };

    fixture->problems = (struct problems){ .arena = &fixture->arena };
    if (plan_load(&request, &fixture->arena, &fixture->plan, &fixture->problems,
            &err) < 0) {
        fail_msg("%s", err.text);
    }
}

void fixture_load_text(struct plan_fixture *fixture, const char *text)
{
    static const char *const files[] = { "a.cfg", NULL };

    fixture_write("a.cfg", text);
    fixture_load(fixture, files, NULL);
}

const char *fixture_problem(struct plan_fixture *fixture, uint32_t index)
{
    if (index >= fixture->problems.count) {
        return "";
    }

    const struct problem *const problem = &fixture->problems.list[index];

    return arena_format(&fixture->arena, "%s:%u: %s%s", problem->origin.file,
        (unsigned)problem->origin.line, problem->is_warning ? "warning: " : "",
        problem->text);
}
