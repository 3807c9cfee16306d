/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "affinity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lists_come_back_as_they_went(void **state)
{
    static const char *const lists[] = { "0", "5", "0-15,32-47", "1,3,5",
        "4095", "0-4095" };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct cpu_mask mask;
        char text[64];

        assert_int_equal(affinity_parse(lists[i], &mask), 1);
        affinity_text(&mask, text, sizeof text);
        assert_string_equal(text, lists[i]);
    }
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const lists[] = { "", "x", "1,", ",1", "3-1", "1-", "-1",
        "4096", "0-4096", "1 2", "99999999999999999999" };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct cpu_mask mask;

        assert_int_equal(affinity_parse(lists[i], &mask), 0);
        assert_int_equal(affinity_count(&mask), 0);
    }
    struct cpu_mask mask;

    assert_int_equal(affinity_parse(NULL, &mask), 0);
}

static void long_lists_are_cut(void **state)
{
    struct cpu_mask mask;
    char text[12];

    (void)state;
    affinity_parse("1,3,5,7,9,11,13", &mask);
    affinity_text(&mask, text, sizeof text);
    assert_string_equal(text, "1,3,5,7...");
    memset(&mask, 0, sizeof mask);
    affinity_text(&mask, text, sizeof text);
    assert_string_equal(text, "none");
}

static void picking_goes_round(void **state)
{
    struct cpu_mask mask;
    struct cpu_mask one;
    char text[16];

    (void)state;
    affinity_parse("2,4-5", &mask);
    static const char *const picks[] = { "2", "4", "5", "2" };

    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(affinity_pick(&mask, i, &one), 1);
        affinity_text(&one, text, sizeof text);
        assert_string_equal(text, picks[i]);
    }
    memset(&mask, 0, sizeof mask);
    assert_int_equal(affinity_pick(&mask, 0, &one), 0);
}

static void allowed_stays_within_the_thread(void **state)
{
    struct cpu_mask all;
    struct cpu_mask first;
    struct cpu_mask now;
    char text[16];

    (void)state;
    affinity_current(&all);
    if (affinity_count(&all) == 0) {
        skip();
    }
    affinity_allowed(NULL, &now);
    assert_true(CPU_EQUAL_S(sizeof now.sets, now.sets, all.sets));
    affinity_pick(&all, 0, &first);
    affinity_text(&first, text, sizeof text);
    affinity_allowed(text, &now);
    assert_true(CPU_EQUAL_S(sizeof now.sets, now.sets, first.sets));
    /* Nothing in common, so all of it. */
    affinity_allowed("4095", &now);
    assert_true(CPU_EQUAL_S(sizeof now.sets, now.sets, all.sets));

    assert_int_equal(affinity_set(&first), 1);
    affinity_current(&now);
    assert_true(CPU_EQUAL_S(sizeof now.sets, now.sets, first.sets));
    assert_int_equal(affinity_set(&all), 1);
}

static void cores_keep_one_cpu_each(void **state)
{
    struct cpu_mask all;
    struct cpu_mask cores;

    (void)state;
    affinity_current(&all);
    if (affinity_count(&all) == 0) {
        skip();
    }
    cores = all;
    affinity_keep_cores(&cores);
    assert_true(affinity_count(&cores) >= 1);
    struct cpu_mask both;

    CPU_AND_S(sizeof both.sets, both.sets, all.sets, cores.sets);
    assert_memory_equal(&both, &cores, sizeof both);
    both = cores;
    affinity_keep_cores(&both);
    assert_memory_equal(&both, &cores, sizeof both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_come_back_as_they_went),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(picking_goes_round),
        cmocka_unit_test(cores_keep_one_cpu_each),
        cmocka_unit_test(allowed_stays_within_the_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
