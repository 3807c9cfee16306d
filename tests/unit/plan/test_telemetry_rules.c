/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "telemetry_rules.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void without_a_word_defaults_hold(void **state)
{
    const struct plan plan = { .name = "p" };
    struct telemetry_rules rules;

    (void)state;
    telemetry_rules_read(&plan, &rules);
    assert_true(rules.enabled);
    assert_int_equal(rules.poll_ns, 500000000);
    assert_int_equal(rules.settle_ns, 5000000000);
    assert_true(fabs(rules.throttled - 0.01) < 1e-12);
    assert_true(telemetry_rules_most(&rules, "xids") == 0.0);
    assert_true(telemetry_rules_most(&rules, "pcie_replays") == 16.0);
    assert_true(isinf(telemetry_rules_most(&rules, "pcie_in_bytes")));
}

static void the_plan_replaces_them(void **state)
{
    const char *off[] = { "false" };
    const char *most[] = { "3" };
    const char *poll[] = { "1 ms" };
    struct plan_value values[] = {
        { .name = "enabled", .texts = off, .texts_count = 1 },
        { .name = "xids", .texts = most, .texts_count = 1 },
        { .name = "poll", .texts = poll, .texts_count = 1 },
    };
    const struct plan plan = { .telemetry = values, .telemetry_count = 3 };
    struct telemetry_rules rules;

    (void)state;
    telemetry_rules_read(&plan, &rules);
    assert_false(rules.enabled);
    assert_true(telemetry_rules_most(&rules, "xids") == 3.0);
    assert_int_equal(rules.poll_ns, 100000000); /* not a busy loop */
}

static void daemons_do_not_count(void **state)
{
    const char *given[] = { "mine" };
    struct plan_value ignore = {
        .name = "ignore", .texts = given, .texts_count = 1
    };
    const struct plan none = { .name = "p" };
    const struct plan own = { .telemetry = &ignore, .telemetry_count = 1 };
    struct telemetry_rules rules;

    (void)state;
    telemetry_rules_read(&none, &rules);
    /* The system cuts names off at 15 characters. */
    assert_false(telemetry_rules_counts(&rules, "12 nvidia-persiste"));
    assert_false(telemetry_rules_counts(&rules, "12 nvidia-cuda-mps"));
    assert_true(telemetry_rules_counts(&rules, "12 python3"));
    telemetry_rules_read(&own, &rules);
    assert_true(telemetry_rules_counts(&rules, "12 nvidia-persiste"));
    assert_false(telemetry_rules_counts(&rules, "12 mine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_word_defaults_hold),
        cmocka_unit_test(the_plan_replaces_them),
        cmocka_unit_test(daemons_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
