/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Structs of common/fields.h to JSON and back, through jansson. */
#ifndef NVBW_RECORD_JSON_H
#define NVBW_RECORD_JSON_H

#include <jansson.h>

#include "fields.h"

enum json_absent {
    ABSENT_OMIT = 0, /* journal: absent members are left out */
    ABSENT_NULL = 1  /* reports: they are null */
};

/* A new reference, or NULL without memory. NaN and NULL text are absent. */
json_t *fields_to_json(
    const struct fields *fields, const void *object, enum json_absent absent);

/* A member that is missing or null is absent; one of the wrong type or an
 * unknown name is NVBW_E_INVALID; an unknown member is ignored, so that older
 * builds read newer journals. */
int32_t fields_from_json(const struct fields *fields, const json_t *json,
    struct arena *arena, void *out_object, struct error *err);

#endif
