/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "between_runs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "nvbw/plugin.h"

static double reach(uint32_t link, uint32_t way, uint32_t load)
{
    const struct traffic traffic = {
        .link = link, .initiator = NVBW_BY_CE, .way = way, .load = load
    };

    return between_runs_of(&traffic, NVBW_UNIT_BYTES_PER_SECOND).reach;
}

/* What shares more scatters more, and no kind so much that half of a link's
 * bandwidth could be lost unseen. */
static void kinds_of_traffic_differ(void **state)
{
    const double alone = reach(LINK_PCIE, WAY_H2D, LOAD_ALONE);
    const double shared = reach(LINK_PCIE, WAY_H2D, LOAD_SHARED);
    const double opposed = reach(LINK_PCIE, WAY_D2H, LOAD_OPPOSED);
    const double all = reach(LINK_PCIE, WAY_BOTH, LOAD_SHARED_OPPOSED);

    (void)state;
    assert_true(alone < shared && shared < opposed && opposed <= all);
    assert_true(all < 0.2);
    assert_true(reach(LINK_NVLINK, WAY_PUSH, LOAD_SHARED_OPPOSED) == 0.0);
    assert_true(reach(LINK_MEMORY, WAY_COPY, LOAD_ALONE) == 0.0);
    assert_true(reach(LINK_NONE, WAY_NONE, 0) == 0.0);
    assert_true(reach(LINK_NONE, WAY_HOST, LOAD_ALONE) < 0.2);
}

static void latency_of_host_memory_has_its_own(void **state)
{
    const struct traffic host = { .way = WAY_HOST, .load = LOAD_ALONE };
    const struct traffic pcie = {
        .link = LINK_PCIE, .way = WAY_H2D, .load = LOAD_ALONE
    };

    (void)state;
    assert_true(between_runs_of(&host, NVBW_UNIT_NANOSECONDS).reach >
                between_runs_of(&host, NVBW_UNIT_BYTES_PER_SECOND).reach);
    assert_true(between_runs_of(&host, NVBW_UNIT_NANOSECONDS).reach < 0.5);
    assert_true(between_runs_of(&pcie, NVBW_UNIT_NANOSECONDS).reach < 0.05);
    assert_non_null(between_runs_of(&host, NVBW_UNIT_NANOSECONDS).what);
}

static void several_runs_tell_their_own(void **state)
{
    static const double quiet[] = { 100, 100.1, 99.9, 100, 100.05 };
    static const double busy[] = { 100, 96, 104, 98, 102 };
    static const double broken[] = { 100, 50, 100, 100 };

    (void)state;
    assert_true(isnan(between_runs_seen(quiet, 2)));
    assert_true(between_runs_seen(quiet, 5) < 0.006);
    assert_true(between_runs_seen(busy, 5) > 0.10);
    assert_true(between_runs_seen(busy, 5) < 0.20);
    /* Fewer runs know less. */
    assert_true(between_runs_seen(busy, 3) > between_runs_seen(busy, 5));
    assert_true(between_runs_seen(broken, 4) == BETWEEN_RUNS_MOST);
}

static void many_runs_are_taken(void **state)
{
    double medians[64];

    (void)state;
    for (int i = 0; i < 64; i++) {
        medians[i] = 100.0 + i % 2;
    }
    assert_true(between_runs_seen(medians, 64) > 0.01);
    assert_true(between_runs_seen(medians, 64) < 0.02);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_traffic_differ),
        cmocka_unit_test(latency_of_host_memory_has_its_own),
        cmocka_unit_test(several_runs_tell_their_own),
        cmocka_unit_test(many_runs_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
