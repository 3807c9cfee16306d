/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "node.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence.h"
#include "record_json.h"
#include "text_clean.h"

/* Figures are to be compared, not computed with; the record has all digits. */
#define NODE_DOUBLES JSON_REAL_PRECISION(9)

static const struct field group_list[] = {
    FIELD(node_group, TEXT, plugin),
    FIELD(node_group, TEXT, testcase),
    FIELD(node_group, TEXT, sweep),
    FIELD(node_group, TEXT, metric),
    FIELD(node_group, U32, measure),
    FIELD(node_group, U32, better),
    FIELD(node_group, F64, reach),
    FIELD_LIST(node_group, TEXTS, places),
    FIELD_LIST(node_group, TEXTS, states),
    FIELD_LIST(node_group, F64S, figures),
    FIELD_END,
};
static const struct fields group_fields = FIELDS(node_group, group_list);

static const struct field finding_list[] = {
    FIELD(node_finding, TEXT, id),
    FIELD(node_finding, TEXT, family),
    FIELD(node_finding, I32, gpu),
    FIELD(node_finding, TEXT, what),
    FIELD(node_finding, TEXT, action),
    FIELD(node_finding, U32, exit_code),
    FIELD(node_finding, U32, accepted),
    FIELD_END,
};
static const struct fields finding_fields = FIELDS(node_finding, finding_list);

static const struct field node_list[] = {
    FIELD(node, U32, version),
    FIELD(node, TEXT, host),
    FIELD(node, TEXT, run_id),
    FIELD(node, TEXT, started),
    FIELD(node, TEXT, build),
    FIELD(node, TEXT, driver_version),
    FIELD(node, TEXT, plan),
    FIELD(node, TEXT, plan_sha256),
    FIELD(node, TEXT, gpu_model),
    FIELD(node, U32, gpus),
    FIELD(node, U32, simulated),
    FIELD(node, U32, complete),
    FIELD(node, U32, exit_code),
    FIELD_STRUCTS(node, groups, &group_fields),
    FIELD_STRUCTS(node, findings, &finding_fields),
    FIELD_END,
};
const struct fields node_fields = FIELDS(node, node_list);

/* ---- writing ---- */

int32_t node_format(
    const struct node *node, struct strbuf *out, struct error *err)
{
    json_t *const data = fields_to_json(&node_fields, node, ABSENT_OMIT);
    json_t *const line =
        data == NULL ? NULL
                     : json_pack("{s:s, s:o}", "type", "node", "data", data);
    char *const bytes =
        line == NULL ? NULL : json_dumps(line, JSON_COMPACT | NODE_DOUBLES);

    json_decref(line);
    FAIL_IF(bytes == NULL, err, NVBW_E_SYSTEM,
        "the run in short cannot be written: no memory");
    strbuf_add(out, bytes);
    strbuf_add(out, "\n");
    free(bytes);
    return NVBW_OK;
}

/* ---- reading ---- */

struct reader {
    int file;
    struct strbuf bytes; /* what was read and not yet taken */
};

/* Where the line ends that begins at `from`: reads on until it is there. */
static int32_t find_end(
    struct reader *in, size_t from, size_t *out_end, struct error *err)
{
    char block[1 << 16];
    size_t looked = from;

    for (;;) {
        const char *const end =
            memchr(in->bytes.text + looked, '\n', in->bytes.length - looked);

        if (end != NULL) {
            *out_end = (size_t)(end - in->bytes.text);
            return NVBW_OK;
        }
        FAIL_IF(in->bytes.length - from > NODE_LINE_BYTES, err, NVBW_E_INVALID,
            "a line is longer than %zu bytes", NODE_LINE_BYTES);
        looked = in->bytes.length;

        const ssize_t count = read(in->file, block, sizeof block);

        if (count < 0) {
            return error_system(err, "reading");
        }
        FAIL_IF(count == 0, err, NVBW_E_INVALID,
            "it ends before its second line, which holds the run in short");
        strbuf_add_n(&in->bytes, block, (size_t)count);
        FAIL_IF(in->bytes.failed, err, NVBW_E_SYSTEM, "out of memory");
    }
}

