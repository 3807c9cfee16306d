/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The page of a fleet, in the order in which somebody looks for the node to go
 * to: outliers among their siblings, who is missing, who did not pass, what is
 * not alike, figures. Healthy nodes are folded into a list of names, and every
 * list has an end, so that ten thousand nodes fit. */
#include "fleet_report.h"

#include <math.h>
#include <stdio.h>

#include "html_page.h"
#include "quantity.h"
#include "report_formats.h"

enum {
    NODES_LIMIT = 1000,   /* with something to tell, of each kind */
    CELLS_LIMIT = 16,     /* of one node */
    FINDINGS_LIMIT = 8,   /* of one node */
    NAMES_LIMIT = 20000,  /* in lists of names */
    VALUES_LIMIT = 50,    /* that differ */
    NAMES_OPEN = 200,     /* more are folded */
    TITLE_LIMIT = 1 << 16 /* bytes */
};

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_more(const struct html *page, uint32_t count, uint32_t listed)
{
    if (count > listed) {
        html_format(page, "<p>... and %u more; the json report has all.</p>\n",
            count - listed);
    }
}

static void begin_table(
    const struct html *page, const char *label, const char *heads)
{
    html_format(page,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"%s\"><table class=\"fleet\"><thead><tr>",
        label);
    html_add(page, heads);
    html_add(page, "</tr></thead><tbody>\n");
}

static void end_table(const struct html *page)
{
    html_add(page, "</tbody></table></div>\n");
}

static void add_figure(
    const struct html *page, const char *start, uint32_t measure, double value)
{
    char text[32];

    html_add(page, start);
    if (!isnan(value)) {
        quantity_format(value, measure, text, sizeof text);
        html_text(page, text);
    }
}

/* "ce_h2d/host_to_device_memcpy_ce 4 MiB bandwidth GPU 1" */
static void add_cell_name(const struct html *page, const struct fleet_cell *at)
{
    const char *const words[] = { at->sweep, at->metric, at->place };

    html_text(page, or_text(at->plugin, "?"));
    html_add(page, "/");
    html_text(page, at->testcase);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i] != NULL && words[i][0] != '\0') {
            html_add(page, " ");
            html_text(page, words[i]);
        }
    }
}

/* ---- head ---- */

static void add_top(
    const struct html *page, const struct fleet *fleet, const char *title)
{
    const struct fleet_node *const node =
        fleet->nodes_count == 0 ? NULL : &fleet->nodes[0];
    uint32_t simulated = 0;

    html_add(page, "<header><h1>");
    html_text(page, title);
    html_add(page, "</h1>\n<p>");
    html_text(page, node == NULL ? NULL : node->started);
    html_add(page, fleet->nodes_count > 1 ? " and other runs, " : " ");
    html_text(page, node == NULL ? NULL : node->build);
    html_add(page,
        "</p>\n<nav aria-label=\"Parts\"><a href=\"#outliers\">Outliers</a> "
        "<a href=\"#absent\">Missing</a> <a href=\"#nodes\">Nodes</a> "
        "<a href=\"#unlike\">Differences</a> "
        "<a href=\"#figures\">Figures</a></nav></header>\n<main>\n");
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        simulated += fleet->nodes[i].simulated && !fleet->nodes[i].superseded;
    }
    if (simulated > 0) {
        html_format(page,
            "<p class=\"banner\">Simulated driver on %u of %u nodes: their "
            "figures were not measured on hardware.</p>\n",
            simulated, fleet->counted);
    }
}

static void add_verdict(const struct html *page, const struct fleet *fleet)
{
    const struct exit_words *const words = report_words_of(fleet->exit_code);
    int is_first = 1;

    html_format(page, "<p class=\"verdict e%d\"><strong>%s</strong> ",
        (int)fleet->exit_code, words->word);
    fleet_verdict(fleet, page->out, NULL);
    html_add(page, "</p>\n<p class=\"counts\">");
    for (int32_t code = 0; code < 8; code++) {
        if (fleet->by_exit[code] > 0) {
            html_format(page, "%s%u %s (exit %d)", is_first ? "" : ", ",
                fleet->by_exit[code], report_words_of(code)->word, (int)code);
            is_first = 0;
        }
    }
    html_add(page, "</p>\n");
}

/* ---- outliers ---- */

