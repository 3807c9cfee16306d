/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_ops.h"

#include "cpu_arrays.h"
#include "cpu_store.h"

#include "nvbw/plugin.h"

#include <stddef.h>
#include <string.h>

enum { WORD_BYTES = 8, POISON = 0xa5 };

void cpu_poison(void *memory, uint64_t bytes)
{
    unsigned char *const at = memory;
    store_lanes lanes;
    uint64_t done = 0;

    memset(&lanes, POISON, sizeof lanes);
    if (store_is_aligned(at)) {
        for (; done + sizeof lanes <= bytes; done += sizeof lanes) {
            store_past_cache(at + done, lanes);
        }
    }
    memset(at + done, POISON, bytes - done);
    store_finish();
}

static uint64_t run_copy(const struct cpu_share *share)
{
    uint64_t done = 0;

    if (store_is_aligned(share->dst)) {
        for (; done + CPU_LINE_BYTES <= share->bytes; done += CPU_LINE_BYTES) {
            const unsigned char *const from = share->src + done;
            unsigned char *const to = share->dst + done;
            const store_lanes a = store_load(from);
            const store_lanes b = store_load(from + 16);
            const store_lanes c = store_load(from + 32);
            const store_lanes d = store_load(from + 48);

            store_past_cache(to, a);
            store_past_cache(to + 16, b);
            store_past_cache(to + 32, c);
            store_past_cache(to + 48, d);
        }
    }
    memcpy(share->dst + done, share->src + done, share->bytes - done);
    store_finish();
    return 0;
}

static uint64_t check_copy(
    const struct cpu_share *share, struct pattern_fault *out_first)
{
    return pattern_compare(share->dst, share->bytes, share->src_key, out_first);
}

static uint64_t load_tail(const unsigned char *at, uint64_t bytes)
{
    uint64_t word = 0;

    memcpy(&word, at, bytes < WORD_BYTES ? bytes : WORD_BYTES);
    return word;
}

/* Eight independent sums of two words each, so that additions never wait for
 * each other. */
static uint64_t run_read(const struct cpu_share *share)
{
    enum { SUMS = 8, STEP = SUMS * 16 };
    store_lanes sums[SUMS] = { { 0, 0 } };
    uint64_t done = 0;

    for (; done + STEP <= share->bytes; done += STEP) {
        for (uint64_t i = 0; i < SUMS; i++) {
            sums[i] += store_load(share->src + done + 16 * i);
        }
    }
    uint64_t sum = 0;

    for (uint64_t i = 0; i < SUMS; i++) {
        sum += sums[i][0] + sums[i][1];
    }
    for (; done < share->bytes; done += WORD_BYTES) {
        sum += load_tail(share->src + done, share->bytes - done);
    }
    return sum;
}

static uint64_t sum_read(const struct cpu_share *share)
{
    return pattern_sum(share->bytes, share->src_key);
}

/* Words that count up: cheap enough not to slow the stores down, and a word
 * in the wrong place still shows. */
static uint64_t run_write(const struct cpu_share *share)
{
    const store_lanes one_line = { 8, 8 };
    store_lanes words[4];
    uint64_t done = 0;

    for (uint64_t i = 0; i < 4; i++) {
        words[i] =
            (store_lanes){ share->value + 2 * i, share->value + 2 * i + 1 };
    }
    if (store_is_aligned(share->dst)) {
        for (; done + CPU_LINE_BYTES <= share->bytes; done += CPU_LINE_BYTES) {
            for (uint64_t i = 0; i < 4; i++) {
                store_past_cache(share->dst + done + 16 * i, words[i]);
                words[i] += one_line;
            }
        }
    }
    for (; done < share->bytes; done += WORD_BYTES) {
        const uint64_t word = share->value + done / WORD_BYTES;
        const uint64_t left = share->bytes - done;

        memcpy(share->dst + done, &word, left < WORD_BYTES ? left : WORD_BYTES);
    }
    store_finish();
    return 0;
}

static uint64_t check_write(
    const struct cpu_share *share, struct pattern_fault *out_first)
{
    uint64_t faults = 0;

    for (uint64_t done = 0; done < share->bytes; done += WORD_BYTES) {
        const uint64_t left = share->bytes - done;
        const uint64_t word = share->value + done / WORD_BYTES;
        const uint64_t expected = load_tail((const unsigned char *)&word, left);
        const uint64_t actual = load_tail(share->dst + done, left);

        if (expected != actual && faults++ == 0) {
            out_first->offset = done;
            out_first->expected = expected;
            out_first->actual = actual;
        }
    }
    return faults;
}

static const struct cpu_op table[] = {
    [NVBW_OP_COPY] = { .src = 1,
        .dst = 1,
        .payload = 1,
        .traffic = 2,
        .element = 1,
        .fill = pattern_fill,
        .run = run_copy,
        .check = check_copy },
    [NVBW_OP_READ] = { .src = 1,
        .payload = 1,
        .traffic = 1,
        .element = 1,
        .fill = pattern_fill,
        .run = run_read,
        .sum = sum_read },
    [NVBW_OP_WRITE] = { .dst = 1,
        .payload = 1,
        .traffic = 1,
        .element = 1,
        .run = run_write,
        .check = check_write },
    [NVBW_OP_TRIAD] = { .src = 1,
        .third = 1,
        .dst = 1,
        .payload = 3,
        .traffic = 3,
        .element = sizeof(double),
        .fill = arrays_fill,
        .run = arrays_run_triad,
        .check = arrays_check_triad },
    [NVBW_OP_SCALE] = { .src = 1,
        .dst = 1,
        .payload = 2,
        .traffic = 2,
        .element = sizeof(double),
        .fill = arrays_fill,
        .run = arrays_run_scale,
        .check = arrays_check_scale },
    [NVBW_OP_ADD] = { .src = 1,
        .third = 1,
        .dst = 1,
        .payload = 3,
        .traffic = 3,
        .element = sizeof(double),
        .fill = arrays_fill,
        .run = arrays_run_add,
        .check = arrays_check_add },
    [NVBW_OP_DOT] = { .src = 1,
        .third = 1,
        .payload = 2,
        .traffic = 2,
        .element = sizeof(double),
        .fill = arrays_fill_small,
        .run = arrays_run_dot,
        .sum = arrays_sum_dot },
};

const struct cpu_op *cpu_op_find(uint32_t operation)
{
    if (operation >= sizeof table / sizeof table[0] ||
        table[operation].run == NULL) {
        return NULL;
    }
    return &table[operation];
}
