/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The trust rule of C23 over made-up owners and modes, and the walk up a real
 * path. */
#include "trust.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { USER = 1000, SUDO_USER = 1001, HOST_OWNER = 998, STRANGER = 4242 };

static const struct trust_users users = {
    .user = USER,
    .sudo_user = SUDO_USER,
    .host_owner = HOST_OWNER,
};

struct trust_case {
    struct trust_object object;
    const char *words; /* of the refusal, or NULL: trusted */
};

static const struct trust_case cases[] = {
    { { "/p/a.so", 0, S_IFREG | 0644, 0, 0, 0 }, NULL },
    { { "/p/a.so", 0, S_IFREG | 0755, USER, 50, 0 }, NULL },
    { { "/p/a.so", 0, S_IFREG | 0644, SUDO_USER, 50, 0 }, NULL },
    { { "/p/a.so", 0, S_IFREG | 0644, HOST_OWNER, 50, 0 }, NULL },
    { { "/p/a.so", 0, S_IFREG | 0644, STRANGER, 50, 0 }, "user 4242" },
    { { "/p/a.so", 0, S_IFREG | 0646, USER, 50, 0 }, "by everyone" },
    { { "/p/a.so", 0, S_IFREG | 0664, USER, 50, 0 }, "group 50" },
    { { "/p/a.so", 0, S_IFREG | 0664, USER, 50, 1 }, NULL },
    { { "/p/a.so", 0, S_IFREG | S_ISVTX | 0666, USER, 50, 1 }, "by everyone" },
    { { "/p", 1, S_IFDIR | 0755, 0, 0, 0 }, NULL },
    { { "/p", 1, S_IFDIR | 0755, STRANGER, 0, 0 }, "folder /p belongs" },
    { { "/p", 1, S_IFDIR | 0777, 0, 0, 0 }, "by everyone (mode 0777)" },
    { { "/p", 1, S_IFDIR | S_ISVTX | 0777, 0, 0, 0 }, NULL },
    { { "/p", 1, S_IFDIR | S_ISVTX | 0777, STRANGER, 0, 0 }, "user 4242" },
    { { "/p", 1, S_IFDIR | 0775, 0, 7, 0 }, "group 7" },
    { { "/p", 1, S_IFDIR | 0775, USER, 7, 1 }, NULL },
    { { "/p", 1, S_IFDIR | S_ISVTX | 0775, 0, 7, 0 }, NULL },
};

static void the_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = { 0 };
        const int32_t status = trust_judge(&cases[i].object, &users, &err);
        if (cases[i].words == NULL) {
            if (status != NVBW_OK) {
                fail_msg("case %zu was refused: %s", i, err.text);
            }
            continue;
        }
        assert_int_equal(status, NVBW_E_INVALID);
        if (strstr(err.text, cases[i].words) == NULL ||
            strstr(err.text, "--trust-plugins") == NULL) {
            fail_msg(
                "case %zu: \"%s\" lacks \"%s\"", i, err.text, cases[i].words);
        }
    }
}

static void absent_users_trust_nobody_more(void **state)
{
    (void)state;
    const struct trust_users alone = { USER, -1, -1 };
    const struct trust_object nobody = { "/p/a.so", 0, 0644, UINT32_MAX, 0, 0 };
    assert_int_equal(trust_judge(&nobody, &alone, NULL), NVBW_E_INVALID);
}

/* A folder of the test's own; the caller removes it. */
static void make_folder(char *path, size_t size)
{
    (void)snprintf(path, size, "/tmp/nvbw-trust-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void make_file(const char *path, mode_t mode)
{
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void the_walk_sees_the_folders(void **state)
{
    (void)state;
    char folder[64];
    char file[80];
    struct error err = { 0 };
    const struct trust_users here = trust_users_here(NULL);

    make_folder(folder, sizeof folder);
    (void)snprintf(file, sizeof file, "%s/a.so", folder);
    make_file(file, 0644);
    assert_int_equal(trust_check(file, &here, &err), NVBW_OK);

    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(trust_check(file, &here, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, folder));

    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(file, 0666), 0);
    assert_int_equal(trust_check(file, &here, &err), NVBW_E_INVALID);
    assert_non_null(strstr(err.text, file));

    assert_int_equal(unlink(file), 0);
    assert_int_equal(trust_check(file, &here, &err), NVBW_E_SYSTEM);
    assert_int_equal(rmdir(folder), 0);
}

static void only_real_paths_are_walked(void **state)
{
    (void)state;
    const struct trust_users here = trust_users_here(NULL);
    assert_int_equal(trust_check("a.so", &here, NULL), NVBW_E_INVALID);
    assert_int_equal(trust_check("", &here, NULL), NVBW_E_INVALID);
}

static void the_binarys_owner_is_looked_up(void **state)
{
    (void)state;
    assert_int_equal(trust_users_here("/").host_owner, 0);
    assert_int_equal(trust_users_here("/no/such/file").host_owner, -1);
    assert_int_equal(trust_users_here(NULL).user, geteuid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule),
        cmocka_unit_test(absent_users_trust_nobody_more),
        cmocka_unit_test(the_walk_sees_the_folders),
        cmocka_unit_test(only_real_paths_are_walked),
        cmocka_unit_test(the_binarys_owner_is_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
