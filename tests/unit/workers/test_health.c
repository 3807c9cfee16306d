/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* C18: a GPU whose health worker fails is tainted, the others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "health.h"
#include "stage.h"

static const char *event_of(const struct stage *stage, int32_t gpu)
{
    for (uint32_t i = 0; i < stage->evidence.events_count; i++) {
        if (stage->evidence.events[i].gpu == gpu) {
            return stage->evidence.events[i].what;
        }
    }
    return "";
}

static void test_taints_the_sick(void **state)
{
    const uint32_t gpus[] = { 0, 1, 7 };
    struct stage stage;
    struct crew crew;
    struct ledger ledger;
    struct taint taint = { .count = 0 };

    (void)state;
    stage_open(&stage);
    crew_open(&crew, -1);
    ledger_init(&ledger, &stage.request);
    assert_int_equal(
        health_check(&stage.setup, &crew, &ledger, gpus, 3, &taint, NULL),
        NVBW_OK);
    crew_close(&crew);
    assert_int_equal(taint.count, 1);
    assert_true(taint_has(&taint, 1));
    assert_string_equal(event_of(&stage, 0), "untainted");
    assert_string_equal(event_of(&stage, 1), "tainted");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taints_the_sick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
