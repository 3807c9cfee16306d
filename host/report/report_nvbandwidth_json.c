/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbandwidth's JSON: "{" alone on the first line, "}" alone on the last, and
 * figures as text, because that is what programs read. */
#include "report_formats.h"

#include <stdio.h>

#include "nvbandwidth_view.h"
#include "record_json.h"

enum { WHY_BYTES = 1024, DEVICE_BYTES = 160, FIGURE_BYTES = 32 };

/* What one report is written from. */
struct writer {
    const struct report_input *input;
    struct nvbandwidth_style style;
};

static json_t *cell_json(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix,
    uint32_t row, uint32_t col)
{
    const struct verdict *const cell = nvbandwidth_cell(of, matrix, row, col);
    char figure[FIGURE_BYTES];

    if (cell == NULL) {
        return json_string("N/A");
    }
    snprintf(figure, sizeof figure, "%.6g",
        nvbandwidth_figure(of, matrix, cell, &writer->style));
    return json_string(figure);
}

/* The matrices of a testcase follow each other in one list of rows; what is
 * said of them is said of the last, as programs expect. */
static void add_matrix(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix,
    json_t *json)
{
    const struct nvbandwidth_sums sums =
        nvbandwidth_sums_of(of, matrix, &writer->style);
    json_t *rows = json_object_get(json, "bandwidth_matrix");

    if (sums.count == 0) {
        return;
    }
    if (rows == NULL) {
        rows = json_array();
        json_object_set_new(json, "bandwidth_matrix", rows);
    }
    for (uint32_t row = 0; row < matrix->rows; row++) {
        json_t *const cells = json_array();

        for (uint32_t col = 0; col < matrix->cols; col++) {
            json_array_append_new(
                cells, cell_json(writer, of, matrix, row, col));
        }
        json_array_append_new(rows, cells);
    }
    json_object_set_new(
        json, "bandwidth_description", json_string(matrix->heading));
    json_object_set_new(json, "sum", json_real(sums.sum));
    if (writer->style.verbose) {
        json_object_set_new(json, "min", json_real(sums.least));
        json_object_set_new(json, "max", json_real(sums.most));
        json_object_set_new(json, "average", json_real(sums.sum / sums.count));
    }
}

static json_t *case_json(
    const struct writer *writer, const struct nvbandwidth_case *of)
{
    static const char *const words[] = { "Passed", "Waived", "Not Found",
        "Error" };
    json_t *const json = json_pack("{s:o, s:s}", "name", text_to_json(of->name),
        "status", words[of->status]);
    struct nvbandwidth_matrix matrix;
    char why[WHY_BYTES];

    for (uint32_t i = 0; nvbandwidth_matrix_at(of, i, &matrix); i++) {
        add_matrix(writer, of, &matrix, json);
    }
    if (of->status != NVBANDWIDTH_PASSED) {
        nvbandwidth_why(of, why, sizeof why);
        json_object_set_new(json,
            of->status == NVBANDWIDTH_WAIVED ? "reason" : "error",
            text_to_json(why));
    }
    return json;
}

static json_t *cases_json(const struct writer *writer)
{
    struct nvbandwidth_case at = { 0 };
    json_t *const list = json_array();

    while (nvbandwidth_case_next(writer->input, &at)) {
        json_array_append_new(list, case_json(writer, &at));
    }
    return list;
}

static json_t *devices_json(const struct facts *facts)
{
    json_t *const list = json_array();
    char device[DEVICE_BYTES];
    char line[2 * DEVICE_BYTES];

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (facts->gpus[i].device >= 0) {
            nvbandwidth_device(&facts->gpus[i], device, sizeof device);
            snprintf(line, sizeof line, "%d: %s: (%s)", facts->gpus[i].device,
                device, facts->host == NULL ? "unknown" : facts->host);
            json_array_append_new(list, text_to_json(line));
        }
    }
    return list;
}

static json_t *document(const struct writer *writer)
{
    const struct evidence *const evidence = writer->input->evidence;
    const struct facts *const facts = &evidence->facts;
    char build[DEVICE_BYTES];

    snprintf(build, sizeof build, "nvbw-host %s",
        evidence->header.build == NULL ? "" : evidence->header.build);
    return json_pack("{s:{s:i, s:s, s:o, s:s, s:o, s:o}}", "nvbandwidth",
        "CUDA Runtime Version", (int)facts->cuda_version, "Driver Version",
        facts->driver_version == NULL ? "unknown" : facts->driver_version,
        "git_version", text_to_json(build), "version",
        nvbandwidth_style_version(&writer->style), "GPU Device list",
        devices_json(facts), "testcases", cases_json(writer));
}

static int add_to_buffer(const char *bytes, size_t length, void *out)
{
    strbuf_add_n(out, bytes, length);
    return ((struct strbuf *)out)->failed ? -1 : 0;
}

int32_t report_nvbandwidth_json(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    const struct writer writer = { input,
        nvbandwidth_style_of(&input->evidence->plan) };
    json_t *const json = document(&writer);

    /* A key that nvbandwidth has not, so only where it must be seen. */
    if (input->evidence->facts.simulated) {
        json_object_set_new(
            json_object_get(json, "nvbandwidth"), "simulated", json_true());
    }

    FAIL_IF(json == NULL, err, NVBW_E_SYSTEM,
        "the nvbandwidth-json report cannot be made: no memory, or text that "
        "is no UTF-8");
    (void)json_dump_callback(json, add_to_buffer, out,
        JSON_INDENT(3) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    json_decref(json);
    strbuf_add(out, "\n");
    return NVBW_OK;
}