static void add_outlier(const struct html *page, const struct fleet *fleet,
    const struct fleet_outlier *outlier)
{
    const struct fleet_cell *const cell = &fleet->cells[outlier->cell];

    html_add(page, "<td>");
    add_cell_name(page, cell);
    add_figure(page, "<td class=\"n s-fail\">", cell->measure, outlier->figure);
    add_figure(page, "<td class=\"n\">", cell->measure, cell->median);
    html_format(page, "<td class=\"n\">%+.1f %%<td class=\"n\">%.0f</tr>\n",
        outlier->gain * 100.0, outlier->z);
}

static void add_outliers_of(const struct html *page, const struct fleet *fleet,
    const struct fleet_node *node)
{
    const uint32_t listed =
        node->outliers_count < CELLS_LIMIT ? node->outliers_count : CELLS_LIMIT;

    for (uint32_t i = 0; i < listed; i++) {
        html_add(page, "<tr>");
        if (i == 0) {
            html_format(page, "<th scope=\"rowgroup\" rowspan=\"%u\">",
                listed + (listed < node->outliers_count));
            html_text(page, node->host);
            html_format(page, "<br><span class=\"sweep\">%u of %u cells</span>",
                node->outliers_count, node->cells);
        }
        add_outlier(page, fleet, &fleet->outliers[node->first_outlier + i]);
    }
    if (listed < node->outliers_count) {
        html_format(page, "<tr><td colspan=\"5\">... and %u more cells</tr>\n",
            node->outliers_count - listed);
    }
}

static void add_outliers(const struct html *page, const struct fleet *fleet)
{
    uint32_t count = 0;

    html_add(page, "<section id=\"outliers\"><h2>Outliers among their "
                   "siblings</h2>\n");
    if (fleet->counted < FLEET_NODES_LEAST) {
        html_format(page,
            "<p>No node is compared with its siblings: %d and more are "
            "needed.</p>\n",
            FLEET_NODES_LEAST);
    } else if (fleet->outlier_nodes == 0) {
        html_add(page, "<p>None.</p>\n");
    } else {
        begin_table(page, "Outliers",
            "<th>node<th>cell<th class=\"n\">figure<th class=\"n\">median of "
            "all<th class=\"n\">difference<th class=\"n\">z");
    }
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        if (fleet->nodes[i].outliers_count > 0 && ++count <= NODES_LIMIT) {
            add_outliers_of(page, fleet, &fleet->nodes[i]);
        }
    }
    if (count > 0) {
        end_table(page);
    }
    add_more(page, count, NODES_LIMIT);
    html_add(page, "</section>\n");
}

/* ---- who is there ---- */

static void begin_names(
    const struct html *page, const char *title, uint32_t count)
{
    html_format(page,
        "<details%s><summary>%s: %u</summary>\n<p class=\"names\">",
        count <= NAMES_OPEN ? " open" : "", title, count);
}

static void end_names(const struct html *page, uint32_t count)
{
    html_add(page, "</p>\n");
    add_more(page, count, NAMES_LIMIT);
    html_add(page, "</details>\n");
}

static void add_name(const struct html *page, const char *name)
{
    html_add(page, "<span>");
    html_text(page, name);
    html_add(page, "</span> ");
}

static void add_names(const struct html *page, const char *title,
    const char *const *names, uint32_t count)
{
    if (count == 0) {
        return;
    }
    begin_names(page, title, count);
    for (uint32_t i = 0; i < count && i < NAMES_LIMIT; i++) {
        add_name(page, names[i]);
    }
    end_names(page, count);
}

static void add_absent(const struct html *page, const struct fleet *fleet)
{
    html_add(page, "<section id=\"absent\"><h2>Missing, and without a usable "
                   "run</h2>\n");
    if (fleet->expected_count == 0) {
        html_add(page, "<p>Nobody said which nodes are to be there "
                       "(--expect-nodes).</p>\n");
    } else if (fleet->missing_count == 0) {
        html_format(page, "<p>None of the %u expected nodes is missing.</p>\n",
            fleet->expected_count);
    }
    add_names(page, "Missing nodes", fleet->missing, fleet->missing_count);
    add_names(page, "Nodes that were not expected", fleet->unexpected,
        fleet->unexpected_count);
    if (fleet->troubles_count > 0) {
        html_add(page, "<h3>Directories without a usable run</h3>\n");
        begin_table(page, "Unusable", "<th>directory<th>why");
    }
    for (uint32_t i = 0; i < fleet->troubles_count && i < NODES_LIMIT; i++) {
        html_add(page, "<tr><th scope=\"row\">");
        html_text(page, fleet->troubles[i].path);
        html_add(page, "<td>");
        html_text(page, or_text(fleet->troubles[i].why, "?"));
        html_add(page, "</tr>\n");
    }
    if (fleet->troubles_count > 0) {
        end_table(page);
    }
    add_more(page, fleet->troubles_count, NODES_LIMIT);
    html_add(page, "</section>\n");
}

