/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "efficiency.h"

#include <math.h>
#include <sha256.h>
#include <string.h>

#include "nearest.h"
#include "plan_read.h"
#include "quantity.h"
#include "state.h"

/* A file as it is written: rows name their sources. */
struct source_text {
    const char *name, *kind, *text;
};

struct row_text {
    const char *link, *by, *way, *load, *efficiency, *spread, *source;
    struct origin origin;
};

struct file_text {
    const char *name;
    const char **gpus;
    uint32_t gpus_count;
    struct source_text *sources;
    uint32_t sources_count;
    struct row_text *rows;
    uint32_t rows_count;
};

/* ---- What the keys may say ---------------------------------------------- */

static int32_t check_name(
    const struct name *names, const char *text, struct error *err)
{
    struct nearest nearest;
    char hint[NEAREST_HINT_BYTES];
    uint32_t number = 0;

    if (name_find(names, text, &number) && strcmp(text, "none") != 0) {
        return NVBW_OK;
    }
    nearest_begin(&nearest, text);
    for (; names->name != NULL; names++) {
        nearest_offer(
            &nearest, strcmp(names->name, "none") == 0 ? NULL : names->name);
    }
    return error_set(err, NVBW_E_INVALID, "\"%.80s\" is not known here%s", text,
        nearest_hint(&nearest, hint));
}

static int32_t check_link(const char *text, struct error *err)
{
    return check_name(link_names, text, err);
}

static int32_t check_initiator(const char *text, struct error *err)
{
    return check_name(initiator_names, text, err);
}

static int32_t check_way(const char *text, struct error *err)
{
    return check_name(way_names, text, err);
}

static int32_t check_load(const char *text, struct error *err)
{
    return check_name(load_names, text, err);
}

static int32_t check_kind(const char *text, struct error *err)
{
    return check_name(efficiency_kinds, text, err);
}

/* More than the whole link is a mistake, and so is next to nothing of it. */
static int32_t check_efficiency(const char *text, struct error *err)
{
    double value = NAN;

    TRY(quantity_real(text, NVBW_UNIT_RATIO, &value, err));
    FAIL_IF(!(value >= 0.01 && value <= 1.0), err, NVBW_E_INVALID,
        "\"%.80s\" is no share of a link, write one from \"1 %%\" to "
        "\"100 %%\"",
        text);
    return NVBW_OK;
}

static int32_t check_spread(const char *text, struct error *err)
{
    double value = NAN;

    TRY(quantity_real(text, NVBW_UNIT_RATIO, &value, err));
    FAIL_IF(!(value >= 0.0 && value <= 0.5), err, NVBW_E_INVALID,
        "\"%.80s\" is no spread of healthy cells, write one from \"0 %%\" to "
        "\"50 %%\"",
        text);
    return NVBW_OK;
}

/* ---- Reading ------------------------------------------------------------ */

#define SOURCE(member_, check_)                                                \
    {                                                                          \
        .name = #member_, .read = reader_text,                                 \
        .offset = offsetof(struct source_text, member_), .check = (check_)     \
    }
static const struct member source_members[] = {
    SOURCE(name, plan_value_text),
    SOURCE(kind, check_kind),
    SOURCE(text, plan_value_text),
    { .name = NULL },
};

#define ROW(member_, check_)                                                   \
    {                                                                          \
        .name = #member_, .read = reader_text,                                 \
        .offset = offsetof(struct row_text, member_), .check = (check_)        \
    }
static const struct member row_members[] = {
    ROW(link, check_link),
    ROW(by, check_initiator),
    ROW(way, check_way),
    ROW(load, check_load),
    ROW(efficiency, check_efficiency),
    ROW(spread, check_spread),
    ROW(source, plan_value_text),
    { .name = NULL },
};

static void read_source(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct file_text *const file = object;
    struct source_text source = { 0 };

    (void)member;
    reader_group(reader, group, source_members, NULL, "a source", &source);
    if (source.name == NULL || source.kind == NULL || source.text == NULL) {
        problem_add(reader->problems, reader_origin(reader, group), 0,
            "a source needs \"name\", \"kind\" and \"text\"");
        return;
    }

    struct source_text *const grown = reader_append(
        reader, file->sources, &file->sources_count, sizeof *grown);

    if (grown != NULL) {
        file->sources = grown;
        grown[file->sources_count - 1] = source;
    }
}

