/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 4096, MANY = 1 << 16 };

static const uint64_t sizes[] = { 0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 511, 512,
    513, 1023, 1024, 1031, 2048 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void words_are_those_of_the_formula(void **state)
{
    uint64_t words[70];

    (void)state;
    pattern_fill(words, sizeof words, 42);
    for (uint64_t i = 0; i < 70; i++) {
        assert_int_equal(words[i], pattern_word(42, i));
    }
    /* Known values: the kernels must give the same. */
    assert_int_equal(pattern_word(0, 1), UINT64_C(0x17fb89ee9dcab42a));
    assert_int_equal(pattern_word(0, 2), UINT64_C(0xc99d164addff6dc2));
}

static void fill_keeps_to_its_bytes(void **state)
{
    (void)state;
    for (size_t n = 0; n < SIZES; n++) {
        for (size_t shift = 0; shift < 3; shift++) {
            unsigned char room[ROOM];

            memset(room, 0x5a, sizeof room);
            pattern_fill(room + 16 + shift, sizes[n], 7);
            for (size_t i = 0; i < 16 + shift; i++) {
                assert_int_equal(room[i], 0x5a);
            }
            for (size_t i = 16 + shift + sizes[n]; i < ROOM; i++) {
                assert_int_equal(room[i], 0x5a);
            }
            assert_int_equal(
                pattern_compare(room + 16 + shift, sizes[n], 7, NULL), 0);
        }
    }
}

static void every_planted_fault_is_found(void **state)
{
    (void)state;
    for (size_t n = 0; n < SIZES; n++) {
        unsigned char room[ROOM];

        pattern_fill(room, sizes[n], 9);
        for (size_t i = 0; i < sizes[n]; i++) {
            struct pattern_fault first = { 0 };

            room[i] ^= 0x10;
            assert_int_equal(pattern_compare(room, sizes[n], 9, &first), 1);
            assert_int_equal(first.offset, i / 8 * 8);
            assert_int_equal(
                first.expected ^ first.actual, UINT64_C(0x10) << (8 * (i % 8)));
            room[i] ^= 0x10;
        }
    }
}

static void faults_are_counted_by_the_word(void **state)
{
    uint64_t words[256];
    struct pattern_fault first;

    (void)state;
    pattern_fill(words, sizeof words, 1);
    words[17]++;
    words[18]++;
    words[255]++;
    assert_int_equal(pattern_compare(words, sizeof words, 1, &first), 3);
    assert_int_equal(first.offset, 17 * 8);
    assert_int_equal(first.actual, first.expected + 1);
    assert_int_equal(pattern_compare(words, sizeof words, 2, &first), 256);
    assert_int_equal(first.offset, 0);
}

static uint64_t plain_sum(const unsigned char *bytes, uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        sum += (uint64_t)bytes[i] << (8 * (i % 8));
    }
    return sum;
}

static void sum_is_that_of_the_bytes(void **state)
{
    (void)state;
    for (size_t n = 0; n < SIZES; n++) {
        unsigned char room[ROOM];

        pattern_fill(room, sizes[n], 3);
        assert_int_equal(pattern_sum(sizes[n], 3), plain_sum(room, sizes[n]));
    }
}

static void shares_continue_each_other(void **state)
{
    uint64_t words[100];

    (void)state;
    pattern_fill(words, 37 * 8, 5);
    pattern_fill(words + 37, 63 * 8, pattern_key_at(5, 37));
    assert_int_equal(pattern_compare(words, sizeof words, 5, NULL), 0);
}

static void keys_differ_in_each_part(void **state)
{
    uint64_t keys[125];
    size_t count = 0;

    (void)state;
    for (uint64_t i = 0; i < 125; i++) {
        keys[count++] = pattern_key(i / 25, i / 5 % 5, i % 5);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(keys[i], keys[k]);
        }
    }
}

static uint64_t count_bit(const uint64_t *words, uint64_t step, uint32_t bit)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        const uint64_t other = step == 0 ? 0 : words[i + step];

        count += (words[i] ^ other) >> bit & 1;
    }
    return count;
}

/* Every bit is set in half of the words and changes in half of the steps from
 * a word to the next, to the next vector, line and page. */
static void no_bit_is_foreseeable(void **state)
{
    static const uint64_t steps[] = { 0, 1, 2, 16, 512 };
    static uint64_t words[MANY + 512];

    (void)state;
    for (uint64_t i = 0; i < sizeof words / sizeof *words; i++) {
        words[i] = pattern_word(pattern_key(1, 2, 3), i);
    }
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++) {
        for (uint32_t bit = 0; bit < 64; bit++) {
            assert_in_range(count_bit(words, steps[step], bit),
                MANY / 2 - MANY / 50, MANY / 2 + MANY / 50);
        }
    }
}

static void every_value_of_a_byte_is_as_frequent(void **state)
{
    uint64_t counts[256] = { 0 };

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t word = pattern_word(pattern_key(3, 2, 1), i);

        for (uint32_t byte = 0; byte < 8; byte++, word >>= 8) {
            counts[word & 255]++;
        }
    }
    for (uint32_t value = 0; value < 256; value++) {
        assert_in_range(counts[value], MANY / 32 * 9 / 10, MANY / 32 * 11 / 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_the_formula),
        cmocka_unit_test(fill_keeps_to_its_bytes),
        cmocka_unit_test(every_planted_fault_is_found),
        cmocka_unit_test(faults_are_counted_by_the_word),
        cmocka_unit_test(sum_is_that_of_the_bytes),
        cmocka_unit_test(shares_continue_each_other),
        cmocka_unit_test(keys_differ_in_each_part),
        cmocka_unit_test(no_bit_is_foreseeable),
        cmocka_unit_test(every_value_of_a_byte_is_as_frequent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
