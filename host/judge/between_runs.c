/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "between_runs.h"

#include <math.h>

#include "nvbw/plugin.h"
#include "stats.h"

/* 0: any. */
struct row {
    uint32_t link, way, load, measure;
    struct between_runs is;
};

/* Each figure is the largest change between two runs of one machine, rounded
 * up, over seven sets of two or three runs on six machines of 1 and 2 x H200,
 * virtual machines whose hosts others use, 2026-11-30: docs/limits.md says
 * more. Peers over PCIe were not seen and take the rows of the host. The first
 * row that fits counts. */
static const struct row rows[] = {
    { .way = WAY_HOST,
        .measure = NVBW_UNIT_NANOSECONDS,
        .is = { 0.30, "latency of host memory" } },
    { .way = WAY_HOST, .is = { 0.12, "host memory" } },
    { .link = LINK_PCIE,
        .load = LOAD_OPPOSED,
        .is = { 0.12, "PCIe both ways at once" } },
    { .link = LINK_PCIE,
        .load = LOAD_SHARED,
        .is = { 0.04, "PCIe of several GPUs at once" } },
    { .link = LINK_PCIE,
        .load = LOAD_SHARED_OPPOSED,
        .is = { 0.13, "PCIe of several GPUs both ways at once" } },
    { .link = LINK_PCIE, .is = { 0.025, "PCIe one way" } },
    { .is = { 0.0, "GPUs and what is between them" } },
};

static int fits(
    const struct row *row, const struct traffic *traffic, uint32_t measure)
{
    return (row->link == LINK_NONE || row->link == traffic->link) &&
           (row->way == WAY_NONE || row->way == traffic->way) &&
           (row->load == 0 || row->load == traffic->load) &&
           (row->measure == 0 || row->measure == measure);
}

struct between_runs between_runs_of(
    const struct traffic *traffic, uint32_t measure)
{
    const struct row *row = rows;

    while (!fits(row, traffic, measure)) {
        row++;
    }
    return row->is;
}

double between_runs_seen(const double *medians, uint32_t count)
{
    struct stats stats;

    if (count < BETWEEN_RUNS_LEAST) {
        return NAN;
    }
    stats_of(medians, count, &stats);

    const double reach = stats_student_99(count - 1) * stats.deviation *
                         sqrt(1.0 + 1.0 / count) / stats.median;

    return fmin(reach, BETWEEN_RUNS_MOST);
}
