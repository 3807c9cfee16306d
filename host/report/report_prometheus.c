/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Prometheus text for the textfile collector of node_exporter: what the last
 * run on this machine said, in Prometheus' base units (seconds, bytes). A
 * series carries no text that grows with the run: sentences stand in the other
 * reports. */
#include "report_formats.h"

#include <math.h>

#include "report_cell.h"
#include "report_escape.h"

/* A metric's unit here and how it is named there. */
struct family {
    uint32_t unit;
    const char *suffix, *words;
    double divisor;
};
static const struct family families[] = {
    { NVBW_UNIT_BYTES_PER_SECOND, "bytes_per_second", "in bytes per second",
        1.0 },
    { NVBW_UNIT_NANOSECONDS, "seconds", "in seconds", 1e9 },
    { NVBW_UNIT_BYTES, "bytes", "in bytes", 1.0 },
    { NVBW_UNIT_RATIO, "ratio", "as a ratio", 1.0 },
    { NVBW_UNIT_COUNT, "number", "as a number", 1.0 },
    { NVBW_UNIT_NONE, "value", "without a unit", 1.0 },
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static void add_head(struct strbuf *out, const char *name, const char *suffix,
    const char *help, const char *words)
{
    strbuf_format(out, "# HELP nvbw_%s%s %s%s\n# TYPE nvbw_%s%s gauge\n", name,
        suffix, help, words, name, suffix);
}

static void add_label(
    struct strbuf *out, int *is_first, const char *name, const char *value)
{
    strbuf_format(out, "%s%s=\"", *is_first ? "{" : ",", name);
    escape_label(out, value);
    strbuf_add(out, "\"");
    *is_first = 0;
}

static void add_number(
    struct strbuf *out, const char *name, const char *help, double value)
{
    add_head(out, name, "", help, "");
    strbuf_format(out, "nvbw_%s %.15g\n", name, value);
}

/* ---- the run and the machine ---- */

static void add_run(const struct report_input *input, struct strbuf *out)
{
    const struct evidence *const evidence = input->evidence;
    const struct verdicts *const verdicts = input->verdicts;
    const int is_cut = evidence->ended && evidence->end.interrupted;
    int is_first = 1;

    add_head(out, "run_info", "", "The run that this file is of.", "");
    strbuf_add(out, "nvbw_run_info");
    add_label(out, &is_first, "build", evidence->header.build);
    add_label(out, &is_first, "plan", evidence->plan.name);
    add_label(out, &is_first, "plan_sha256", evidence->plan.sha256);
    add_label(out, &is_first, "run_id", evidence->header.run_id);
    add_label(out, &is_first, "started", evidence->header.started);
    add_label(out, &is_first, "driver", evidence->facts.driver_version);
    strbuf_add(out, "} 1\n");
    add_number(out, "run_exit_code", "The run's exit code, 0: passed.",
        verdicts->exit_code);
    add_number(out, "run_complete",
        "1: the run came to its end, 0: it was interrupted or lost.",
        evidence->ended && !is_cut);
    add_number(out, "run_simulated",
        "1: figures come from the simulated driver.",
        evidence->facts.simulated);
    add_number(out, "run_cells_planned", "Cells of the plan.", verdicts->count);
}

static void add_counts(const struct report_input *input, struct strbuf *out)
{
    add_head(out, "run_cells", "", "Cells by state.", "");
    for (uint32_t state = STATE_SKIP; state < STATE_COUNT; state++) {
        strbuf_format(out, "nvbw_run_cells{state=\"%s\"} %u\n",
            name_of(state_names, state), input->verdicts->by_state[state]);
    }
}

static void add_gpus(const struct facts *facts, struct strbuf *out)
{
    if (facts->gpus_count > 0) {
        add_head(out, "gpu_info", "", "GPUs, numbered in PCI order.", "");
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];
        int is_first = 0;

        strbuf_format(out, "nvbw_gpu_info{gpu=\"%d\"", gpu->index);
        add_label(out, &is_first, "name", gpu->name);
        add_label(out, &is_first, "uuid", gpu->uuid);
        add_label(out, &is_first, "host",
            gpu->host == NULL ? facts->host : gpu->host);
        add_label(out, &is_first, "pci", gpu->pci);
        add_label(out, &is_first, "serial", gpu->serial);
        add_label(out, &is_first, "vbios", gpu->vbios);
        strbuf_add(out, "} 1\n");
    }
}

