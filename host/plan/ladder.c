/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ladder.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "quantity.h"

/* Sizes from first to last, by adding a step or by doubling. */
struct ladder {
    const char *name; /* NULL: given in numbers */
    uint64_t first, last, step;
    uint32_t doubles;
    uint32_t is_single; /* 1: a size as it was given */
};

static const struct ladder named[] = {
    { "quick", UINT64_C(32) << 20, UINT64_C(32) << 20, 1, 0, 0 },
    { "shmoo", UINT64_C(1) << 10, UINT64_C(64) << 20, 0, 1, 0 },
};

static uint64_t next_of(const struct ladder *ladder, uint64_t bytes)
{
    return ladder->doubles ? 2 * bytes : bytes + ladder->step;
}

static int32_t parse_part(const char *text, const char *at, size_t length,
    uint64_t *out, struct error *err)
{
    char part[64];

    FAIL_IF(length >= sizeof part, err, NVBW_E_INVALID,
        "\"%.80s\" is neither quick, shmoo, a size nor start/end/step", text);
    memcpy(part, at, length);
    part[length] = '\0';
    return quantity_size(part, out, err);
}

static int32_t parse_numbers(
    const char *text, struct ladder *out, struct error *err)
{
    uint64_t parts[3] = { 0 };
    uint32_t count = 0;

    for (const char *at = text; at != NULL;) {
        const char *const slash = strchr(at, '/');
        const size_t length = slash == NULL ? strlen(at) : (size_t)(slash - at);

        FAIL_IF(count == 3, err, NVBW_E_INVALID,
            "\"%.80s\" has more parts than start/end/step", text);
        TRY(parse_part(text, at, length, &parts[count++], err));
        at = slash == NULL ? NULL : slash + 1;
    }
    FAIL_IF(count == 2, err, NVBW_E_INVALID,
        "\"%.80s\" has two parts, a range has three: start/end/step", text);
    *out = (struct ladder){ NULL, parts[0], count == 1 ? parts[0] : parts[1],
        count == 1 ? 1 : parts[2], 0, count == 1 };
    FAIL_IF(out->first == 0, err, NVBW_E_INVALID,
        "\"%.80s\" begins with no bytes", text);
    FAIL_IF(out->last < out->first, err, NVBW_E_INVALID,
        "\"%.80s\" ends before it begins", text);
    FAIL_IF(out->step == 0, err, NVBW_E_INVALID,
        "\"%.80s\" has a step of no bytes", text);
    FAIL_IF((out->last - out->first) / out->step >= LADDER_LIMIT, err,
        NVBW_E_INVALID, "\"%.80s\" stands for more than %d sizes", text,
        LADDER_LIMIT);
    return NVBW_OK;
}

static int32_t parse(const char *text, struct ladder *out, struct error *err)
{
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(text, named[i].name) == 0) {
            *out = named[i];
            return NVBW_OK;
        }
    }
    return parse_numbers(text, out, err);
}

int32_t ladder_check(const char *text, struct error *err)
{
    struct ladder ladder;

    return parse(text, &ladder, err);
}

/* In the largest unit of which it is a whole number. */
static const char *text_of(struct arena *arena, uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
    size_t unit = 0;

    while (unit < 3 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return arena_format(arena, "%" PRIu64 " %s", bytes, units[unit]);
}

int32_t ladder_expand(const char *text, struct arena *arena, const char ***list,
    uint32_t *count, struct error *err)
{
    struct ladder ladder;

    TRY(parse(text, &ladder, err));
    for (uint64_t bytes = ladder.first; bytes <= ladder.last;
         bytes = next_of(&ladder, bytes)) {
        const char **const grown =
            arena_append(arena, *list, count, sizeof *grown);

        FAIL_IF(grown == NULL, err, NVBW_E_SYSTEM, "no memory for sizes");
        *list = grown;
        grown[*count - 1] = ladder.is_single ? text : text_of(arena, bytes);
        FAIL_IF(grown[*count - 1] == NULL, err, NVBW_E_SYSTEM,
            "no memory for sizes");
    }
    return NVBW_OK;
}
