/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fields.h"

#include <math.h>
#include <string.h>

enum { ENCODE_LIMIT = 256 << 20, DEPTH_LIMIT = 16, ABSENT = UINT32_MAX };

struct reader {
    const unsigned char *at, *end;
    struct arena *arena;
    struct error *err;
    const struct fields *fields; /* for messages */
    const struct field *field;
};

const char *name_of(const struct name *names, uint32_t number)
{
    for (; names->name != NULL; names++) {
        if (names->number == number) {
            return names->name;
        }
    }
    return NULL;
}

int name_find(const struct name *names, const char *name, uint32_t *out_number)
{
    for (; names->name != NULL; names++) {
        if (strcmp(names->name, name) == 0) {
            *out_number = names->number;
            return 1;
        }
    }
    return 0;
}

static const void *member(const void *object, uint32_t offset)
{
    return (const char *)object + offset;
}

static uint32_t count_of(const struct field *field, const void *object)
{
    return *(const uint32_t *)member(object, field->count_offset);
}

/* ---- encoding ---- */

static void put_u32(struct strbuf *buf, uint32_t value)
{
    const unsigned char bytes[4] = { (unsigned char)value,
        (unsigned char)(value >> 8), (unsigned char)(value >> 16),
        (unsigned char)(value >> 24) };

    strbuf_add_n(buf, bytes, sizeof bytes);
}

static void put_u64(struct strbuf *buf, uint64_t value)
{
    put_u32(buf, (uint32_t)value);
    put_u32(buf, (uint32_t)(value >> 32));
}

static void put_f64(struct strbuf *buf, double value)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    put_u64(buf, bits);
}

static void put_text(struct strbuf *buf, const char *text)
{
    if (text == NULL) {
        put_u32(buf, ABSENT);
        return;
    }

    const size_t length = strlen(text);

    put_u32(buf, (uint32_t)length);
    strbuf_add_n(buf, text, length);
}

static void put_word(struct strbuf *buf, const char *text)
{
    put_text(buf, text == NULL ? "" : text);
}

static void put_list(
    struct strbuf *buf, const struct field *field, const void *object)
{
    const uint32_t count = count_of(field, object);
    const void *const list = *(void *const *)member(object, field->offset);

    put_u32(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        switch (field->kind) {
        case FIELD_U32S:
            put_u32(buf, ((const uint32_t *)list)[i]);
            break;
        case FIELD_F64S:
            put_f64(buf, ((const double *)list)[i]);
            break;
        case FIELD_TEXTS:
            put_word(buf, ((const char *const *)list)[i]);
            break;
        default:
            fields_encode(
                field->of, (const char *)list + i * field->of->size, buf);
            break;
        }
    }
}

static void put_field(
    struct strbuf *buf, const struct field *field, const void *object)
{
    const void *const at = member(object, field->offset);

    switch (field->kind) {
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_NAME:
        put_u32(buf, *(const uint32_t *)at);
        break;
    case FIELD_U64:
    case FIELD_I64:
        put_u64(buf, *(const uint64_t *)at);
        break;
    case FIELD_F64:
        put_f64(buf, *(const double *)at);
        break;
    case FIELD_TEXT:
        put_text(buf, *(const char *const *)at);
        break;
    case FIELD_WORD:
        put_word(buf, *(const char *const *)at);
        break;
    case FIELD_ONE:
        fields_encode(field->of, at, buf);
        break;
    default:
        put_list(buf, field, object);
        break;
    }
}

void fields_encode(
    const struct fields *fields, const void *object, struct strbuf *buf)
{
    for (const struct field *field = fields->list; field->name != NULL;
         field++) {
        put_field(buf, field, object);
    }
}

/* ---- decoding ---- */

static int32_t reject(struct reader *in, const char *why)
{
    return error_set(in->err, NVBW_E_INVALID, "malformed %s.%s: %s",
        in->fields->name, in->field->name, why);
}

static size_t left(const struct reader *in)
{
    return (size_t)(in->end - in->at);
}

static int32_t get_u32(struct reader *in, uint32_t *out_value)
{
    if (left(in) < 4) {
        return reject(in, "ends early");
    }
    *out_value = (uint32_t)in->at[0] | (uint32_t)in->at[1] << 8 |
                 (uint32_t)in->at[2] << 16 | (uint32_t)in->at[3] << 24;
    in->at += 4;
    return NVBW_OK;
}

static int32_t get_u64(struct reader *in, uint64_t *out_value)
{
    uint32_t low = 0;
    uint32_t high = 0;

    TRY(get_u32(in, &low));
    TRY(get_u32(in, &high));
    *out_value = (uint64_t)high << 32 | low;
    return NVBW_OK;
}

