/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LIMIT = 64 };

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

static int lower(char c)
{
    return tolower((unsigned char)c);
}

uint32_t nearest_distance(const char *one, const char *other)
{
    const size_t rows = strlen(one);
    const size_t cols = strlen(other);
    uint32_t table[NAME_LIMIT][NAME_LIMIT];

    if (rows >= NAME_LIMIT || cols >= NAME_LIMIT) {
        return UINT32_MAX;
    }
    for (uint32_t row = 0; row <= rows; row++) {
        table[row][0] = row;
    }
    for (uint32_t col = 0; col <= cols; col++) {
        table[0][col] = col;
    }
    for (size_t row = 1; row <= rows; row++) {
        for (size_t col = 1; col <= cols; col++) {
            const int a = lower(one[row - 1]);
            const int b = lower(other[col - 1]);
            uint32_t best = table[row - 1][col - 1] + (a != b);

            best = least(best, table[row - 1][col] + 1);
            best = least(best, table[row][col - 1] + 1);
            if (row > 1 && col > 1 && a == lower(other[col - 2]) &&
                b == lower(one[row - 2])) {
                best = least(best, table[row - 2][col - 2] + 1);
            }
            table[row][col] = best;
        }
    }
    return table[rows][cols];
}

void nearest_begin(struct nearest *nearest, const char *name)
{
    *nearest = (struct nearest){ .name = name, .distance = UINT32_MAX };
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    if (candidate == NULL) {
        return;
    }

    const uint32_t distance = nearest_distance(nearest->name, candidate);
    const size_t length = strlen(candidate);

    /* More than a third of the letters wrong is another word, not a slip. */
    if (distance <= length / 3 + 1 && distance < length &&
        distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}

const char *nearest_hint(
    const struct nearest *nearest, char out[NEAREST_HINT_BYTES])
{
    out[0] = '\0';
    if (nearest->best != NULL) {
        snprintf(
            out, NEAREST_HINT_BYTES, ", did you mean \"%s\"", nearest->best);
    }
    return out;
}
