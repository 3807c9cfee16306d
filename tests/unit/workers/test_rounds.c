/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static const char *hour[] = { "1 h" };
static struct plan_value duration = {
    .name = "duration", .texts = hour, .texts_count = 1
};

/* A run of an hour that began at 06:00:00 UTC on 2026-11-30, 100 s after its
 * machine was started. */
static const struct evidence run = { .header = { .boot_id = "first",
                                         .started = "2026-11-30T06:00:00Z",
                                         .started_ns = 100 * S },
    .plan = { .options = &duration, .options_count = 1 } };
enum { BEGAN = 1796018400 };

static uint64_t end_of(const struct evidence *evidence, const char *boot,
    uint64_t up_s, time_t now)
{
    const struct rounds_clock clock = { boot, up_s * S, now };

    return rounds_end_ns(evidence, &clock) / S;
}

/* The clock on the wall may be set while a run lasts. */
static void one_boot_counts_by_its_own_clock(void **state)
{
    (void)state;
    assert_int_equal(end_of(&run, "first", 200, BEGAN + 100), 3700);
    assert_int_equal(end_of(&run, "first", 200, BEGAN + 99999), 3700);
    assert_int_equal(end_of(&run, NULL, 200, 0), 3700);
}

static void another_boot_counts_by_the_wall(void **state)
{
    (void)state;
    assert_int_equal(end_of(&run, "second", 50, BEGAN + 600), 50 + 3000);
    assert_int_equal(end_of(&run, "second", 200, BEGAN + 600), 200 + 3000);
    assert_int_equal(end_of(&run, "second", 200, BEGAN + 3600), 0);
    assert_int_equal(end_of(&run, NULL, 50, BEGAN + 600), 50 + 3000);
}

static void what_cannot_be_known_is_over(void **state)
{
    struct evidence other = run;

    (void)state;
    assert_int_equal(end_of(&run, "second", 50, BEGAN - 1), 0);
    other.header.started = "yesterday";
    assert_int_equal(end_of(&other, "second", 50, BEGAN + 600), 0);
    other = run;
    other.plan.options_count = 0;
    assert_int_equal(end_of(&other, "first", 200, BEGAN), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_boot_counts_by_its_own_clock),
        cmocka_unit_test(another_boot_counts_by_the_wall),
        cmocka_unit_test(what_cannot_be_known_is_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
