/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Structs described by tables.
 *
 * Everything that crosses the pipe between host and worker or stands in the
 * journal is a plain struct with one table that names its members. From that
 * table come the binary codec of frames (here) and the JSON of journal and
 * report (host/evidence/record_json.c): a member is added in one place.
 *
 * Members: fixed-width integers, double (NaN: absent), const char * (NULL:
 * absent; a WORD is never NULL and reads as "" where it is absent), an embedded
 * struct, and lists, whose texts are never NULL either. A list is a pointer `x`
 * with a uint32_t `x_count` beside it. What is decoded lives in the given
 * arena. */
#ifndef NVBW_FIELDS_H
#define NVBW_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"
#include "strbuf.h"

enum field_kind {
    FIELD_U32 = 1,
    FIELD_I32,
    FIELD_U64,
    FIELD_I64,
    FIELD_F64,
    FIELD_TEXT,
    FIELD_WORD, /* a text that is never NULL */
    FIELD_NAME, /* a uint32_t that has a name: by number in frames, by name
                   in JSON */
    FIELD_ONE,  /* an embedded struct */
    FIELD_U32S, /* lists */
    FIELD_F64S,
    FIELD_TEXTS,
    FIELD_MANY /* a list of structs */
};

/* Numbers and their names; ends with a NULL name. */
struct name {
    uint32_t number;
    const char *name;
};
const char *name_of(const struct name *names, uint32_t number); /* or NULL */
/* 1 and *out_number, or 0 where no such name exists. */
int name_find(const struct name *names, const char *name, uint32_t *out_number);

struct field {
    const char *name;
    enum field_kind kind;
    uint32_t offset, count_offset;
    const struct fields *of;  /* ONE and MANY */
    const struct name *names; /* NAME */
};

struct fields {
    const char *name; /* of the struct, for errors */
    size_t size;
    const struct field *list; /* ends with a NULL name */
};

#define FIELD(type, kind_, member)                                             \
    {                                                                          \
        .name = #member, .kind = FIELD_##kind_,                                \
        .offset = offsetof(struct type, member)                                \
    }
#define FIELD_NAMED(type, member, table)                                       \
    {                                                                          \
        .name = #member, .kind = FIELD_NAME,                                   \
        .offset = offsetof(struct type, member), .names = (table)              \
    }
#define FIELD_STRUCT(type, member, table)                                      \
    {                                                                          \
        .name = #member, .kind = FIELD_ONE,                                    \
        .offset = offsetof(struct type, member), .of = (table)                 \
    }
#define FIELD_LIST(type, kind_, member)                                        \
    {                                                                          \
        .name = #member, .kind = FIELD_##kind_,                                \
        .offset = offsetof(struct type, member),                               \
        .count_offset = offsetof(struct type, member##_count)                  \
    }
#define FIELD_STRUCTS(type, member, table)                                     \
    {                                                                          \
        .name = #member, .kind = FIELD_MANY,                                   \
        .offset = offsetof(struct type, member),                               \
        .count_offset = offsetof(struct type, member##_count), .of = (table)   \
    }
#define FIELD_END                                                              \
    {                                                                          \
        .name = NULL                                                           \
    }
#define FIELDS(type, table)                                                    \
    {                                                                          \
        .name = #type, .size = sizeof(struct type), .list = (table)            \
    }

/* Appends the struct's bytes to buf, little-endian, members in table order.
 * buf->failed tells whether it fitted. */
void fields_encode(
    const struct fields *fields, const void *object, struct strbuf *buf);

/* Fills *out_object from exactly length bytes. Every count, length and NAME
 * is checked against the bytes that are there and against the tables; what
 * does not fit is NVBW_E_INVALID and *out_object is to be thrown away. */
int32_t fields_decode(const struct fields *fields, const void *bytes,
    size_t length, struct arena *arena, void *out_object, struct error *err);

/* A deep copy into arena. */
int32_t fields_copy(const struct fields *fields, const void *object,
    struct arena *arena, void *out_object, struct error *err);

/* 1 if both encode to the same bytes. */
int fields_equal(
    const struct fields *fields, const void *one, const void *other);

#endif