static int is_type(const json_t *line, const char *type)
{
    const char *const text = json_string_value(json_object_get(line, "type"));

    return text != NULL && strcmp(text, type) == 0 &&
           json_is_object(json_object_get(line, "data"));
}

static int32_t check_group(
    const struct node_group *group, uint32_t *cells, struct error *err)
{
    FAIL_IF(group->testcase == NULL || group->metric == NULL, err,
        NVBW_E_INVALID, "cells without testcase or metric");
    FAIL_IF(group->places_count != group->states_count ||
                group->places_count != group->figures_count,
        err, NVBW_E_INVALID, "%s: %u places, %u states and %u figures",
        group->testcase, group->places_count, group->states_count,
        group->figures_count);
    FAIL_IF(group->places_count > NODE_CELLS_LIMIT - *cells, err,
        NVBW_E_INVALID, "more than %d cells", NODE_CELLS_LIMIT);
    *cells += group->places_count;
    for (uint32_t i = 0; i < group->states_count; i++) {
        FAIL_IF(group->places[i] == NULL || group->states[i] == NULL, err,
            NVBW_E_INVALID, "%s: a cell without place or state",
            group->testcase);
    }
    return NVBW_OK;
}

static int32_t take_node(const json_t *line, struct arena *arena,
    struct node *out, struct error *err)
{
    uint32_t cells = 0;

    FAIL_IF(!is_type(line, "node"), err, NVBW_E_INVALID,
        "it holds no run in short, as summaries of older builds do not; "
        "--full reads its journal");
    TRY(fields_from_json(
        &node_fields, json_object_get(line, "data"), arena, out, err));
    FAIL_IF(out->version != NODE_VERSION, err, NVBW_E_INVALID,
        "the run in short is of version %u, this build reads %d; --full reads "
        "its journal",
        out->version, NODE_VERSION);
    FAIL_IF(out->host == NULL || out->host[0] == '\0', err, NVBW_E_INVALID,
        "it names no host");
    for (uint32_t i = 0; i < out->groups_count; i++) {
        TRY(check_group(&out->groups[i], &cells, err));
    }
    text_clean_object(&node_fields, out, 0);
    return NVBW_OK;
}

static int32_t parse_line(
    struct reader *in, size_t from, size_t end, json_t **out, struct error *err)
{
    json_error_t why;

    *out = json_loadb(in->bytes.text + from, end - from, 0, &why);
    FAIL_IF(*out == NULL, err, NVBW_E_INVALID, "not JSON: %s at column %d",
        why.text, why.column);
    return NVBW_OK;
}

static int32_t read_lines(
    struct reader *in, struct arena *arena, struct node *out, struct error *err)
{
    size_t first = 0;
    size_t second = 0;
    json_t *line = NULL;

    TRY(find_end(in, 0, &first, err));
    TRY(parse_line(in, 0, first, &line, err));

    int32_t status = journal_check_header(line, err);

    json_decref(line);
    TRY(status);
    TRY(find_end(in, first + 1, &second, err));
    TRY(parse_line(in, first + 1, second, &line, err));
    status = take_node(line, arena, out, err);
    json_decref(line);
    return status;
}

int32_t node_read(
    const char *file, struct arena *arena, struct node *out, struct error *err)
{
    /* Not held up by a pipe that somebody put there. */
    struct reader in = { .file =
                             open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    struct stat stat;
    struct error why = { 0 };

    *out = (struct node){ 0 };
    if (in.file < 0) {
        return error_system(err, "opening %s", file);
    }
    strbuf_init(&in.bytes, 3 * NODE_LINE_BYTES);

    int32_t status =
        fstat(in.file, &stat) == 0 && S_ISREG(stat.st_mode)
            ? read_lines(&in, arena, out, &why)
            : error_set(&why, NVBW_E_INVALID, "not a regular file");

    strbuf_free(&in.bytes);
    close(in.file);
    FAIL_IF(status < 0, err, why.status, "%s: %.900s", file, why.text);
    return NVBW_OK;
}
