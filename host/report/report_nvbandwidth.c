/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbandwidth's text: the lines that programs read stand as they do there. */
#include "report_formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nvbandwidth_view.h"
#include "report_matrix.h"

enum { WHY_BYTES = 1024, DEVICE_BYTES = 160 };

/* What one report is written from. */
struct writer {
    const struct report_input *input;
    struct nvbandwidth_style style;
    struct strbuf *out;
};

/* ---- Head ---------------------------------------------------------------- */

static void add_versions(const struct writer *writer)
{
    const struct facts *const facts = &writer->input->evidence->facts;
    const uint32_t cuda = facts->cuda_version;
    const char *const driver =
        facts->driver_version == NULL ? "unknown" : facts->driver_version;

    strbuf_format(writer->out,
        "nvbandwidth Version: %s\nBuilt from Git version: nvbw-host %s",
        nvbandwidth_style_version(&writer->style),
        writer->input->evidence->header.build == NULL
            ? ""
            : writer->input->evidence->header.build);
    report_simulated_add(facts, writer->out);
    strbuf_add(writer->out, "\n\n");
    if (writer->style.is_0_8) {
        strbuf_format(writer->out,
            "CUDA Runtime Version: %u\nCUDA Driver Version: %u\n", cuda, cuda);
    } else {
        strbuf_format(writer->out,
            "CUDA Runtime Version: %u.%u (%u)\n"
            "CUDA Driver Version (API): %u.%u (%u)\n",
            cuda / 1000, cuda % 1000 / 10, cuda, cuda / 1000, cuda % 1000 / 10,
            cuda);
    }
    strbuf_format(writer->out, "Driver Version: %s\n\n", driver);
}

static void add_devices(const struct writer *writer)
{
    const struct facts *const facts = &writer->input->evidence->facts;
    char device[DEVICE_BYTES];

    strbuf_format(
        writer->out, "%s\n", facts->host == NULL ? "unknown" : facts->host);
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (facts->gpus[i].device >= 0) {
            nvbandwidth_device(&facts->gpus[i], device, sizeof device);
            strbuf_format(
                writer->out, "Device %d: %s\n", facts->gpus[i].device, device);
        }
    }
    strbuf_add(writer->out, "\n");
}

/* ---- Samples ------------------------------------------------------------- */

static void add_side(
    const struct writer *writer, uint32_t memory, int32_t place)
{
    const struct facts *const facts = &writer->input->evidence->facts;

    if (memory >= NVBW_MEM_DEVICE && place >= 0 &&
        (uint32_t)place < facts->gpus_count) {
        strbuf_format(writer->out, "Device %d", facts->gpus[place].device);
    } else {
        strbuf_add(writer->out, "Host");
    }
}

static const struct flow_record *counted_flow(const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        if (record->flows[i].counted) {
            return &record->flows[i];
        }
    }
    return NULL;
}

static void add_sample(const struct writer *writer,
    const struct nvbandwidth_matrix *matrix, const struct record *record,
    uint32_t number)
{
    const struct report_scale *const scale =
        report_scale_of(matrix->shape->unit);
    const struct flow_record *const flow = counted_flow(record);

    strbuf_format(writer->out, "\tSample %u: ", number);
    if (flow == NULL || strcmp(record->metric, "total") == 0) {
        strbuf_add(writer->out, "Total Bandwidth ");
    } else {
        add_side(writer, flow->src_memory, flow->src_place);
        strbuf_add(writer->out, " -> ");
        add_side(writer, flow->dst_memory, flow->dst_place);
    }
    strbuf_format(writer->out, ": %.2f %s\n",
        record->samples[number] / scale->divisor, scale->word);
}

static void add_samples(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->rows * matrix->cols; i++) {
        const struct verdict *const cell =
            nvbandwidth_cell(of, matrix, i / matrix->cols, i % matrix->cols);

        for (uint32_t k = 0; cell != NULL && cell->record != NULL &&
                             k < cell->record->samples_count;
             k++) {
            add_sample(writer, matrix, cell->record, k);
        }
    }
}

/* ---- Matrix -------------------------------------------------------------- */

static void add_row(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix,
    uint32_t row)
{
    strbuf_format(writer->out, "%2d",
        nvbandwidth_label(writer->input, of, matrix->row_axis, row));
    for (uint32_t col = 0; col < matrix->cols; col++) {
        const struct verdict *const cell =
            nvbandwidth_cell(of, matrix, row, col);

        if (cell == NULL) {
            strbuf_format(writer->out, "%10s", "N/A");
        } else {
            strbuf_format(writer->out, "%10.2f",
                nvbandwidth_figure(of, matrix, cell, &writer->style));
        }
    }
    strbuf_add(writer->out, "\n");
}

