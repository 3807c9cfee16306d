/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet_report.h"

#include <math.h>
#include <string.h>

#include "quantity.h"

/* What more there is, the report in JSON lists. */
enum { NODES_LISTED = 50, CELLS_LISTED = 3, NAMES_LISTED = 100 };

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_more(struct strbuf *out, uint32_t count, uint32_t listed)
{
    if (count > listed) {
        strbuf_format(out, "  ... and %u more; --report json=FILE has all\n",
            count - listed);
    }
}

/* ---- head ---- */

static void add_head(const struct fleet *fleet, struct strbuf *out)
{
    static const struct {
        int32_t code;
        const char *word;
    } words[] = { { EXIT_PASSED, "passed" }, { EXIT_FAILED, "failed" },
        { EXIT_HEALTH, "unhealthy" }, { EXIT_INCOMPLETE, "incomplete" },
        { EXIT_CONTRACT, "with a refused plugin" } };
    uint64_t cells = 0;

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        cells += fleet->nodes[i].superseded ? 0 : fleet->nodes[i].cells;
    }
    strbuf_format(out, "Fleet of %u node%s, %llu cells", fleet->counted,
        plural(fleet->counted), (unsigned long long)cells);
    if (fleet->counted > 0) {
        strbuf_format(
            out, ", plan \"%s\"", or_text(fleet->nodes[0].plan, "unnamed"));
    }
    strbuf_add(out, "\n");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const uint32_t count = fleet->by_exit[words[i].code];

        if (count > 0) {
            strbuf_format(out, "  %u %s (exit %d)\n", count, words[i].word,
                words[i].code);
        }
    }
}

/* ---- nodes ---- */

static void add_cell(
    const struct fleet *fleet, uint32_t cell, double figure, struct strbuf *out)
{
    const struct fleet_cell *const at = &fleet->cells[cell];
    char text[32] = "no figure";

    if (!isnan(figure)) {
        quantity_format(figure, at->measure, text, sizeof text);
    }
    strbuf_format(out, "%s/%s%s%s %s%s%s: %s", or_text(at->plugin, "?"),
        at->testcase, at->sweep == NULL ? "" : " ", or_text(at->sweep, ""),
        at->metric, at->place[0] == '\0' ? "" : " ", at->place, text);
}

static void add_bad_cells(const struct fleet *fleet,
    const struct fleet_node *node, struct strbuf *out)
{
    for (uint32_t i = 0; i < node->bad_count && i < CELLS_LISTED; i++) {
        const struct fleet_bad *const bad = &fleet->bad[node->first_bad + i];

        strbuf_format(out, "    %s, ", name_of(state_names, bad->state));
        add_cell(fleet, bad->cell, bad->figure, out);
        strbuf_add(out, "\n");
    }
    if (node->bad_count > CELLS_LISTED) {
        strbuf_format(out, "    ... and %u more cell%s\n",
            node->bad_count - CELLS_LISTED,
            plural(node->bad_count - CELLS_LISTED));
    }
}

static void add_findings(const struct fleet_node *node, struct strbuf *out)
{
    for (uint32_t i = 0; i < node->findings_count && i < CELLS_LISTED; i++) {
        strbuf_format(out, "    %s%s\n      -> %s\n",
            or_text(node->findings[i].what, "?"),
            node->findings[i].accepted ? " (accepted)" : "",
            or_text(node->findings[i].action, ""));
    }
}

static void add_nodes(const struct fleet *fleet, struct strbuf *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        const struct fleet_node *const node = &fleet->nodes[i];

        if (node->superseded ||
            (node->exit_code == EXIT_PASSED && node->findings_count == 0)) {
            continue;
        }
        if (count++ == 0) {
            strbuf_add(out, "\nNodes that did not pass, or have findings\n");
        }
        if (count <= NODES_LISTED) {
            strbuf_format(out, "  %s: exit %d, %s%s\n", node->host,
                node->exit_code, node->path,
                node->complete ? "" : ", not complete");
            add_bad_cells(fleet, node, out);
            add_findings(node, out);
        }
    }
    add_more(out, count, NODES_LISTED);
}

/* ---- outliers ---- */

static void add_outlier(const struct fleet *fleet,
    const struct fleet_outlier *outlier, struct strbuf *out)
{
    const struct fleet_cell *const cell = &fleet->cells[outlier->cell];
    char median[32];

    quantity_format(cell->median, cell->measure, median, sizeof median);
    strbuf_add(out, "    ");
    add_cell(fleet, outlier->cell, outlier->figure, out);
    strbuf_format(out, " where the median is %s (%+.1f %%, z %.0f)\n", median,
        outlier->gain * 100.0, outlier->z);
}

static void add_outliers(const struct fleet *fleet, struct strbuf *out)
{
    uint32_t count = 0;

    if (fleet->outliers_count > 0) {
        strbuf_add(out, "\nOutliers among their siblings\n");
    }
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        const struct fleet_node *const node = &fleet->nodes[i];

        if (node->outliers_count == 0 || ++count > NODES_LISTED) {
            continue;
        }
        strbuf_format(out, "  %s: %u of %u cells\n", node->host,
            node->outliers_count, node->cells);
        for (uint32_t k = 0; k < node->outliers_count && k < CELLS_LISTED;
             k++) {
            add_outlier(fleet, &fleet->outliers[node->first_outlier + k], out);
        }
    }
    add_more(out, count, NODES_LISTED);
    if (fleet->counted < FLEET_NODES_LEAST) {
        strbuf_format(out,
            "\nNo node is compared with its siblings: %d and more are needed\n",
            FLEET_NODES_LEAST);
    }
}

