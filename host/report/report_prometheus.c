/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Prometheus text for the textfile collector of node_exporter: what the last
 * run on this machine said, in Prometheus' base units (seconds, bytes). A
 * series carries no text that grows with the run: sentences stand in the other
 * reports.
 *
 * A server keeps each series for weeks, so their number has a bound whatever
 * the machine and the plan. Each metric has its least, median and most figure
 * and its cells by state. Beside these, cells that ask for an exit code come
 * first, then whole metrics of few cells, the newest rounds before older ones,
 * until the file is full; what was left out is counted and said. */
#include "report_formats.h"

#include <math.h>
#include <string.h>

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

enum {
    METRIC_CELLS = 256, /* with series of their own, of one metric */
    FILE_CELLS = 4096,  /* and of all */
    FILE_METRICS = 1024,
    FILE_FINDINGS = 256
};

/* The cells of one metric of one unit. */
struct span {
    uint32_t first, count; /* verdicts */
};

struct prometheus {
    const struct report_input *input;
    struct strbuf *out;
    struct span *spans; /* those that have series */
    uint32_t spans_count, spans_all;
    unsigned char *is_shown; /* per verdict: it has series of its own */
    uint32_t shown;
};

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
    for (uint32_t i = 0;
         i < input->verdicts->findings_count && i < FILE_FINDINGS; i++) {
        const struct finding *const finding = &input->verdicts->findings[i];

        strbuf_format(out, "nvbw_finding{number=\"%u\",id=\"", i);
        escape_label(out, finding->id);
        strbuf_add(out, "\"");
        add_gpu_label(out, facts, "gpu", finding->gpu);
        add_gpu_label(out, facts, "peer", finding->peer);
        strbuf_format(out, "} %d\n", finding->accepted ? 0 : 1);
    }
}

/* ---- what has series ---- */

static int is_bad(const struct verdict *verdict)
{
    return verdict->exit_code != EXIT_PASSED;
}

/* The metric whose last cell is before `end`. */
static struct span span_before(const struct verdicts *verdicts, uint32_t end)
{
    const struct verdict *const last = &verdicts->list[end - 1];
    uint32_t first = end - 1;

    while (first > 0 && verdicts->list[first - 1].unit == last->unit &&
           strcmp(verdicts->list[first - 1].metric, last->metric) == 0) {
        first--;
    }
    return (struct span){ first, end - first };
}

/* Metrics in the order of the run, of too many the newest. */
static void find_spans(struct prometheus *to)
{
    const struct verdicts *const verdicts = to->input->verdicts;
    struct span span = { verdicts->count, 0 };

    while (span.first > 0) {
        span = span_before(verdicts, span.first);
        if (to->spans_all++ < FILE_METRICS) {
            to->spans[to->spans_count++] = span;
        }
    }
    for (uint32_t i = 0; i < to->spans_count / 2; i++) {
        const struct span other = to->spans[i];

        to->spans[i] = to->spans[to->spans_count - 1 - i];
        to->spans[to->spans_count - 1 - i] = other;
    }
}

/* Shows cells of a metric, only bad ones or all, while there is room. */
static void show(struct prometheus *to, const struct span *span, int only_bad)
{
    uint32_t left = METRIC_CELLS;

    for (uint32_t i = span->first;
         i < span->first + span->count && left > 0 && to->shown < FILE_CELLS;
         i++) {
        if (!only_bad || is_bad(&to->input->verdicts->list[i])) {
            to->shown += !to->is_shown[i];
            to->is_shown[i] = 1;
            left--;
        }
    }
}

static void choose(struct prometheus *to)
{
    find_spans(to);
    for (uint32_t i = to->spans_count; i > 0; i--) {
        show(to, &to->spans[i - 1], 1);
    }
    for (uint32_t i = to->spans_count; i > 0; i--) {
        const struct span *const span = &to->spans[i - 1];

        /* A part of a matrix would be taken for the whole. */
        if (span->count <= METRIC_CELLS &&
            span->count <= FILE_CELLS - to->shown) {
            show(to, span, 0);
        }
    }
}

static void add_left_out(const struct prometheus *from)
{
    const uint32_t cells = from->input->verdicts->count - from->shown;
    const uint32_t metrics = from->spans_all - from->spans_count;

    add_number(from->out, "run_cells_left_out",
        "Cells that have no series of their own here.", cells);
    if (cells > 0) {
        strbuf_format(from->out,
            "# Of %u cells %u have no series of their own: a metric of more "
            "than %d cells has those that failed, and the file at most %d. "
            "nvbw_metric_* speaks of all; the csv report has each.\n",
            from->input->verdicts->count, cells, METRIC_CELLS, FILE_CELLS);
    }
    if (metrics > 0) {
        strbuf_format(from->out,
            "# Of %u metrics %u, of older rounds or of the plan's first "
            "testcases, have no series: the file has at most %d.\n",
            from->spans_all, metrics, FILE_METRICS);
    }
}

/* ---- metrics ---- */

static void add_metric_labels(
    struct strbuf *out, const struct report_cell *cell)
{
    int is_first = 1;

    add_label(out, &is_first, "suite", cell->suite);
    add_label(out, &is_first, "plugin", cell->unit->plugin);
    add_label(out, &is_first, "testcase", cell->unit->testcase);
    add_label(out, &is_first, "sweep", cell->unit->sweep);
    add_label(out, &is_first, "metric", cell->verdict->metric);
    strbuf_format(out, ",round=\"%u\"", cell->unit->round);
}

