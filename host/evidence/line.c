/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The types of journal lines: their names, their structs, their text. */
#include "evidence.h"

#include "record_json.h"

static const struct field run_header_list[] = {
    FIELD(run_header, U32, version),
    FIELD(run_header, WORD, build),
    FIELD(run_header, WORD, run_id),
    FIELD(run_header, WORD, command),
    FIELD(run_header, WORD, started),
    FIELD(run_header, U64, started_ns),
    FIELD(run_header, TEXT, boot_id),
    FIELD(run_header, U32, untrusted),
    FIELD(run_header, U32, wrapped),
    FIELD_LIST(run_header, TEXTS, environment),
    FIELD(run_header, U32, runs),
    FIELD_END,
};
const struct fields run_header_fields = FIELDS(run_header, run_header_list);

static const struct field event_list[] = {
    FIELD(event, WORD, what),
    FIELD(event, U32, level),
    FIELD(event, I32, unit),
    FIELD(event, I32, pid),
    FIELD(event, I32, gpu),
    FIELD(event, WORD, text),
    FIELD(event, U64, now_ns),
    FIELD_END,
};
const struct fields event_fields = FIELDS(event, event_list);

static const struct field run_end_list[] = {
    FIELD(run_end, TEXT, ended),
    FIELD(run_end, U64, ended_ns),
    FIELD(run_end, U32, interrupted),
    FIELD(run_end, U32, budget_used),
    FIELD_END,
};
const struct fields run_end_fields = FIELDS(run_end, run_end_list);

const struct name line_names[] = {
    { LINE_RUN, "run" },
    { LINE_PLAN, "plan" },
    { LINE_FACTS, "facts" },
    { LINE_PLUGIN, "plugin" },
    { LINE_UNIT, "unit" },
    { LINE_CELL, "cell" },
    { LINE_EVENT, "event" },
    { LINE_END, "end" },
    { LINE_EFFICIENCY, "efficiency" },
    { LINE_READING, "reading" },
    { 0, NULL },
};

const struct fields *line_fields(uint32_t type)
{
    static const struct fields *const tables[] = {
        [LINE_RUN] = &run_header_fields,
        [LINE_PLAN] = &plan_fields,
        [LINE_FACTS] = &facts_fields,
        [LINE_PLUGIN] = &plugin_schema_fields,
        [LINE_UNIT] = &unit_fields,
        [LINE_CELL] = &record_fields,
        [LINE_EVENT] = &event_fields,
        [LINE_END] = &run_end_fields,
        [LINE_EFFICIENCY] = &efficiency_file_fields,
        [LINE_READING] = &gpu_reading_fields,
    };

    return type < sizeof tables / sizeof tables[0] ? tables[type] : NULL;
}

static int add_to_buffer(const char *text, size_t length, void *buf)
{
    strbuf_add_n(buf, text, length);
    return ((struct strbuf *)buf)->failed ? -1 : 0;
}

int32_t line_format(struct strbuf *buf, uint32_t line_type, const void *object,
    struct error *err)
{
    const struct fields *const fields = line_fields(line_type);

    FAIL_IF(fields == NULL, err, NVBW_E_INVALID,
        "journal lines have no type %u", line_type);

    json_t *const line =
        json_pack("{s:s, s:o}", "type", name_of(line_names, line_type), "data",
            fields_to_json(fields, object, ABSENT_OMIT));

    FAIL_IF(line == NULL, err, NVBW_E_INVALID,
        "%s cannot be written as JSON: a number without a name, or no memory",
        fields->name);

    const size_t before = buf->length;
    const int result = json_dump_callback(
        line, add_to_buffer, buf, JSON_COMPACT | JSON_DOUBLES);

    json_decref(line);
    strbuf_add(buf, "\n");
    if (result != 0 || buf->failed) {
        buf->length = before;
        buf->text[before] = '\0';
        return error_set(err, NVBW_E_SYSTEM,
            "a journal line of type %s does not fit into %zu bytes",
            name_of(line_names, line_type), buf->limit);
    }
    return NVBW_OK;
}