static int32_t get_text(struct reader *in, const char **out_text)
{
    uint32_t length = 0;

    TRY(get_u32(in, &length));
    if (length == ABSENT) {
        *out_text = NULL;
        return NVBW_OK;
    }
    if (length > left(in)) {
        return reject(in, "text longer than its frame");
    }
    if (memchr(in->at, '\0', length) != NULL) {
        return reject(in, "text holds a NUL");
    }

    char *const text = arena_text_n(in->arena, (const char *)in->at, length);

    if (text == NULL) {
        return reject(in, "too large");
    }
    in->at += length;
    *out_text = text;
    return NVBW_OK;
}

static int32_t get_struct(struct reader *in, const struct fields *fields,
    void *object, uint32_t depth);

/* The same, never NULL. */
static int32_t get_word(struct reader *in, const char **out)
{
    TRY(get_text(in, out));
    *out = *out == NULL ? "" : *out;
    return NVBW_OK;
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

static int32_t get_element(
    struct reader *in, const struct field *field, void *at, uint32_t depth)
{
    switch (field->kind) {
    case FIELD_U32S:
        return get_u32(in, at);
    case FIELD_F64S:
        return get_u64(in, at);
    case FIELD_TEXTS:
        return get_word(in, at);
    default:
        return get_struct(in, field->of, at, depth + 1);
    }
}

/* Every element takes at least four bytes of the frame, so a count that the
 * frame cannot hold is refused before memory is taken for it. */
static int32_t get_list(
    struct reader *in, const struct field *field, void *object, uint32_t depth)
{
    uint32_t count = 0;

    TRY(get_u32(in, &count));
    if (count > left(in) / 4) {
        return reject(in, "more elements than its frame can hold");
    }

    const size_t size = element_size(field);
    char *const list = arena_alloc(in->arena, count, size);

    if (list == NULL) {
        return reject(in, "too large");
    }
    for (uint32_t i = 0; i < count; i++) {
        in->field = field;
        TRY(get_element(in, field, list + i * size, depth));
    }
    *(void **)((char *)object + field->offset) = count == 0 ? NULL : list;
    *(uint32_t *)((char *)object + field->count_offset) = count;
    return NVBW_OK;
}

static int32_t get_field(
    struct reader *in, const struct field *field, void *object, uint32_t depth)
{
    void *const at = (char *)object + field->offset;

    switch (field->kind) {
    case FIELD_U32:
    case FIELD_I32:
        return get_u32(in, at);
    case FIELD_NAME:
        TRY(get_u32(in, at));
        if (name_of(field->names, *(uint32_t *)at) == NULL) {
            return reject(in, "unknown number");
        }
        return NVBW_OK;
    case FIELD_U64:
    case FIELD_I64:
    case FIELD_F64:
        return get_u64(in, at);
    case FIELD_TEXT:
        return get_text(in, at);
    case FIELD_WORD:
        return get_word(in, at);
    case FIELD_ONE:
        return get_struct(in, field->of, at, depth + 1);
    default:
        return get_list(in, field, object, depth);
    }
}

static int32_t get_struct(struct reader *in, const struct fields *fields,
    void *object, uint32_t depth)
{
    const struct fields *const outer = in->fields;

    in->fields = fields;
    for (const struct field *field = fields->list; field->name != NULL;
         field++) {
        in->field = field;
        if (depth > DEPTH_LIMIT) {
            return reject(in, "nested too deep");
        }
        TRY(get_field(in, field, object, depth));
    }
    in->fields = outer;
    return NVBW_OK;
}

int32_t fields_decode(const struct fields *fields, const void *bytes,
    size_t length, struct arena *arena, void *out_object, struct error *err)
{
    struct reader in = { .at = bytes,
        .end = (const unsigned char *)bytes + length,
        .arena = arena,
        .err = err,
        .fields = fields };

    memset(out_object, 0, fields->size);
    TRY(get_struct(&in, fields, out_object, 0));
    FAIL_IF(in.at != in.end, err, NVBW_E_INVALID,
        "malformed %s: %zu bytes too many", fields->name, left(&in));
    return NVBW_OK;
}

int32_t fields_copy(const struct fields *fields, const void *object,
    struct arena *arena, void *out_object, struct error *err)
{
    struct strbuf buf;
    int32_t status = NVBW_OK;

    strbuf_init(&buf, ENCODE_LIMIT);
    fields_encode(fields, object, &buf);
    if (buf.failed) {
        status = error_set(
            err, NVBW_E_INVALID, "%s is too large to copy", fields->name);
    } else {
        status =
            fields_decode(fields, buf.text, buf.length, arena, out_object, err);
    }
    strbuf_free(&buf);
    return status;
}

int fields_equal(
    const struct fields *fields, const void *one, const void *other)
{
    struct strbuf a;
    struct strbuf b;

    strbuf_init(&a, ENCODE_LIMIT);
    strbuf_init(&b, ENCODE_LIMIT);
    fields_encode(fields, one, &a);
    fields_encode(fields, other, &b);

    const int equal = !a.failed && !b.failed && a.length == b.length &&
                      memcmp(a.text, b.text, a.length) == 0;

    strbuf_free(&a);
    strbuf_free(&b);
    return equal;
}
