/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* C19: the environment of a worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "worker_environment.h"

static const char *const base[] = { "PATH=/bin", "CUDA_MODULE_LOADING=LAZY",
    "NVBW_PARENT=1", "NVBW_PARENTS=2", "LD_LIBRARY_PATH=/x", NULL };

static int has(const char *const *list, const char *entry)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, entry) == 0) {
            return 1;
        }
    }
    return 0;
}

static char **build(
    const struct environment_request *request, struct arena *arena)
{
    const char *const *changes = NULL;
    char **merged = NULL;

    arena_init(arena, 1 << 16);
    assert_int_equal(
        worker_environment_build(request, arena, &changes, NULL), NVBW_OK);
    assert_int_equal(
        worker_environment_merge(base, changes, arena, &merged, NULL), NVBW_OK);
    return merged;
}

static void test_all_given(void **state)
{
    const struct environment_request request = { .devices = "GPU-a,GPU-b",
        .sim_profile = "hgx_h200_x8",
        .connections = 16,
        .parent_pid = 42 };
    struct arena arena;
    const char *const *const list =
        (const char *const *)build(&request, &arena);

    (void)state;
    assert_true(has(list, "PATH=/bin"));
    assert_true(has(list, "NVBW_PARENTS=2"));
    assert_true(has(list, "CUDA_MODULE_LOADING=EAGER"));
    assert_true(has(list, "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
    assert_true(has(list, "CUDA_DEVICE_MAX_CONNECTIONS=16"));
    assert_true(has(list, "CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"));
    assert_true(has(list, "NVBW_SIM_PROFILE=hgx_h200_x8"));
    assert_true(has(list, "NVBW_PARENT=42"));
    assert_false(has(list, "CUDA_MODULE_LOADING=LAZY"));
    assert_false(has(list, "NVBW_PARENT=1"));
    arena_clear(&arena);
}

static void test_nothing_given(void **state)
{
    const struct environment_request request = { .devices = NULL };
    struct arena arena;
    const char *const *const list =
        (const char *const *)build(&request, &arena);

    (void)state;
    for (size_t i = 0; list[i] != NULL; i++) {
        assert_int_not_equal(strncmp(list[i], "NVBW_PARENT=", 12), 0);
        assert_int_not_equal(strncmp(list[i], "CUDA_VISIBLE_", 13), 0);
    }
    arena_clear(&arena);
}

static void test_notable(void **state)
{
    struct arena arena;
    const char **list = NULL;
    uint32_t count = 0;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_int_equal(
        worker_environment_notable(base, &arena, &list, &count, NULL), NVBW_OK);
    assert_int_equal(count, 3);
    assert_string_equal(list[0], "CUDA_MODULE_LOADING=LAZY");
    assert_string_equal(list[1], "NVBW_PARENTS=2");
    assert_string_equal(list[2], "LD_LIBRARY_PATH=/x");
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_given),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_notable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
