/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_ops.h"

#include "nvbw/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 2048, GUARD = 0x5a };

static const uint64_t sizes[] = { 0, 1, 7, 8, 15, 16, 63, 64, 65, 127, 128, 129,
    500, 1000, 1024 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct arrays {
    _Alignas(64) unsigned char src[ROOM], third[ROOM], dst[ROOM];
};

/* A share at this offset of all arrays, filled; returns it ready to run. */
static struct cpu_share lay_out(const struct cpu_op *op, struct arrays *arrays,
    uint64_t offset, uint64_t bytes)
{
    const struct cpu_share share = {
        .src = op->src ? arrays->src + offset : NULL,
        .third = op->third ? arrays->third + offset : NULL,
        .dst = op->dst ? arrays->dst + offset : NULL,
        .bytes = bytes / op->element * op->element,
        .src_key = 11,
        .third_key = 12,
        .value = 1234567,
    };

    memset(arrays, GUARD, sizeof *arrays);
    if (op->src) {
        op->fill(arrays->src + offset, share.bytes, share.src_key);
    }
    if (op->third) {
        op->fill(arrays->third + offset, share.bytes, share.third_key);
    }
    if (op->dst) {
        cpu_poison(arrays->dst + offset, share.bytes);
    }
    return share;
}

static void assert_guarded(
    const unsigned char *array, uint64_t offset, uint64_t bytes)
{
    for (uint64_t i = 0; i < ROOM; i++) {
        if (i < offset || i >= offset + bytes) {
            assert_int_equal(array[i], GUARD);
        }
    }
}

/* Right, and nothing beyond its bytes. */
static void assert_runs(
    const struct cpu_op *op, uint64_t offset, uint64_t bytes)
{
    struct arrays arrays;
    const struct cpu_share share = lay_out(op, &arrays, offset, bytes);
    struct pattern_fault first = { 0 };

    if (op->dst && share.bytes > 0) {
        assert_true(op->check(&share, &first) > 0);
    }
    const uint64_t sum = op->run(&share);

    if (op->sum != NULL) {
        assert_int_equal(sum, op->sum(&share));
    } else {
        assert_int_equal(op->check(&share, &first), 0);
    }
    assert_guarded(arrays.dst, offset, op->dst ? share.bytes : 0);
}

static const uint32_t operations[] = { NVBW_OP_COPY, NVBW_OP_READ,
    NVBW_OP_WRITE, NVBW_OP_TRIAD, NVBW_OP_SCALE, NVBW_OP_ADD, NVBW_OP_DOT };
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void all_sizes_and_alignments_are_right(void **state)
{
    (void)state;
    for (size_t o = 0; o < OPERATIONS; o++) {
        const struct cpu_op *const op = cpu_op_find(operations[o]);

        assert_non_null(op);
        for (size_t n = 0; n < SIZES; n++) {
            assert_runs(op, 64, sizes[n]);
            assert_runs(op, 72, sizes[n]);
            assert_runs(op, 67, sizes[n]);
        }
    }
}

/* Every byte of a destination counts. */
static void wrong_bytes_of_destinations_are_found(void **state)
{
    (void)state;
    for (size_t o = 0; o < OPERATIONS; o++) {
        const struct cpu_op *const op = cpu_op_find(operations[o]);
        struct arrays arrays;

        if (!op->dst) {
            continue;
        }
        const struct cpu_share share = lay_out(op, &arrays, 0, 1000);

        op->run(&share);
        for (uint64_t i = 0; i < share.bytes; i++) {
            struct pattern_fault first = { 0 };

            share.dst[i] ^= 1;
            assert_int_equal(op->check(&share, &first), 1);
            assert_int_equal(first.offset, i / 8 * 8);
            assert_int_not_equal(first.expected, first.actual);
            share.dst[i] ^= 1;
        }
        assert_int_equal(op->check(&share, &(struct pattern_fault){ 0 }), 0);
    }
}

/* Every byte of a source reaches the sum. Doubles hide no more than the
 * lowest bits, so there a byte that changes the number is turned. */
static void wrong_bytes_of_sources_change_sums(void **state)
{
    (void)state;
    struct arrays arrays;
    const struct cpu_op *const read = cpu_op_find(NVBW_OP_READ);
    const struct cpu_share share = lay_out(read, &arrays, 0, 1001);

    for (uint64_t i = 0; i < share.bytes; i++) {
        arrays.src[i] ^= 1;
        assert_int_not_equal(read->run(&share), read->sum(&share));
        arrays.src[i] ^= 1;
    }
    const struct cpu_op *const dot = cpu_op_find(NVBW_OP_DOT);
    const struct cpu_share pair = lay_out(dot, &arrays, 0, 1000);

    for (uint64_t i = 0; i < pair.bytes / 8; i++) {
        double value;

        memcpy(&value, arrays.third + 8 * i, 8);
        const double other = value + 1;

        memcpy(arrays.third + 8 * i, &other, 8);
        double factor;

        memcpy(&factor, arrays.src + 8 * i, 8);
        if (factor != 0) {
            assert_int_not_equal(dot->run(&pair), dot->sum(&pair));
        }
        memcpy(arrays.third + 8 * i, &value, 8);
    }
}

static void a_skipped_write_shows(void **state)
{
    (void)state;
    struct arrays arrays;
    const struct cpu_op *const op = cpu_op_find(NVBW_OP_WRITE);
    struct cpu_share share = lay_out(op, &arrays, 0, 1024);
    struct pattern_fault first = { 0 };

    op->run(&share);
    share.value += 1;
    assert_int_equal(op->check(&share, &first), 128);
}

static void triad_is_what_it_says(void **state)
{
    (void)state;
    struct arrays arrays;
    const struct cpu_op *const op = cpu_op_find(NVBW_OP_TRIAD);
    const struct cpu_share share = lay_out(op, &arrays, 0, 1024);
    double a[128];
    double b[128];
    double c[128];

    op->run(&share);
    memcpy(a, arrays.dst, sizeof a);
    memcpy(b, arrays.src, sizeof b);
    memcpy(c, arrays.third, sizeof c);
    for (size_t i = 0; i < 128; i++) {
        assert_true(a[i] == b[i] + 3.0 * c[i]);
    }
}

static void what_cpus_do_not_do_has_no_row(void **state)
{
    (void)state;
    assert_null(cpu_op_find(0));
    assert_null(cpu_op_find(NVBW_OP_SPLIT));
    assert_null(cpu_op_find(NVBW_OP_CHASE));
    assert_null(cpu_op_find(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_and_alignments_are_right),
        cmocka_unit_test(wrong_bytes_of_destinations_are_found),
        cmocka_unit_test(wrong_bytes_of_sources_change_sums),
        cmocka_unit_test(a_skipped_write_shows),
        cmocka_unit_test(triad_is_what_it_says),
        cmocka_unit_test(what_cpus_do_not_do_has_no_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