/* ---- nodes ---- */

static int is_quiet(const struct fleet_node *node)
{
    return node->exit_code == EXIT_PASSED && node->findings_count == 0;
}

static void add_states(const struct html *page, const struct fleet_node *node)
{
    int is_first = 1;

    for (uint32_t state = STATE_SKIP; state < STATE_COUNT; state++) {
        if (node->by_state[state] > 0) {
            html_format(page, "%s<span class=\"s-%s\">%u %s</span>",
                is_first ? "" : ", ", name_of(state_names, state),
                node->by_state[state], name_of(state_names, state));
            is_first = 0;
        }
    }
}

static void add_bad_cells(const struct html *page, const struct fleet *fleet,
    const struct fleet_node *node)
{
    if (node->bad_count == 0) {
        return;
    }
    html_format(page,
        "<details><summary>%u cell%s</summary><ul class=\"notes\">",
        node->bad_count, plural(node->bad_count));
    for (uint32_t i = 0; i < node->bad_count && i < CELLS_LIMIT; i++) {
        const struct fleet_bad *const bad = &fleet->bad[node->first_bad + i];
        const struct fleet_cell *const cell = &fleet->cells[bad->cell];

        html_format(page, "<li><span class=\"s-%s\">%s</span> ",
            name_of(state_names, bad->state), name_of(state_names, bad->state));
        add_cell_name(page, cell);
        add_figure(
            page, isnan(bad->figure) ? "" : ": ", cell->measure, bad->figure);
        html_add(page, "</li>");
    }
    if (node->bad_count > CELLS_LIMIT) {
        html_format(
            page, "<li>... and %u more</li>", node->bad_count - CELLS_LIMIT);
    }
    html_add(page, "</ul></details>");
}

static void add_findings(const struct html *page, const struct fleet_node *node)
{
    if (node->findings_count == 0) {
        return;
    }
    html_add(page, "<ul class=\"findings\">");
    for (uint32_t i = 0; i < node->findings_count && i < FINDINGS_LIMIT; i++) {
        const struct node_finding *const at = &node->findings[i];

        html_format(page, "<li%s><p class=\"what\">",
            at->accepted ? " class=\"accepted\"" : "");
        html_text(page, or_text(at->what, "?"));
        html_add(page, at->accepted ? " (accepted)</p>" : "</p>");
        html_add(page, "<p class=\"action\">");
        html_text(page, or_text(at->action, ""));
        html_add(page, "</p></li>");
    }
    if (node->findings_count > FINDINGS_LIMIT) {
        html_format(page, "<li>... and %u more</li>",
            node->findings_count - FINDINGS_LIMIT);
    }
    html_add(page, "</ul>");
}

static void add_node(const struct html *page, const struct fleet *fleet,
    const struct fleet_node *node)
{
    html_add(page, "<tr><th scope=\"row\">");
    html_text(page, node->host);
    html_add(page, "<br><span class=\"sweep\">");
    html_text(page, node->path);
    html_format(page, "</span><td>%s<br>exit %d%s<td>",
        report_words_of(node->exit_code)->word, (int)node->exit_code,
        node->complete ? "" : ", not complete");
    add_states(page, node);
    html_add(page, "<td>");
    add_findings(page, node);
    add_bad_cells(page, fleet, node);
    html_add(page, "</tr>\n");
}

static void add_passed(const struct html *page, const struct fleet *fleet)
{
    uint32_t count = 0;
    uint32_t listed = 0;

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        count += !fleet->nodes[i].superseded && is_quiet(&fleet->nodes[i]);
    }
    if (count == 0) {
        return;
    }
    begin_names(page, "Passed, without a finding", count);
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        if (!fleet->nodes[i].superseded && is_quiet(&fleet->nodes[i]) &&
            listed++ < NAMES_LIMIT) {
            add_name(page, fleet->nodes[i].host);
        }
    }
    end_names(page, count);
}