static void read_sources(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader_each_group(reader, setting, member, object, read_source);
}

static int is_whole(const struct row_text *row)
{
    return row->link != NULL && row->by != NULL && row->way != NULL &&
           row->load != NULL && row->efficiency != NULL && row->source != NULL;
}

static void read_row(struct reader *reader, const config_setting_t *group,
    const struct member *member, void *object)
{
    struct file_text *const file = object;
    struct row_text row = { .origin = reader_origin(reader, group) };

    (void)member;
    reader_group(reader, group, row_members, NULL, "a row", &row);
    if (!is_whole(&row)) {
        problem_add(reader->problems, row.origin, 0,
            "a row needs \"link\", \"by\", \"way\", \"load\", \"efficiency\" "
            "and \"source\"");
        return;
    }

    struct row_text *const grown =
        reader_append(reader, file->rows, &file->rows_count, sizeof *grown);

    if (grown != NULL) {
        file->rows = grown;
        grown[file->rows_count - 1] = row;
    }
}

static void read_rows(struct reader *reader, const config_setting_t *setting,
    const struct member *member, void *object)
{
    reader_each_group(reader, setting, member, object, read_row);
}

static const struct member file_members[] = {
    { .name = "name",
        .read = reader_text,
        .offset = offsetof(struct file_text, name) },
    { .name = "gpus",
        .read = reader_texts,
        .offset = offsetof(struct file_text, gpus),
        .count_offset = offsetof(struct file_text, gpus_count) },
    { .name = "sources", .read = read_sources },
    { .name = "rows", .read = read_rows },
    { .name = NULL },
};

static void read_config(
    struct reader *reader, config_t *config, struct file_text *out)
{
    if (config_read_string(config, reader->text->text) != CONFIG_TRUE) {
        problem_add(reader->problems,
            plan_text_origin(reader->text, (uint32_t)config_error_line(config)),
            0, "%s", config_error_text(config));
        return;
    }
    reader_group(reader, config_root_setting(config), file_members, NULL,
        "an efficiency file", out);
    if (out->gpus_count == 0 || out->rows_count == 0) {
        problem_add(reader->problems, plan_text_origin(reader->text, 0), 0,
            "an efficiency file needs \"gpus\", names of GPUs or globs, and "
            "\"rows\"");
    }
}

/* ---- From text to rows -------------------------------------------------- */

static const struct source_text *find_source(const struct file_text *file,
    const struct row_text *row, struct problems *problems)
{
    struct nearest nearest;
    char hint[NEAREST_HINT_BYTES];

    nearest_begin(&nearest, row->source);
    for (uint32_t i = 0; i < file->sources_count; i++) {
        if (strcmp(file->sources[i].name, row->source) == 0) {
            return &file->sources[i];
        }
        nearest_offer(&nearest, file->sources[i].name);
    }
    problem_add(problems, row->origin, 0,
        "no source of this file has the name \"%s\"%s", row->source,
        nearest_hint(&nearest, hint));
    return NULL;
}

/* A class that stands twice is a mistake: the later row would never count. */
static void check_twice(const struct efficiency_file *file,
    const struct efficiency_row *row, struct problems *problems)
{
    char class[64];

    for (uint32_t i = 0; i < file->rows_count; i++) {
        if (traffic_equal(&file->rows[i].traffic, &row->traffic)) {
            traffic_format(&row->traffic, class, sizeof class);
            problem_add(problems, row->origin, 0,
                "the class \"%s\" stands in line %u already", class,
                (unsigned)file->rows[i].origin.line);
            return;
        }
    }
}

static int32_t settle_row(const struct file_text *text,
    const struct row_text *from, struct arena *arena,
    struct efficiency_file *out, struct problems *problems, struct error *err)
{
    const struct source_text *const source = find_source(text, from, problems);
    struct efficiency_row row = { .spread = NAN, .origin = from->origin };

    if (source == NULL || problems->errors > 0) {
        return NVBW_OK; /* what did not pass its check must not be used */
    }
    name_find(link_names, from->link, &row.traffic.link);
    name_find(initiator_names, from->by, &row.traffic.initiator);
    name_find(way_names, from->way, &row.traffic.way);
    name_find(load_names, from->load, &row.traffic.load);
    name_find(efficiency_kinds, source->kind, &row.kind);
    TRY(quantity_real(from->efficiency, NVBW_UNIT_RATIO, &row.efficiency, err));
    if (from->spread != NULL) {
        TRY(quantity_real(from->spread, NVBW_UNIT_RATIO, &row.spread, err));
    }
    row.source = source->text;
    check_twice(out, &row, problems);

