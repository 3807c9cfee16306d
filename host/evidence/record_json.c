/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "record_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json_reader {
    struct arena *arena;
    struct error *err;
    const struct fields *fields; /* for messages */
    const struct field *field;
};

static uint32_t count_of(const struct field *field, const void *object)
{
    return *(const uint32_t *)((const char *)object + field->count_offset);
}

/* ---- to JSON ---- */

static int is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Length of the UTF-8 sequence that starts at text, 0 if none does. Overlong
 * forms and surrogates are left to jansson to refuse, which ends the same:
 * the caller then keeps ASCII only. */
static size_t sequence_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
    } kinds[] = { { 0x80, 0x00 }, { 0xe0, 0xc0 }, { 0xf0, 0xe0 },
        { 0xf8, 0xf0 } };

    for (size_t kind = 0; kind < 4; kind++) {
        if ((text[0] & kinds[kind].mask) != kinds[kind].lead) {
            continue;
        }
        for (size_t i = 1; i <= kind; i++) {
            if (!is_continuation(text[i])) {
                return 0;
            }
        }
        return kind + 1;
    }
    return 0;
}

/* Text with '?' for every byte that is not part of a UTF-8 sequence, or, with
 * ascii, for every byte beyond ASCII. */
static json_t *repaired_text(const char *text, int ascii)
{
    char *const copy = strdup(text);
    json_t *json = NULL;

    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; copy[i] != '\0';) {
        const size_t length = sequence_length((unsigned char *)copy + i);

        if (length == 0 || (ascii && length > 1)) {
            copy[i] = '?';
        }
        i += length > 1 && !ascii ? length : 1;
    }
    json = json_string(copy);
    free(copy);
    return json;
}

/* What a library or driver says may be in any encoding; a journal must not
 * fail on it. */
json_t *text_to_json(const char *text)
{
    json_t *json = NULL;

    if (text == NULL) {
        return json_null();
    }
    json = json_string(text);
    if (json == NULL) {
        json = repaired_text(text, 0);
    }
    return json != NULL ? json : repaired_text(text, 1);
}

/* JSON numbers of jansson are signed 64-bit; what lies above is written as
 * text, "0xffffffffffffffff". */
static json_t *u64_to_json(uint64_t value)
{
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    return json_sprintf("0x%016" PRIx64, value);
}

json_t *real_to_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *name_to_json(const struct name *names, uint32_t number)
{
    const char *const name = name_of(names, number);

    return name == NULL ? NULL : json_string(name);
}

static json_t *element_to_json(const struct field *field, const void *list,
    uint32_t i, enum json_absent absent)
{
    switch (field->kind) {
    case FIELD_U32S:
        return json_integer(((const uint32_t *)list)[i]);
    case FIELD_F64S:
        return real_to_json(((const double *)list)[i]);
    case FIELD_TEXTS:
        return text_to_json(((const char *const *)list)[i]);
    default:
        return fields_to_json(field->of,
            (const char *)list + (size_t)i * field->of->size, absent);
    }
}