static void add_counts_of(
    const struct prometheus *from, const struct span *span)
{
    uint32_t counts[STATE_COUNT] = { 0 };
    struct report_cell cell;

    report_cell_of(from->input, span->first, &cell);
    for (uint32_t i = 0; i < span->count; i++) {
        counts[from->input->verdicts->list[span->first + i].state]++;
    }
    for (uint32_t state = 0; state < STATE_COUNT; state++) {
        if (counts[state] > 0) {
            strbuf_add(from->out, "nvbw_metric_cells");
            add_metric_labels(from->out, &cell);
            strbuf_format(from->out, ",state=\"%s\"} %u\n",
                name_of(state_names, state), counts[state]);
        }
    }
}

static void add_metric_counts(const struct prometheus *from)
{
    if (from->spans_count > 0) {
        add_head(
            from->out, "metric_cells", "", "Cells of a metric by state.", "");
    }
    for (uint32_t i = 0; i < from->spans_count; i++) {
        add_counts_of(from, &from->spans[i]);
    }
}

/* Least, median and most; nothing where no cell has a figure. */
static void add_stats(const struct prometheus *from,
    const struct family *family, const struct span *span, int *has_head)
{
    const struct verdict *const list =
        &from->input->verdicts->list[span->first];
    struct report_cell cell;
    struct stats stats;
    struct arena arena;
    uint32_t count = 0;

    arena_init(&arena, SIZE_MAX);

    double *const figures = arena_alloc(&arena, span->count, sizeof *figures);

    report_cell_of(from->input, span->first, &cell);
    for (uint32_t i = 0; figures != NULL && i < span->count; i++) {
        if (!isnan(list[i].figure)) {
            figures[count++] = list[i].figure;
        }
    }
    stats_of(figures, count, &stats);
    arena_clear(&arena);

    const struct {
        const char *name;
        double value;
    } values[] = { { "min", stats.min }, { "median", stats.median },
        { "max", stats.max } };

    if (count == 0 || report_scale_of(cell.shape->unit)->unit != family->unit) {
        return;
    }
    if (!*has_head) {
        add_head(from->out, "metric_", family->suffix,
            "Figures of a metric over its cells ", family->words);
        *has_head = 1;
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        strbuf_format(from->out, "nvbw_metric_%s", family->suffix);
        add_metric_labels(from->out, &cell);
        strbuf_format(from->out, ",stat=\"%s\"} %.15g\n", values[i].name,
            values[i].value / family->divisor);
    }
}

static void add_metrics(const struct prometheus *from)
{
    add_metric_counts(from);
    for (size_t i = 0; i < FAMILIES; i++) {
        int has_head = 0;

        for (uint32_t k = 0; k < from->spans_count; k++) {
            add_stats(from, &families[i], &from->spans[k], &has_head);
        }
    }
}

/* ---- cells ---- */

/* Labels that no other cell of the run has together. */
static void add_cell_labels(struct strbuf *out, const struct report_cell *cell)
{
    int is_first = 0;

    add_metric_labels(out, cell);
    add_label(out, &is_first, "row", cell->row);
    add_label(out, &is_first, "col", cell->col);
    strbuf_format(out, ",cell=\"%u\"", cell->verdict->cell);
}

static double figure_of(const struct verdict *verdict)
{
    return verdict->figure;
}

static double limit_of(const struct verdict *verdict)
{
    return verdict->limit;
}

static void add_family(const struct prometheus *from,
    const struct family *family, const char *name, const char *help,
    double (*value_of)(const struct verdict *verdict))
{
    const struct report_input *const input = from->input;
    struct strbuf *const out = from->out;
    int has_head = 0;

    for (uint32_t i = 0; i < input->verdicts->count; i++) {
        const double value = value_of(&input->verdicts->list[i]);
        struct report_cell cell;

        if (isnan(value) || !from->is_shown[i]) {
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

static void add_states(const struct prometheus *from)
{
    const struct report_input *const input = from->input;
    struct strbuf *const out = from->out;

    if (from->shown > 0) {
        add_head(out, "cell_state", "",
            "Each cell with its state; the value is the exit code that it "
            "asks for.",
            "");
    }
    for (uint32_t i = 0; i < input->verdicts->count; i++) {
        const struct verdict *const verdict = &input->verdicts->list[i];
        struct report_cell cell;

        if (!from->is_shown[i]) {
            continue;
        }
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
    struct arena arena;

    arena_init(&arena, SIZE_MAX);

    struct prometheus to = { .input = input,
        .out = out,
        .spans = arena_alloc(&arena, FILE_METRICS, sizeof *to.spans),
        .is_shown =
            arena_alloc(&arena, (size_t)input->verdicts->count + 1, 1) };
    const int has_memory = to.spans != NULL && to.is_shown != NULL;

    if (has_memory) {
        choose(&to);
        add_run(input, out);
        add_counts(input, out);
        add_left_out(&to);
        add_gpus(&input->evidence->facts, out);
        add_findings(input, out);
        add_metrics(&to);
        add_states(&to);
        for (size_t i = 0; i < FAMILIES; i++) {
            add_family(&to, &families[i], "cell_",
                "Median of a cell's samples ", figure_of);
        }
        for (size_t i = 0; i < FAMILIES; i++) {
            add_family(
                &to, &families[i], "cell_limit_", "Limit of a cell ", limit_of);
        }
    }
    arena_clear(&arena);
    FAIL_IF(
        !has_memory, err, NVBW_E_SYSTEM, "no memory for the prometheus report");
    return NVBW_OK;
}
