/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Reads libconfig settings into structs by tables of keys. (plan_read.c) */
#ifndef NVBW_PLAN_READ_H
#define NVBW_PLAN_READ_H

#include <libconfig.h>
#include <stddef.h>

#include "plan_layer.h"
#include "plan_value.h"

/* What all readers share. */
struct reader {
    struct arena *arena;
    struct problems *problems;
    const struct plan_text *text;
    struct plan_layer *layer;
    uint32_t limits; /* read so far */
    int without_memory;
};

struct member;
typedef void read_fn(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object);

/* A key of a group and what reads it into the struct at hand. */
struct member {
    const char *name;
    read_fn *read;
    size_t offset;        /* of the member */
    size_t count_offset;  /* of its count, or of its has_ flag */
    plan_value_fn *check; /* of each text; NULL: what is right depends on the
                             plugins */
};

#define AT(type, object, offset_)                                              \
    ((type *)(void *)((char *)(object) + (offset_)))

struct origin reader_origin(
    const struct reader *reader, const config_setting_t *setting);
/* arena_append that notes when memory is out. */
void *reader_append(
    struct reader *reader, void *list, uint32_t *count, size_t size);
/* The scalar as a person would write it; NULL for groups and lists. */
char *reader_scalar(struct reader *reader, const config_setting_t *setting);
/* Adds the problem that the setting is not what is wanted. */
void reader_refuse(
    struct reader *reader, const config_setting_t *setting, const char *wanted);

/* One text; true or false; a list of texts; the same joined by commas; a
 * plan_value; a plan_value that is no list; a parameter, which may be a list of
 * groups; a group of parameters. */
read_fn reader_text, reader_flag, reader_texts, reader_joined, reader_value,
    reader_single, reader_param, reader_params;

/* 1 for a list that begins with a group. (plan_groups.c) */
int reader_is_groups(const config_setting_t *setting);
/* Fills kind, texts and groups; 0 where a problem was added. (plan_groups.c) */
int reader_groups(struct reader *reader, const config_setting_t *setting,
    struct plan_value *value);

/* Reads each key of a group by its member. rest reads the keys that members
 * do not name; NULL: they are unknown. where names the group in messages. */
void reader_group(struct reader *reader, const config_setting_t *group,
    const struct member *members, const struct member *rest, const char *where,
    void *object);
/* The same for a setting that must be a group. */
void reader_keys(struct reader *reader, const config_setting_t *setting,
    const struct member *members, const char *where, void *object);
/* Calls read for each group of a list of groups. */
void reader_each_group(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object, read_fn *read);

#endif
