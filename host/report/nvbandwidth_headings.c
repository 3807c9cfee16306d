/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The headings of nvbandwidth, to the byte, since programs read them. Some
 * point against the data (see docs/from-nvbandwidth.md); our own reports name
 * source and destination instead. */
#include "nvbandwidth_view.h"

#include <stdio.h>
#include <string.h>

#include "report_matrix.h"

struct heading {
    const char *name;   /* of the testcase, without "_ce", "_sm", "_tma" */
    const char *metric; /* of ours */
    const char *suffix; /* of the key */
    const char *before, *after; /* of CE, SM or TMA */
};

#define FIGURE(name, after)                                                    \
    {                                                                          \
        name, "bandwidth", "", "memcpy ", after " bandwidth (GB/s)"            \
    }
#define BOTH_WAYS(name, word, Word)                                            \
    { name, "reverse", "_" word "1", "memcpy ",                                \
        " GPU(row) <-> GPU(column) " Word "1 bandwidth (GB/s)" },              \
        { name, "forward", "_" word "2", "memcpy ",                            \
            " GPU(row) <-> GPU(column) " Word "2 bandwidth (GB/s)" },          \
    {                                                                          \
        name, "total", "_total", "memcpy ",                                    \
            " GPU(row) <-> GPU(column) Total bandwidth (GB/s)"                 \
    }

static const struct heading headings[] = {
    FIGURE("host_to_device_memcpy", " CPU(row) -> GPU(column)"),
    FIGURE("device_to_host_memcpy", " CPU(row) <- GPU(column)"),
    FIGURE("host_to_device_bidirectional_memcpy", " CPU(row) <-> GPU(column)"),
    FIGURE("device_to_host_bidirectional_memcpy", " CPU(row) <-> GPU(column)"),
    FIGURE("all_to_host_memcpy", " CPU(row) <- GPU(column)"),
    FIGURE("all_to_host_bidirectional_memcpy", " CPU(row) <-> GPU(column)"),
    FIGURE("host_to_all_memcpy", " CPU(row) -> GPU(column)"),
    FIGURE("host_to_all_bidirectional_memcpy", " CPU(row) <-> GPU(column)"),
    FIGURE("device_to_device_memcpy_read", " GPU(row) -> GPU(column)"),
    FIGURE("device_to_device_memcpy_write", " GPU(row) <- GPU(column)"),
    BOTH_WAYS("device_to_device_bidirectional_memcpy_read", "read", "Read"),
    BOTH_WAYS("device_to_device_bidirectional_memcpy_write", "write", "Write"),
    FIGURE("all_to_one_write", " GPU(row) <- GPU(column)"),
    FIGURE("all_to_one_read", " GPU(row) -> GPU(column)"),
    FIGURE("one_to_all_write", " GPU(row) -> GPU(column)"),
    FIGURE("one_to_all_read", " GPU(row) <- GPU(column)"),
    { "host_device_latency", "latency", "", "memory latency ",
        " CPU(row) <-> GPU(column) (ns)" },
    { "device_to_device_latency", "latency", "", "Device to Device Latency ",
        " GPU(row) <-> GPU(column) (ns)" },
    { "device_local_copy", "bandwidth", "", "memcpy local",
        " GPU(column) bandwidth (GB/s)" },
    { "device_local_read", "bandwidth", "", "memcpy local read",
        " GPU(column) bandwidth (GB/s)" },
    { "device_local_write", "bandwidth", "", "memcpy local write",
        " GPU(column) bandwidth (GB/s)" },
};
enum { HEADINGS = sizeof headings / sizeof headings[0] };

struct way {
    const char *ending, *word;
};
static const struct way ways[] = {
    { "_ce", "CE" },
    { "_sm", "SM" },
    { "_tma", "TMA" },
    { "", "" },
};

/* The way of a testcase by the end of its name, and the length before it. */
static const struct way *way_of(const char *name, size_t *out_length)
{
    const struct way *way = ways;

    for (;; way++) {
        const size_t ending = strlen(way->ending);
        const size_t length = strlen(name);

        if (length >= ending &&
            strcmp(name + length - ending, way->ending) == 0) {
            *out_length = length - ending;
            return way;
        }
    }
}

static const struct unit_shape *find_shape(
    const struct unit *unit, const char *metric)
{
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        if (strcmp(unit->shapes[i].metric, metric) == 0) {
            return &unit->shapes[i];
        }
    }
    return NULL;
}

static int matches(const struct heading *heading, const char *name)
{
    size_t length = 0;

    way_of(name, &length);
    return strlen(heading->name) == length &&
           memcmp(heading->name, name, length) == 0;
}

/* "memcpy local SM GPU(column)", but "memcpy local GPU(column)". */
static void write_heading(
    const struct heading *heading, const char *name, char *out, size_t bytes)
{
    size_t length = 0;
    const struct way *const way = way_of(name, &length);
    const size_t before = strlen(heading->before);
    const int needs_blank = way->word[0] != '\0' && before > 0 &&
                            heading->before[before - 1] != ' ';

    snprintf(out, bytes, "%s%s%s%s", heading->before, needs_blank ? " " : "",
        way->word, heading->after);
}

/* Ours: every metric, named. */
static int own_matrix(const struct nvbandwidth_case *of, uint32_t number,
    struct nvbandwidth_matrix *out)
{
    if (number >= of->unit->shapes_count) {
        return 0;
    }
    nvbandwidth_matrix_lay_out(out, &of->unit->shapes[number]);
    out->is_latency = out->shape->unit == NVBW_UNIT_NANOSECONDS;
    snprintf(out->suffix, sizeof out->suffix, "%s%.60s", number == 0 ? "" : "_",
        number == 0 ? "" : out->shape->metric);
    snprintf(out->heading, sizeof out->heading, "%s (%s)", out->shape->metric,
        report_scale_of(out->shape->unit)->word);
    return 1;
}

int nvbandwidth_matrix_at(const struct nvbandwidth_case *of, uint32_t number,
    struct nvbandwidth_matrix *out)
{
    int is_known = 0;

    *out = (struct nvbandwidth_matrix){ .shape = NULL };
    for (size_t i = 0; i < HEADINGS; i++) {
        const struct unit_shape *const shape =
            find_shape(of->unit, headings[i].metric);

        if (!matches(&headings[i], of->name) || shape == NULL) {
            continue;
        }
        is_known = 1;
        if (number-- == 0) {
            nvbandwidth_matrix_lay_out(out, shape);
            snprintf(out->suffix, sizeof out->suffix, "%s", headings[i].suffix);
            out->is_latency = shape->unit == NVBW_UNIT_NANOSECONDS;
            write_heading(
                &headings[i], of->name, out->heading, sizeof out->heading);
            return 1;
        }
    }
    return is_known ? 0 : own_matrix(of, number, out);
}
