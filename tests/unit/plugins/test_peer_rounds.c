/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peer_rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { GPUS_MOST = 73 };

static void add_round(
    uint32_t gpus, uint32_t round, uint32_t met[GPUS_MOST][GPUS_MOST])
{
    uint32_t busy[GPUS_MOST] = { 0 };

    for (uint32_t i = 0; i < (gpus + 1) / 2; i++) {
        uint32_t one;
        uint32_t other;

        if (!peer_round_pair(gpus, round, i, &one, &other)) {
            continue;
        }
        assert_true(one < gpus && other < gpus && one != other);
        assert_int_equal(busy[one]++, 0);
        assert_int_equal(busy[other]++, 0);
        met[one][other]++;
        met[other][one]++;
    }
}

static void everybody_meets_everybody_once(void **state)
{
    static uint32_t met[GPUS_MOST][GPUS_MOST];

    (void)state;
    for (uint32_t gpus = 2; gpus <= GPUS_MOST; gpus++) {
        memset(met, 0, sizeof met);
        for (uint32_t round = 0; round < peer_rounds(gpus); round++) {
            add_round(gpus, round, met);
        }
        for (uint32_t at = 0; at < gpus * gpus; at++) {
            assert_int_equal(met[at / gpus][at % gpus], at / gpus != at % gpus);
        }
    }
}

static void rounds_grow_as_the_machine_does(void **state)
{
    (void)state;
    assert_int_equal(peer_rounds(0), 0);
    assert_int_equal(peer_rounds(1), 0);
    assert_int_equal(peer_rounds(2), 1);
    assert_int_equal(peer_rounds(3), 3);
    assert_int_equal(peer_rounds(8), 7);
    assert_int_equal(peer_rounds(72), 71);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_meets_everybody_once),
        cmocka_unit_test(rounds_grow_as_the_machine_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
