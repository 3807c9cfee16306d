/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"
#include "worker_end.h"

static const struct {
    struct worker_end end;
    uint32_t state;
    const char *reason, *text;
} cases[] = {
    { { .signal_number = 11 }, STATE_CRASH, NULL,
        "run worker died of signal 11 (segmentation fault)" },
    { { .signal_number = 9 }, STATE_CRASH, NULL,
        "run worker died of signal 9 (killed), which nvbw-host did not send; "
        "see the kernel log for a lack of memory" },
    { { .exit_code = 3 }, STATE_CRASH, NULL,
        "run worker exited with status 3 without a word" },
    { { .expired = 1, .limit_ns = 1500000000, .signal_number = 9 },
        STATE_TIMEOUT, NULL,
        "run worker said nothing for 1.5 s and was ended" },
    { { .expired = 1, .limit_ns = 60000000000, .abandoned = 1 }, STATE_TIMEOUT,
        NULL,
        "run worker said nothing for 60 s and was ended; not even SIGKILL "
        "ended it, it was left behind" },
    { { .stopped = 1, .has_bye = 1, .bye_why = "cancelled" }, STATE_CANCELLED,
        NULL, "the run was stopped" },
    { { .has_bye = 1, .bye_why = "cancelled" }, STATE_CANCELLED, NULL,
        "run worker was told to end by a signal from outside" },
    { { .has_bye = 1, .bye_why = "poisoned", .bye_text = "illegal address" },
        STATE_ERROR, "poisoned",
        "run worker lost its GPU through a CUDA error: illegal address" },
    { { .has_bye = 1, .bye_why = "contract" }, STATE_ERROR, "contract",
        "run worker ended because the plugin broke the contract" },
    { { .has_bye = 1, .bye_why = "finished" }, STATE_ERROR, "protocol",
        "run worker ended before its task was done" },
    { { .has_bye = 1, .bye_why = "bored" }, STATE_ERROR, "protocol",
        "run worker gave an unknown reason to end" },
    { { .fault = FAULT_PROTOCOL, .fault_text = "x", .signal_number = 9 },
        STATE_ERROR, "protocol", "run worker: x" },
    { { .fault = FAULT_FACTS, .fault_text = "x" }, STATE_ERROR, "facts_changed",
        "run worker: x" },
    { { .fault = FAULT_BUILD, .fault_text = "x" }, STATE_ERROR, "system",
        "run worker: x" },
};

static void test_causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cause cause;

        worker_end_cause(&cases[i].end, "run", &cause);
        assert_int_equal(cause.state, cases[i].state);
        assert_string_equal(cause.text, cases[i].text);
        if (cases[i].reason == NULL) {
            assert_null(cause.reason);
            continue;
        }
        assert_string_equal(cause.reason, cases[i].reason);
        assert_non_null(reason_find(cause.state, cause.reason));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