/* ---- who is there ---- */

static void add_names(const char *title, const char *const *names,
    uint32_t count, struct strbuf *out)
{
    if (count == 0) {
        return;
    }
    strbuf_format(out, "\n%s (%u):", title, count);
    for (uint32_t i = 0; i < count && i < NAMES_LISTED; i++) {
        strbuf_format(out, " %s", names[i]);
    }
    strbuf_add(out, "\n");
    add_more(out, count, NAMES_LISTED);
}

static void add_troubles(const struct fleet *fleet, struct strbuf *out)
{
    if (fleet->troubles_count > 0) {
        strbuf_add(out, "\nDirectories without a usable run\n");
    }
    for (uint32_t i = 0; i < fleet->troubles_count && i < NODES_LISTED; i++) {
        strbuf_format(out, "  %s: %s\n", fleet->troubles[i].path,
            or_text(fleet->troubles[i].why, "?"));
    }
    add_more(out, fleet->troubles_count, NODES_LISTED);
}

static void add_superseded(const struct fleet *fleet, struct strbuf *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        if (!fleet->nodes[i].superseded) {
            continue;
        }
        if (count++ == 0) {
            strbuf_add(out, "\nOlder runs of hosts that have a newer one\n");
        }
        if (count <= NODES_LISTED) {
            strbuf_format(out, "  %s: %s, %s\n", fleet->nodes[i].host,
                fleet->nodes[i].path,
                or_text(fleet->nodes[i].started, "unknown time"));
        }
    }
    add_more(out, count, NODES_LISTED);
}

static void add_differences(const struct fleet *fleet, struct strbuf *out)
{
    if (fleet->differences_count > 0) {
        strbuf_add(out, "\nNot alike on all nodes\n");
    }
    for (uint32_t i = 0; i < fleet->differences_count; i++) {
        const struct fleet_difference *const at = &fleet->differences[i];

        strbuf_format(out, "  %s:", at->what);
        for (uint32_t k = 0; k < at->values_count && k < CELLS_LISTED + 2;
             k++) {
            const struct fleet_value *const value = &at->values[k];

            strbuf_format(out, "%s %s on %u node%s%s%s%s", k == 0 ? "" : ";",
                or_text(value->value, "unknown"), value->count,
                plural(value->count), k == 0 ? "" : " (",
                k == 0 ? "" : fleet->nodes[value->first].host,
                k == 0              ? ""
                : value->count == 1 ? ")"
                                    : ", ...)");
        }
        strbuf_add(out, "\n");
    }
}

/* ---- figures ---- */

static void add_figures(const struct fleet *fleet, struct strbuf *out)
{
    struct fleet_figures at = { 0 };
    char texts[3][32];

    if (fleet->cells_count > 0) {
        strbuf_add(out, "\nFigures over all nodes, by cell\n");
    }
    while (fleet_figures_next(fleet, &at)) {
        const struct fleet_cell *const cell = at.cell;

        if (at.is_first_of_kind) {
            strbuf_format(out, "  nodes of %u x %s\n", cell->gpus,
                or_text(cell->gpu_model, "no GPU"));
        }
        if (at.worst == NULL) {
            continue;
        }
        quantity_format(at.low, cell->measure, texts[0], sizeof texts[0]);
        quantity_format(at.high, cell->measure, texts[1], sizeof texts[1]);
        quantity_format(
            at.worst_figure, cell->measure, texts[2], sizeof texts[2]);
        strbuf_format(out, "  %s%s%s %s: medians %s to %s, worst %s (%s%s%s)\n",
            cell->testcase, cell->sweep == NULL ? "" : " ",
            or_text(cell->sweep, ""), cell->metric, texts[0], texts[1],
            texts[2], fleet->nodes[at.worst->worst].host,
            at.worst->place[0] == '\0' ? "" : ", ", at.worst->place);
    }
}

static void add_foot(const struct fleet *fleet, struct strbuf *out)
{
    strbuf_format(out,
        "%u node%s, %u outlier%s, %u missing, %u without a usable run, exit "
        "%d\n",
        fleet->counted, plural(fleet->counted), fleet->outlier_nodes,
        plural(fleet->outlier_nodes), fleet->missing_count,
        fleet->troubles_count, fleet->exit_code);
}

int32_t fleet_text(
    const struct fleet *fleet, struct strbuf *out, struct error *err)
{
    (void)err;
    add_head(fleet, out);
    add_nodes(fleet, out);
    add_outliers(fleet, out);
    add_names("Missing nodes", fleet->missing, fleet->missing_count, out);
    add_names("Nodes that were not expected", fleet->unexpected,
        fleet->unexpected_count, out);
    add_troubles(fleet, out);
    add_superseded(fleet, out);
    add_differences(fleet, out);
    add_figures(fleet, out);
    strbuf_add(out, "\n");
    add_foot(fleet, out);
    return NVBW_OK;
}

int32_t fleet_verdict(
    const struct fleet *fleet, struct strbuf *out, struct error *err)
{
    (void)err;
    add_foot(fleet, out);
    return NVBW_OK;
}