static void add_gpu_label(struct strbuf *out, const struct facts *facts,
    const char *name, int32_t gpu)
{
    if (gpu >= 0 && (uint32_t)gpu < facts->gpus_count) {
        strbuf_format(out, ",%s=\"%d\"", name, facts->gpus[gpu].index);
    }
}

static void add_findings(const struct report_input *input, struct strbuf *out)
{
    const struct facts *const facts = &input->evidence->facts;

    add_number(out, "run_findings", "What is likely wrong, by count.",
        input->verdicts->findings_count);
    if (input->verdicts->findings_count > 0) {
        add_head(out, "finding", "",
            "What is likely wrong; 0: it is accepted by the plan.", "");
    }
    for (uint32_t i = 0; i < input->verdicts->findings_count; i++) {
        const struct finding *const finding = &input->verdicts->findings[i];

        strbuf_format(out, "nvbw_finding{number=\"%u\",id=\"", i);
        escape_label(out, finding->id);
        strbuf_add(out, "\"");
        add_gpu_label(out, facts, "gpu", finding->gpu);
        add_gpu_label(out, facts, "peer", finding->peer);
        strbuf_format(out, "} %d\n", finding->accepted ? 0 : 1);
    }
}

/* ---- cells ---- */

/* Labels that no other cell of the run has together. */
static void add_cell_labels(struct strbuf *out, const struct report_cell *cell)
{
    int is_first = 1;

    add_label(out, &is_first, "suite", cell->suite);
    add_label(out, &is_first, "plugin", cell->unit->plugin);
    add_label(out, &is_first, "testcase", cell->unit->testcase);
    add_label(out, &is_first, "sweep", cell->unit->sweep);
    add_label(out, &is_first, "metric", cell->verdict->metric);
    add_label(out, &is_first, "row", cell->row);
    add_label(out, &is_first, "col", cell->col);
    strbuf_format(out, ",round=\"%u\",cell=\"%u\"", cell->unit->round,
        cell->verdict->cell);
}

static double figure_of(const struct verdict *verdict)
{
    return verdict->figure;
}

static double limit_of(const struct verdict *verdict)
{
    return verdict->limit;
}

static void add_family(const struct report_input *input, struct strbuf *out,
    const struct family *family, const char *name, const char *help,
    double (*value_of)(const struct verdict *verdict))
{
    int has_head = 0;

    for (uint32_t i = 0; i < input->verdicts->count; i++) {
        const double value = value_of(&input->verdicts->list[i]);
        struct report_cell cell;

        if (isnan(value)) {
            continue;
        }
        report_cell_of(input, i, &cell);
        if (report_scale_of(cell.shape->unit)->unit != family->unit) {
            continue;
        }
        if (!has_head) {
            add_head(out, name, family->suffix, help, family->words);
            has_head = 1;
        }
        strbuf_format(out, "nvbw_%s%s", name, family->suffix);
        add_cell_labels(out, &cell);
        strbuf_format(out, "} %.15g\n", value / family->divisor);
    }
}

static void add_states(const struct report_input *input, struct strbuf *out)
{
    if (input->verdicts->count > 0) {
        add_head(out, "cell_state", "",
            "Each cell with its state; the value is the exit code that it "
            "asks for.",
            "");
    }
    for (uint32_t i = 0; i < input->verdicts->count; i++) {
        const struct verdict *const verdict = &input->verdicts->list[i];
        struct report_cell cell;

        report_cell_of(input, i, &cell);
        strbuf_add(out, "nvbw_cell_state");
        add_cell_labels(out, &cell);
        strbuf_format(out, ",state=\"%s\",reason=\"",
            name_of(state_names, verdict->state));
        escape_label(out, verdict->reason);
        strbuf_format(out, "\"} %u\n", verdict->exit_code);
    }
}

int32_t report_prometheus(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    (void)err;
    add_run(input, out);
    add_counts(input, out);
    add_gpus(&input->evidence->facts, out);
    add_findings(input, out);
    add_states(input, out);
    for (size_t i = 0; i < FAMILIES; i++) {
        add_family(input, out, &families[i], "cell_",
            "Median of a cell's samples ", figure_of);
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        add_family(input, out, &families[i], "cell_limit_", "Limit of a cell ",
            limit_of);
    }
    return NVBW_OK;
}
