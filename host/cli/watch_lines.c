/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "watch_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_clean.h"

enum { HEADING_EVERY = 40, LINE_BYTES = 512, CELL_BYTES = 16 };
static const uint64_t EVERY_NS = 1000000000u;

/* Narrow, so that notes find room in 80 columns. */
static const char heading[] =
    "gpu  pcie nvl  sm/mem MHz    W   C/mC sm% mem% in/out GB/s notes";

void watch_lines_open(struct watch_lines *lines, const struct facts *facts)
{
    *lines = (struct watch_lines){ .facts = facts, .count = facts->gpus_count };
    lines->lines = lines->count > WATCH_GPUS
                       ? NULL
                       : calloc((size_t)lines->count + 1, sizeof *lines->lines);
    for (uint32_t i = 0; lines->lines != NULL && i < lines->count; i++) {
        gpu_reading_init(&lines->lines[i].reading);
        gpu_reading_init(&lines->lines[i].told);
        lines->lines[i].in = NAN;
        lines->lines[i].out = NAN;
        lines->lines[i].counted_ns = NAN;
    }
}

void watch_lines_close(struct watch_lines *lines)
{
    free(lines->lines);
    lines->lines = NULL;
}

/* PCIe bytes are counted, so a rate takes two readings. */
static void take_rates(
    struct watch_line *line, const struct gpu_reading *reading)
{
    const double now_ns = (double)reading->now_ns;

    if (isnan(reading->pcie_in_bytes) || isnan(reading->pcie_out_bytes)) {
        return;
    }
    if (now_ns > line->counted_ns) {
        const double seconds = (now_ns - line->counted_ns) * 1e-9;

        line->in = (reading->pcie_in_bytes - line->counted_in) / seconds;
        line->out = (reading->pcie_out_bytes - line->counted_out) / seconds;
    }
    line->counted_ns = now_ns;
    line->counted_in = reading->pcie_in_bytes;
    line->counted_out = reading->pcie_out_bytes;
}

/* What a quick reading leaves out was read before. */
static void keep_known(
    struct gpu_reading *reading, const struct gpu_reading *before)
{
    const struct telemetry_value *const lists[] = { telemetry_gauges,
        telemetry_counters };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct telemetry_value *at = lists[i]; at->name != NULL;
             at++) {
            if (isnan(telemetry_get(reading, at->in_reading))) {
                telemetry_set(reading, at->in_reading,
                    telemetry_get(before, at->in_reading));
            }
        }
    }
}

void watch_lines_take(
    struct watch_lines *lines, const struct gpu_reading *reading)
{
    if (lines->lines == NULL || reading->gpu >= lines->count) {
        return;
    }

    struct watch_line *const line = &lines->lines[reading->gpu];
    const struct gpu_reading before = line->reading;

    take_rates(line, reading);
    line->reading = *reading;
    keep_known(&line->reading, &before);
    line->reading.processes = NULL;
    line->reading.processes_count = 0;
    snprintf(line->other, sizeof line->other, "%.*s", WATCH_NOTE_BYTES - 1,
        reading->processes_count > 0 ? reading->processes[0] : "");
    line->is_new = 1;
}

static const char *cell(char *out, int decimals, double value)
{
    if (isnan(value)) {
        return "-";
    }
    snprintf(out, CELL_BYTES, "%.*f", decimals, value);
    return out;
}

/* What holds clocks down, who else, what was counted since the last line. */
static void add_notes(const struct watch_line *line, struct strbuf *out)
{
    for (const struct throttle_reason *at = throttle_reasons; at->name != NULL;
         at++) {
        if ((line->reading.reasons & at->bit) != 0) {
            strbuf_format(out, " %s", at->name);
        }
    }
    if (line->other[0] != '\0') {
        strbuf_format(out, " (%s)", line->other);
    }
    for (const struct telemetry_value *at = telemetry_counters;
         at->name != NULL; at++) {
        const double rise = telemetry_get(&line->reading, at->in_reading) -
                            telemetry_get(&line->told, at->in_reading);

        if (at->unit[0] == '\0' && rise > 0.0) {
            strbuf_format(out, " %s +%.0f", at->name, rise);
        }
    }
}

static void add_line(const struct watch_lines *lines, uint32_t gpu,
    uint32_t columns, struct strbuf *out)
{
    const struct watch_line *const line = &lines->lines[gpu];
    const struct gpu_reading *const r = &line->reading;
    char cells[12][CELL_BYTES];
    char pairs[4][2 * CELL_BYTES + 2];
    struct strbuf text;

    strbuf_init(&text, LINE_BYTES);
    snprintf(pairs[0], sizeof pairs[0], "%sx%s",
        cell(cells[0], 0, r->pcie_generation),
        cell(cells[1], 0, r->pcie_width));
    snprintf(pairs[1], sizeof pairs[1], "%s/%s", cell(cells[2], 0, r->sm_mhz),
        cell(cells[3], 0, r->memory_mhz));
    snprintf(pairs[2], sizeof pairs[2], "%s/%s", cell(cells[4], 0, r->celsius),
        cell(cells[5], 0, r->memory_celsius));
    snprintf(pairs[3], sizeof pairs[3], "%s/%s",
        cell(cells[6], 1, line->in / 1e9), cell(cells[7], 1, line->out / 1e9));
    strbuf_format(&text, "%3d  %4s %3s %11s %4s %6s %3s %4s %11s",
        lines->facts->gpus[gpu].index, pairs[0], cell(cells[8], 0, r->nvlinks),
        pairs[1], cell(cells[9], 0, r->power_w), pairs[2],
        cell(cells[10], 0, r->busy_percent),
        cell(cells[11], 0, r->memory_percent), pairs[3]);
    add_notes(line, &text);
    strbuf_add_n(out, text.text, text_fit(text.text, columns));
    strbuf_add(out, "\n");
    strbuf_free(&text);
}

static void add_heading(struct watch_lines *lines, uint32_t columns,
    int repeats, struct strbuf *out)
{
    const size_t length = strlen(heading);

    if (lines->has_heading && !(repeats && lines->printed >= HEADING_EVERY)) {
        return;
    }
    strbuf_add_n(out, heading, length < columns ? length : (size_t)columns);
    strbuf_add(out, "\n");
    lines->has_heading = 1;
    lines->printed = 0;
}

void watch_lines_add(struct watch_lines *lines, uint64_t now_ns,
    uint32_t columns, int repeats, struct strbuf *out)
{
    if (lines->lines == NULL || now_ns < lines->due_ns) {
        return;
    }
    lines->due_ns = now_ns + EVERY_NS;
    for (uint32_t i = 0; i < lines->count; i++) {
        if (lines->lines[i].is_new) {
            add_heading(lines, columns, repeats, out);
            add_line(lines, i, columns, out);
            lines->lines[i].told = lines->lines[i].reading;
            lines->lines[i].is_new = 0;
            lines->printed++;
        }
    }
}
