/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "efficiency.h"

#include <fnmatch.h>
#include <string.h>

const struct name efficiency_kinds[] = {
    { EFFICIENCY_MEASURED, "measured" },
    { EFFICIENCY_PUBLISHED, "published" },
    { EFFICIENCY_ESTIMATE, "estimate" },
    { 0, NULL },
};

static const struct field row_list[] = {
    FIELD_STRUCT(efficiency_row, traffic, &traffic_fields),
    FIELD(efficiency_row, F64, efficiency),
    FIELD(efficiency_row, F64, spread),
    FIELD_NAMED(efficiency_row, kind, efficiency_kinds),
    FIELD(efficiency_row, WORD, source),
    FIELD_STRUCT(efficiency_row, origin, &origin_fields),
    FIELD_END,
};
static const struct fields row_fields = FIELDS(efficiency_row, row_list);

static const struct field file_list[] = {
    FIELD(efficiency_file, WORD, file),
    FIELD(efficiency_file, TEXT, sha256),
    FIELD(efficiency_file, WORD, name),
    FIELD_LIST(efficiency_file, TEXTS, gpus),
    FIELD(efficiency_file, U32, from_plan),
    FIELD_STRUCTS(efficiency_file, rows, &row_fields),
    FIELD_END,
};
const struct fields efficiency_file_fields = FIELDS(efficiency_file, file_list);

/* One more than the literal characters of the longest glob that matches; 0:
 * none matches. */
static size_t nearness(const struct efficiency_file *file, const char *gpu)
{
    size_t best = 0;

    for (uint32_t i = 0; gpu != NULL && i < file->gpus_count; i++) {
        const char *const glob = file->gpus[i];
        size_t literals = 1;

        if (glob == NULL || fnmatch(glob, gpu, 0) != 0) {
            continue;
        }
        for (const char *at = glob; *at != '\0'; at++) {
            literals += strchr("*?[]", *at) == NULL;
        }
        best = literals > best ? literals : best;
    }
    return best > 0 && file->from_plan ? SIZE_MAX : best;
}

int efficiency_matches(const struct efficiency_file *file, const char *gpu)
{
    return nearness(file, gpu) > 0;
}

static const struct efficiency_row *find_row(
    const struct efficiency_file *file, const struct traffic *traffic)
{
    for (uint32_t i = 0; i < file->rows_count; i++) {
        if (traffic_equal(&file->rows[i].traffic, traffic)) {
            return &file->rows[i];
        }
    }
    return NULL;
}

const struct efficiency_row *efficiency_find(const struct efficiency_file *list,
    uint32_t count, const char *gpu, const struct traffic *traffic)
{
    const struct efficiency_row *best = NULL;
    size_t best_nearness = 0;

    for (uint32_t i = 0; i < count; i++) {
        const size_t near = nearness(&list[i], gpu);
        const struct efficiency_row *const row =
            near > best_nearness ? find_row(&list[i], traffic) : NULL;

        if (row != NULL) {
            best = row;
            best_nearness = near;
        }
    }
    return best;
}