    struct efficiency_row *const grown =
        arena_append(arena, out->rows, &out->rows_count, sizeof *grown);

    FAIL_IF(grown == NULL, err, NVBW_E_SYSTEM, "no memory for efficiencies");
    out->rows = grown;
    grown[out->rows_count - 1] = row;
    return NVBW_OK;
}

static int32_t parse(const struct plan_text *text, struct arena *arena,
    struct efficiency_file *out, struct problems *problems, struct error *err)
{
    struct reader reader = {
        .arena = arena, .problems = problems, .text = text
    };
    struct file_text read = { 0 };
    config_t config;

    config_init(&config);
    read_config(&reader, &config, &read);
    config_destroy(&config);
    FAIL_IF(reader.without_memory, err, NVBW_E_SYSTEM,
        "no memory for efficiencies");
    out->name = read.name;
    out->gpus = read.gpus;
    out->gpus_count = read.gpus_count;
    for (uint32_t i = 0; i < read.rows_count; i++) {
        TRY(settle_row(&read, &read.rows[i], arena, out, problems, err));
    }
    return NVBW_OK;
}

/* ---- Files -------------------------------------------------------------- */

/* The sum of the bytes as they lie on the disk: what sha256sum prints. */
static const char *sum_of(const struct plan_file *file, struct arena *arena)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];

    return arena_text(
        arena, SHA256_Data((const uint8_t *)file->text, file->length, sum));
}

/* origin: who names the file. */
static int32_t add_file(const char *given, const char *path,
    struct origin origin, struct arena *arena, struct efficiencies *out,
    struct problems *problems, struct error *err)
{
    struct efficiency_file file = { .file = given,
        .from_plan = origin.file != NULL };
    struct plan_file content;
    struct plan_text text;
    struct error why;

    if (plan_file_read(path, arena, &content, &why) < 0) {
        problem_add(problems,
            origin.file == NULL ? (struct origin){ given, 0 } : origin, 0,
            "efficiency file \"%s\" %s", given, why.text);
        return NVBW_OK;
    }
    TRY(plan_text_from(given, content.text, arena, &text, problems, err));
    if (text.text == NULL) {
        return NVBW_OK;
    }
    file.sha256 = sum_of(&content, arena);
    TRY(parse(&text, arena, &file, problems, err));

    struct efficiency_file *const grown =
        arena_append(arena, out->list, &out->count, sizeof *grown);

    FAIL_IF(grown == NULL || file.sha256 == NULL, err, NVBW_E_SYSTEM,
        "no memory for efficiencies");
    out->list = grown;
    grown[out->count - 1] = file;
    return NVBW_OK;
}

static int32_t add_shipped(const char *data_dir, struct arena *arena,
    struct efficiencies *out, struct problems *problems, struct error *err)
{
    const char *const folder = arena_format(arena, "%s/efficiency", data_dir);
    const char **paths = NULL;
    uint32_t count = 0;
    struct error why;

    FAIL_IF(folder == NULL, err, NVBW_E_SYSTEM, "no memory for efficiencies");
    if (plan_file_list(folder, arena, &paths, &count, &why) < 0) {
        problem_add(problems, (struct origin){ folder, 0 }, 1,
            "%s: limits in percent of expected have no base without it",
            why.text);
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(add_file(paths[i], paths[i], (struct origin){ NULL, 0 }, arena, out,
            problems, err));
    }
    return NVBW_OK;
}

int32_t efficiency_load(const struct plan *plan, const char *data_dir,
    struct arena *arena, struct efficiencies *out, struct problems *problems,
    struct error *err)
{
    const struct plan_value *const given = plan_option(plan, "efficiency");

    *out = (struct efficiencies){ 0 };
    for (uint32_t i = 0; given != NULL && i < given->texts_count; i++) {
        const char *const path = plan_resolve(given->texts[i], data_dir, arena);

        TRY(add_file(
            given->texts[i], path, given->origin, arena, out, problems, err));
    }
    return data_dir == NULL ? NVBW_OK
                            : add_shipped(data_dir, arena, out, problems, err);
}