static json_t *list_to_json(
    const struct field *field, const void *object, enum json_absent absent)
{
    const uint32_t count = count_of(field, object);
    const void *const list =
        *(void *const *)((const char *)object + field->offset);
    json_t *const array = json_array();

    for (uint32_t i = 0; i < count; i++) {
        json_t *const element = element_to_json(field, list, i, absent);

        if (json_array_append_new(array, element) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *field_to_json(
    const struct field *field, const void *object, enum json_absent absent)
{
    const void *const at = (const char *)object + field->offset;

    switch (field->kind) {
    case FIELD_U32:
        return json_integer(*(const uint32_t *)at);
    case FIELD_I32:
        return json_integer(*(const int32_t *)at);
    case FIELD_U64:
        return u64_to_json(*(const uint64_t *)at);
    case FIELD_I64:
        return json_integer(*(const int64_t *)at);
    case FIELD_F64:
        return real_to_json(*(const double *)at);
    case FIELD_TEXT:
    case FIELD_WORD:
        return text_to_json(*(const char *const *)at);
    case FIELD_NAME:
        return name_to_json(field->names, *(const uint32_t *)at);
    case FIELD_ONE:
        return fields_to_json(field->of, at, absent);
    default:
        return list_to_json(field, object, absent);
    }
}

static int is_absent(const json_t *json)
{
    return json_is_null(json) ||
           (json_is_array(json) && json_array_size(json) == 0);
}

json_t *fields_to_json(
    const struct fields *fields, const void *object, enum json_absent absent)
{
    json_t *const json = json_object();

    for (const struct field *field = fields->list; field->name != NULL;
         field++) {
        json_t *const value = field_to_json(field, object, absent);

        if (absent == ABSENT_OMIT && value != NULL && is_absent(value)) {
            json_decref(value);
            continue;
        }
        if (json_object_set_new_nocheck(json, field->name, value) != 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

/* ---- from JSON ---- */

static int32_t reject(struct json_reader *in, const char *why)
{
    return error_set(in->err, NVBW_E_INVALID, "malformed %s.%s: %s",
        in->fields->name, in->field->name, why);
}

static int32_t get_integer(struct json_reader *in, const json_t *json,
    int64_t least, int64_t most, int64_t *out_value)
{
    if (!json_is_integer(json)) {
        return reject(in, "not an integer");
    }
    *out_value = json_integer_value(json);
    if (*out_value < least || *out_value > most) {
        return reject(in, "out of range");
    }
    return NVBW_OK;
}

static int32_t get_u32(
    struct json_reader *in, const json_t *json, uint32_t *out_value)
{
    int64_t value = 0;

    TRY(get_integer(in, json, 0, UINT32_MAX, &value));
    *out_value = (uint32_t)value;
    return NVBW_OK;
}

static int32_t get_i32(
    struct json_reader *in, const json_t *json, int32_t *out_value)
{
    int64_t value = 0;

    TRY(get_integer(in, json, INT32_MIN, INT32_MAX, &value));
    *out_value = (int32_t)value;
    return NVBW_OK;
}

static int32_t get_u64(
    struct json_reader *in, const json_t *json, uint64_t *out_value)
{
    int64_t value = 0;

    if (json_is_string(json)) {
        const char *const text = json_string_value(json);
        char *end = NULL;

        if (strncmp(text, "0x", 2) != 0) {
            return reject(in, "not a number");
        }
        errno = 0;
        *out_value = strtoull(text, &end, 16);
        if (errno != 0 || *end != '\0' || text[2] == '\0') {
            return reject(in, "not a number");
        }
        return NVBW_OK;
    }
    TRY(get_integer(in, json, 0, INT64_MAX, &value));
    *out_value = (uint64_t)value;
    return NVBW_OK;
}

static int32_t get_f64(
    struct json_reader *in, const json_t *json, double *out_value)
{
    if (json == NULL || json_is_null(json)) {
        *out_value = NAN;
        return NVBW_OK;
    }
    if (!json_is_number(json)) {
        return reject(in, "not a number");
    }
    *out_value = json_number_value(json);
    return NVBW_OK;
}

static int32_t get_text(
    struct json_reader *in, const json_t *json, const char **out_text)
{
    if (json_is_null(json)) {
        *out_text = NULL;
        return NVBW_OK;
    }
    if (!json_is_string(json)) {
        return reject(in, "not text");
    }
    *out_text = arena_text(in->arena, json_string_value(json));
    return *out_text == NULL ? reject(in, "too large") : NVBW_OK;
}

static int32_t get_name(
    struct json_reader *in, const json_t *json, uint32_t *out_number)
{
    if (!json_is_string(json)) {
        return reject(in, "not a name");
    }
    if (!name_find(in->field->names, json_string_value(json), out_number)) {
        return error_set(in->err, NVBW_E_INVALID,
            "malformed %s.%s: unknown name \"%s\"", in->fields->name,
            in->field->name, json_string_value(json));
    }
    return NVBW_OK;
}

static int32_t get_struct(struct json_reader *in, const struct fields *fields,
    const json_t *json, void *object);

static int32_t get_element(
    struct json_reader *in, const json_t *json, void *list, size_t i)
{
    const struct field *const field = in->field;

    switch (field->kind) {
    case FIELD_U32S:
        return get_u32(in, json, (uint32_t *)list + i);
    case FIELD_F64S:
        return get_f64(in, json, (double *)list + i);
    case FIELD_TEXTS:
        return get_text(in, json, (const char **)list + i);
    default:
        if (!json_is_object(json)) {
            return reject(in, "not an object");
        }
        return get_struct(
            in, field->of, json, (char *)list + i * field->of->size);
    }
}

static size_t element_size(const struct field *field)
{
    switch (field->kind) {
    case FIELD_U32S:
        return sizeof(uint32_t);
    case FIELD_F64S:
        return sizeof(double);
    case FIELD_TEXTS:
        return sizeof(const char *);
    default:
        return field->of->size;
    }
}

static int32_t get_list(
    struct json_reader *in, const json_t *json, void *object)
{
    const struct field *const field = in->field;
    const size_t count = json_array_size(json);

    if (!json_is_array(json)) {
        return reject(in, "not a list");
    }
    if (count == 0) {
        return NVBW_OK;
    }

    void *const list = arena_alloc(in->arena, count, element_size(field));

    if (list == NULL || count > UINT32_MAX) {
        return reject(in, "too large");
    }
    for (size_t i = 0; i < count; i++) {
        in->field = field;
        TRY(get_element(in, json_array_get(json, i), list, i));
    }
    *(void **)((char *)object + field->offset) = list;
    *(uint32_t *)((char *)object + field->count_offset) = (uint32_t)count;
    return NVBW_OK;
}

/* json is NULL or null where the member is absent. The object is zeroed, so
 * only a double and what is embedded have anything to set then. */
static int32_t get_field(
    struct json_reader *in, const json_t *json, void *object)
{
    const struct field *const field = in->field;
    void *const at = (char *)object + field->offset;

    if (field->kind == FIELD_F64) {
        return get_f64(in, json, at);
    }
    if (field->kind == FIELD_ONE) {
        if (json != NULL && !json_is_null(json) && !json_is_object(json)) {
            return reject(in, "not an object");
        }
        return get_struct(in, field->of, json, at);
    }
    if (json == NULL || json_is_null(json)) {
        if (field->kind == FIELD_WORD) {
            *(const char **)at = "";
        }
        return NVBW_OK;
    }
    switch (field->kind) {
    case FIELD_U32:
        return get_u32(in, json, at);
    case FIELD_I32:
        return get_i32(in, json, at);
    case FIELD_U64:
        return get_u64(in, json, at);
    case FIELD_I64:
        return get_integer(in, json, INT64_MIN, INT64_MAX, at);
    case FIELD_TEXT:
    case FIELD_WORD:
        return get_text(in, json, at);
    case FIELD_NAME:
        return get_name(in, json, at);
    default:
        return get_list(in, json, object);
    }
}

static int32_t get_struct(struct json_reader *in, const struct fields *fields,
    const json_t *json, void *object)
{
    const struct fields *const outer = in->fields;

    in->fields = fields;
    for (const struct field *field = fields->list; field->name != NULL;
         field++) {
        in->field = field;
        TRY(get_field(in, json_object_get(json, field->name), object));
    }
    in->fields = outer;
    return NVBW_OK;
}

int32_t fields_from_json(const struct fields *fields, const json_t *json,
    struct arena *arena, void *out_object, struct error *err)
{
    struct json_reader in = { .arena = arena, .err = err, .fields = fields };

    memset(out_object, 0, fields->size);
    FAIL_IF(!json_is_object(json), err, NVBW_E_INVALID,
        "malformed %s: not an object", fields->name);
    return get_struct(&in, fields, json, out_object);
}
