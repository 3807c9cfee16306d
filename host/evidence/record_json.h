/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Structs of common/fields.h to JSON and back, through jansson.
 *
 * Numbers are JSON numbers; a uint64_t above INT64_MAX, which many readers of
 * JSON would round, is the text "0x" and sixteen hexadecimal digits. NaN,
 * infinities, NULL text and empty lists are absent. Bytes of a text that are
 * no UTF-8 become "?". Written with JSON_DOUBLES, doubles come back exactly
 * as they were. */
#ifndef NVBW_RECORD_JSON_H
#define NVBW_RECORD_JSON_H

#include <jansson.h>

#include "fields.h"

/* For json_dumps: as many digits as a double needs. */
#define JSON_DOUBLES JSON_REAL_PRECISION(17)

enum json_absent {
    ABSENT_OMIT = 0, /* journal: absent members are left out */
    ABSENT_NULL = 1  /* reports: they are null, an empty list is [] */
};

/* A new reference, or NULL without memory or where a named number has no
 * name. */
json_t *fields_to_json(
    const struct fields *fields, const void *object, enum json_absent absent);

/* A member that is missing or null is absent: 0, NaN, NULL or no element. One
 * of the wrong type or with an unknown name is NVBW_E_INVALID; an unknown
 * member is ignored, so that older builds read newer journals. */
int32_t fields_from_json(const struct fields *fields, const json_t *json,
    struct arena *arena, void *out_object, struct error *err);

/* One text or number as a member's would be, null where it is absent. */
json_t *text_to_json(const char *text);
json_t *real_to_json(double value);

/* The first line of a journal or a summary. Its version is looked at before
 * anything else: other versions may have other members and names.
 * (journal_read.c) */
int32_t journal_check_header(const json_t *line, struct error *err);

#endif