static void add_superseded(const struct html *page, const struct fleet *fleet)
{
    const uint32_t count = fleet->nodes_count - fleet->counted;
    uint32_t listed = 0;

    if (count == 0) {
        return;
    }
    html_format(page,
        "<details><summary>Older runs of hosts that have a newer one: "
        "%u</summary>\n<ul class=\"notes\">",
        count);
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        if (fleet->nodes[i].superseded && listed++ < NODES_LIMIT) {
            html_add(page, "<li>");
            html_text(page, fleet->nodes[i].host);
            html_add(page, ": ");
            html_text(page, fleet->nodes[i].path);
            html_add(page, ", ");
            html_text(page, or_text(fleet->nodes[i].started, "unknown time"));
            html_add(page, "</li>\n");
        }
    }
    html_add(page, "</ul>\n");
    add_more(page, count, NODES_LIMIT);
    html_add(page, "</details>\n");
}

static void add_nodes(const struct html *page, const struct fleet *fleet)
{
    uint32_t count = 0;

    html_add(page, "<section id=\"nodes\"><h2>Nodes</h2>\n");
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        const struct fleet_node *const node = &fleet->nodes[i];

        if (node->superseded || is_quiet(node) || ++count > NODES_LIMIT) {
            continue;
        }
        if (count == 1) {
            html_add(page, "<h3>Not passed, or with findings</h3>\n");
            begin_table(page, "Nodes",
                "<th>node<th>outcome<th>cells<th>findings and what to do");
        }
        add_node(page, fleet, node);
    }
    if (count > 0) {
        end_table(page);
    }
    add_more(page, count, NODES_LIMIT);
    add_passed(page, fleet);
    add_superseded(page, fleet);
    html_add(page, "</section>\n");
}

/* ---- what is not alike ---- */

static void add_values(const struct html *page, const struct fleet *fleet,
    const struct fleet_difference *difference)
{
    for (uint32_t i = 0; i < difference->values_count && i < VALUES_LIMIT;
         i++) {
        const struct fleet_value *const value = &difference->values[i];

        html_add(page, "<tr><th scope=\"row\">");
        html_text(page, i == 0 ? difference->what : "");
        html_element(page, "td", or_text(value->value, "unknown"));
        html_format(page, "<td class=\"n\">%u<td>", value->count);
        html_text(page, fleet->nodes[value->first].host);
        html_add(page, value->count > 1 ? ", ...</tr>\n" : "</tr>\n");
    }
    if (difference->values_count > VALUES_LIMIT) {
        html_format(page, "<tr><td><td>... and %u more values<td><td></tr>\n",
            difference->values_count - VALUES_LIMIT);
    }
}

static void add_differences(const struct html *page, const struct fleet *fleet)
{
    html_add(page, "<section id=\"unlike\"><h2>Not alike on all nodes</h2>\n");
    if (fleet->differences_count == 0) {
        html_add(page, "<p>Nothing: builds, drivers, plans and GPUs are the "
                       "same.</p>\n</section>\n");
        return;
    }
    begin_table(
        page, "Differences", "<th>what<th>value<th class=\"n\">nodes<th>first");
    for (uint32_t i = 0; i < fleet->differences_count; i++) {
        add_values(page, fleet, &fleet->differences[i]);
    }
    end_table(page);
    html_add(page, "</section>\n");
}

int32_t fleet_html(
    const struct fleet *fleet, struct strbuf *out, struct error *err)
{
    const struct html page = { .out = out };
    struct strbuf title;

    (void)err;
    strbuf_init(&title, TITLE_LIMIT);
    strbuf_format(&title, "%s on %u node%s",
        fleet->nodes_count == 0 ? "fleet"
                                : or_text(fleet->nodes[0].plan, "unnamed"),
        fleet->counted, plural(fleet->counted));
    html_open(&page, report_words_of(fleet->exit_code)->word, title.text);
    add_top(&page, fleet, title.text);
    strbuf_free(&title);
    add_verdict(&page, fleet);
    add_outliers(&page, fleet);
    add_absent(&page, fleet);
    add_nodes(&page, fleet);
    add_differences(&page, fleet);
    fleet_html_figures(&page, fleet);
    html_close(&page);
    return NVBW_OK;
}
