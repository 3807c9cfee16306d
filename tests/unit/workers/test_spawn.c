/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What descriptors a worker has beside those of its frames: none, or the one
 * that a variable of the environment names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "spawn.h"

enum { HIGH_FD = 40, CLOSED_FD = 41 };

/* A worker that says hello to whom NVBW_TEST_FD names, and ends. */
static const char script[] = "( echo \"hello $NVBW_TEST_FD\" "
                             ">&$NVBW_TEST_FD ) 2>/dev/null\n"
                             "exit 0\n";

static void write_script(char *file)
{
    const int fd = mkstemp(file);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, sizeof script - 1), sizeof script - 1);
    close(fd);
}

/* What comes out of a pipe whose inner end has that number in this process.
 * named: what the variable says. */
static void spawn_with(
    int number, const char *named, const char *keep, char *out, size_t size)
{
    char file[] = "/tmp/nvbw-test-spawn-XXXXXX";
    struct spawned process;
    int ends[2];

    write_script(file);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);

    /* Whatever has that number in this process, out of the way of it. */
    const int from = fcntl(ends[0], F_DUPFD_CLOEXEC, CLOSED_FD + 1);
    const int to = fcntl(ends[1], F_DUPFD_CLOEXEC, CLOSED_FD + 1);

    close(ends[0]);
    close(ends[1]);
    assert_int_equal(dup2(to, number), number);
    close(to);
    setenv("NVBW_TEST_FD", named, 1);

    const struct spawn_request request = {
        .worker_file = "/bin/sh", .role = file, .keep = keep
    };

    assert_int_equal(spawn_worker(&request, &process, NULL), NVBW_OK);
    close(number);

    const ssize_t got = read(from, out, size - 1);

    assert_true(got >= 0);
    out[got] = '\0';
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
    spawned_close(&process);
    close(from);
    unlink(file);
}

static void the_named_one_is_kept(void **state)
{
    char said[64];

    (void)state;
    spawn_with(HIGH_FD, "40", "NVBW_TEST_FD", said, sizeof said);
    assert_string_equal(said, "hello 6\n");
}

static void no_other_is_kept(void **state)
{
    char said[64];

    (void)state;
    spawn_with(HIGH_FD, "40", NULL, said, sizeof said);
    assert_string_equal(said, "");
    /* One digit is all that a shell takes. */
    spawn_with(9, "9", NULL, said, sizeof said);
    assert_string_equal(said, "");
}

static void a_closed_one_is_no_mistake(void **state)
{
    char said[64];

    (void)state;
    assert_int_equal(fcntl(CLOSED_FD, F_GETFD), -1);
    spawn_with(HIGH_FD, "41", "NVBW_TEST_FD", said, sizeof said);
    assert_string_equal(said, "");
    spawn_with(HIGH_FD, "no number", "NVBW_TEST_FD", said, sizeof said);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_named_one_is_kept),
        cmocka_unit_test(no_other_is_kept),
        cmocka_unit_test(a_closed_one_is_no_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
