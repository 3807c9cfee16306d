/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_chase.h"

#include "nvbw/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 5000 };

static struct chase_line *make_lines(void)
{
    struct chase_line *const lines = aligned_alloc(64, LINES * sizeof *lines);

    assert_non_null(lines);
    memset(lines, 0xff, LINES * sizeof *lines);
    return lines;
}

static void assert_visits_all_once(const struct chase *chase)
{
    unsigned char *const seen = calloc(chase->count, 1);
    const struct chase_line *at = chase->at;

    for (uint64_t i = 0; i < chase->count; i++) {
        assert_int_equal(at->rank, i);
        assert_int_equal(seen[at->rank], 0);
        seen[at->rank] = 1;
        at = at->next;
    }
    assert_ptr_equal(at, chase->at);
    free(seen);
}

static void a_random_cycle_visits_every_line_once(void **state)
{
    static const uint64_t counts[] = { 2, 3, 4, 17, 1000, LINES };

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct chase_line *const lines = make_lines();
        struct chase chase;

        assert_int_equal(
            chase_build(lines, counts[i] * 64 + 63, 0, 5, &chase, NULL), 0);
        assert_int_equal(chase.count, counts[i]);
        assert_visits_all_once(&chase);
        free(lines);
    }
}

static void a_random_cycle_is_not_in_order(void **state)
{
    struct chase_line *const lines = make_lines();
    struct chase chase;
    uint32_t neighbours = 0;

    (void)state;
    chase_build(lines, LINES * 64, 0, 5, &chase, NULL);
    for (uint64_t i = 0; i + 1 < LINES; i++) {
        neighbours += lines[i].next == &lines[i + 1];
    }
    assert_true(neighbours < 20);

    const struct chase_line *const second = lines[0].next;

    chase_build(lines, LINES * 64, 0, 5, &chase, NULL);
    assert_ptr_equal(lines[0].next, second);
    free(lines);
}

static void a_stride_goes_by_addresses(void **state)
{
    struct chase_line *const lines = make_lines();
    struct chase chase;

    (void)state;
    assert_int_equal(chase_build(lines, 100 * 64, 256, 5, &chase, NULL), 0);
    assert_int_equal(chase.count, 25);
    assert_ptr_equal(lines[0].next, &lines[4]);
    assert_ptr_equal(lines[96].next, &lines[0]);
    assert_visits_all_once(&chase);
    free(lines);
}

static void a_walk_ends_where_it_must(void **state)
{
    struct chase_line *const lines = make_lines();
    struct chase chase;

    (void)state;
    chase_build(lines, LINES * 64, 0, 5, &chase, NULL);
    for (uint64_t steps = 0; steps < 20; steps++) {
        const uint64_t from = chase.at->rank;

        chase_walk(&chase, steps);
        assert_int_equal(chase.at->rank, (from + steps) % LINES);
    }
    const uint64_t from = chase.at->rank;

    chase_walk(&chase, 3 * LINES + 1);
    assert_int_equal(chase.at->rank, (from + 1) % LINES);
    free(lines);
}

static void what_fits_no_chain_is_skipped(void **state)
{
    struct chase_line *const lines = make_lines();
    struct chase chase;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        chase_build(lines, 127, 0, 5, &chase, &err), NVBW_E_SKIPPED);
    assert_int_equal(err.code, NVBW_SKIP_MEMORY);
    assert_int_equal(
        chase_build(lines, 6400, 100, 5, &chase, &err), NVBW_E_SKIPPED);
    assert_int_equal(chase_build(lines, UINT64_C(1) << 38, 0, 5, &chase, &err),
        NVBW_E_SKIPPED);
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_cycle_visits_every_line_once),
        cmocka_unit_test(a_random_cycle_is_not_in_order),
        cmocka_unit_test(a_stride_goes_by_addresses),
        cmocka_unit_test(a_walk_ends_where_it_must),
        cmocka_unit_test(what_fits_no_chain_is_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
