/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nvbw/plugin.h"

#define BASE UINT64_C(0x7000000000)

enum { MANY = 1 << 20, SEED = 9 };

static struct chain make(uint64_t bytes, uint64_t stride, uint64_t most)
{
    struct chain chain;

    assert_int_equal(
        chain_make(bytes, stride, SEED, most, &chain, NULL), NVBW_OK);
    chain.memory = BASE;
    return chain;
}

/* By the list, as a GPU would go; every node once, and then the head. */
static void assert_one_cycle(const struct chain *chain)
{
    uint64_t *const list = calloc(chain->count, sizeof *list);
    unsigned char *const seen = calloc(chain->count, 1);
    uint64_t at = chain_at(chain, 0);

    chain_list(chain, list);
    for (uint64_t rank = 0; rank < chain->count; rank++) {
        const uint64_t slot = (at - BASE) / chain->step;

        assert_int_equal(at, chain_at(chain, rank));
        assert_int_equal(at % CHASE_NODE, 0);
        assert_true(slot < chain->count);
        assert_int_equal(seen[slot], 0);
        seen[slot] = 1;
        at = list[slot];
    }
    assert_int_equal(at, chain_at(chain, 0));
    assert_int_equal(at, chain_at(chain, 3 * chain->count));
    free(seen);
    free(list);
}

static void steps_go_in_order(void **state)
{
    const struct chain chain = make(1 << 20, 128, MANY);

    (void)state;
    assert_int_equal(chain.count, 8192);
    assert_one_cycle(&chain);
    for (uint64_t rank = 0; rank < 9000; rank++) {
        assert_int_equal(chain_at(&chain, rank), BASE + rank % 8192 * 128);
    }
}

static void a_random_cycle_is_one_cycle(void **state)
{
    static const uint64_t counts[] = { 2, 3, 4, 5, 17, 1000, 4095, 4096, 4097,
        100000 };

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct chain chain = make(counts[i] * 128 + 127, 0, MANY);

        assert_int_equal(chain.count, counts[i]);
        assert_one_cycle(&chain);
    }
}

static void a_random_cycle_is_not_in_order(void **state)
{
    const struct chain chain = make(8 << 20, 0, MANY);
    uint64_t near = 0;
    uint64_t same = 0;
    uint64_t last = 0;

    (void)state;
    for (uint64_t rank = 1; rank < chain.count; rank++) {
        const uint64_t from = chain_at(&chain, rank - 1);
        const uint64_t to = chain_at(&chain, rank);

        near += (to > from ? to - from : from - to) <= 4096;
        same += to - from == last;
        last = to - from;
    }
    /* Of 65 536 steps some 64 lead within 32 lines by chance. */
    assert_true(near < 200);
    assert_true(same < 20);
}

static void few_nodes_lie_apart(void **state)
{
    const uint64_t bytes = UINT64_C(1) << 30;
    const struct chain chain = make(bytes, 0, 1000);
    uint64_t first_lines = 0;

    (void)state;
    assert_int_equal(chain.count, 1000);
    assert_int_equal(chain.step % CHASE_LINE, 0);
    assert_true(chain.count * chain.step <= bytes);
    assert_true(chain.count * chain.step > bytes / 100 * 99);
    assert_one_cycle(&chain);
    for (uint64_t rank = 0; rank < chain.count; rank++) {
        const uint64_t at = chain_at(&chain, rank) - BASE;

        assert_true(at + CHASE_NODE <= bytes);
        first_lines += at % chain.step == 0;
    }
    assert_true(first_lines < 10);
}

static void other_seeds_and_sizes_are_other_chains(void **state)
{
    struct chain one;
    struct chain other;

    (void)state;
    chain_make(1 << 20, 0, 1, MANY, &one, NULL);
    chain_make(1 << 20, 0, 2, MANY, &other, NULL);
    assert_int_not_equal(chain_tag(&one), chain_tag(&other));
    assert_int_not_equal(chain_at(&one, 1), chain_at(&other, 1));
    chain_make(2 << 20, 0, 1, MANY, &other, NULL);
    assert_int_not_equal(chain_tag(&one), chain_tag(&other));
    chain_make(1 << 20, 128, 1, MANY, &other, NULL);
    assert_int_not_equal(chain_tag(&one), chain_tag(&other));
    chain_make(1 << 20, 0, 1, MANY, &other, NULL);
    assert_int_equal(chain_tag(&one), chain_tag(&other));
}

static void what_does_not_fit_is_refused(void **state)
{
    static const uint64_t bad[][2] = { { 0, 0 }, { 255, 0 }, { 255, 128 },
        { 1 << 20, 100 }, { 1 << 20, 8 }, { 1 << 20, 1 << 20 } };
    struct chain chain;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = { 0 };

        assert_int_equal(
            chain_make(bad[i][0], bad[i][1], SEED, MANY, &chain, &err),
            NVBW_E_SKIPPED);
        assert_int_equal(err.code, NVBW_SKIP_MEMORY);
    }
}

/* A list of 2^30 nodes would take the host's memory. */
static void strides_have_a_bound(void **state)
{
    struct chain chain;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        chain_make(1 << 20, 128, SEED, 8191, &chain, &err), NVBW_E_SKIPPED);
    assert_int_equal(err.code, NVBW_SKIP_MEMORY);
    assert_int_equal(
        chain_make(1 << 20, 128, SEED, 8192, &chain, &err), NVBW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_have_a_bound),
        cmocka_unit_test(steps_go_in_order),
        cmocka_unit_test(a_random_cycle_is_one_cycle),
        cmocka_unit_test(a_random_cycle_is_not_in_order),
        cmocka_unit_test(few_nodes_lie_apart),
        cmocka_unit_test(other_seeds_and_sizes_are_other_chains),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