static void add_sums(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix)
{
    const struct nvbandwidth_sums sums =
        nvbandwidth_sums_of(of, matrix, &writer->style);
    char key[256];

    snprintf(key, sizeof key, "%s%s", of->name, matrix->suffix);
    if (writer->style.perf) {
        strbuf_format(writer->out, "&&&& PERF %s %.2f %s\n", key, sums.sum,
            matrix->is_latency ? "-ns" : "+GB/s");
    } else {
        strbuf_format(writer->out, "SUM %s %.2f\n", key, sums.sum);
    }
    if (!writer->style.is_0_8) {
        strbuf_format(writer->out, "COEFFICIENT_OF_VARIATION %s %.2f\n", key,
            sums.variation);
    }
    if (writer->style.verbose && sums.count > 0) {
        strbuf_format(writer->out, "MIN %s %.2f\nMAX %s %.2f\nAVG %s %.2f\n",
            key, sums.least, key, sums.most, key, sums.sum / sums.count);
    }
    strbuf_add(writer->out, "\n");
}

static void add_matrix(const struct writer *writer,
    const struct nvbandwidth_case *of, const struct nvbandwidth_matrix *matrix)
{
    strbuf_format(writer->out, "%s\n  ", matrix->heading);
    for (uint32_t col = 0; col < matrix->cols; col++) {
        strbuf_format(writer->out, "%10d",
            nvbandwidth_label(writer->input, of, matrix->col_axis, col));
    }
    strbuf_add(writer->out, "\n");
    for (uint32_t row = 0; row < matrix->rows; row++) {
        add_row(writer, of, matrix, row);
    }
    strbuf_add(writer->out, "\n");
    add_sums(writer, of, matrix);
}

/* ---- Testcases ----------------------------------------------------------- */

static void add_matrices(
    const struct writer *writer, const struct nvbandwidth_case *of)
{
    struct nvbandwidth_matrix matrix;

    for (uint32_t i = 0;
         writer->style.verbose && nvbandwidth_matrix_at(of, i, &matrix) != 0;
         i++) {
        add_samples(writer, of, &matrix);
    }
    for (uint32_t i = 0; nvbandwidth_matrix_at(of, i, &matrix); i++) {
        if (nvbandwidth_sums_of(of, &matrix, &writer->style).count > 0) {
            add_matrix(writer, of, &matrix);
        }
    }
}

static void add_run(
    const struct writer *writer, const struct nvbandwidth_case *of)
{
    char why[WHY_BYTES];

    strbuf_format(writer->out, "Running %s.\n", of->name);
    add_matrices(writer, of);
    if (of->status == NVBANDWIDTH_ERROR) {
        nvbandwidth_why(of, why, sizeof why);
        strbuf_format(writer->out, "Error: %s: %u of %u cells %s\n\n", of->name,
            of->why_count, of->count, why);
    }
}

static void add_case(
    const struct writer *writer, const struct nvbandwidth_case *of)
{
    char why[WHY_BYTES];

    switch (of->status) {
    case NVBANDWIDTH_NOT_FOUND:
        strbuf_format(writer->out, "ERROR: Testcase %s not found!\n", of->name);
        return;
    case NVBANDWIDTH_WAIVED:
        nvbandwidth_why(of, why, sizeof why);
        strbuf_format(writer->out, "Waived: %s: %s\n", of->name, why);
        return;
    case NVBANDWIDTH_PASSED:
    case NVBANDWIDTH_ERROR:
        add_run(writer, of);
        return;
    }
}

/* ---- The whole ----------------------------------------------------------- */

int32_t report_nvbandwidth(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    const struct writer writer = { input,
        nvbandwidth_style_of(&input->evidence->plan), out };
    struct nvbandwidth_case at = { 0 };
    uint32_t counts[NVBANDWIDTH_ERROR + 1] = { 0 };

    (void)err;
    add_versions(&writer);
    add_devices(&writer);
    while (nvbandwidth_case_next(input, &at)) {
        add_case(&writer, &at);
        counts[at.status]++;
    }
    strbuf_format(out,
        "NOTE: run by nvbw-host in nvbandwidth's format: %u passed, %u waived, "
        "%u failed or not found.%s\n",
        counts[NVBANDWIDTH_PASSED], counts[NVBANDWIDTH_WAIVED],
        counts[NVBANDWIDTH_ERROR] + counts[NVBANDWIDTH_NOT_FOUND],
        input->evidence->facts.simulated
            ? " SIMULATED: no figure here was measured on hardware."
            : "");
    return NVBW_OK;
}
