/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The parts of the HTML report of a run, and what that of a fleet has alike.
 *
 * One page, without a script and without anything from elsewhere: its policy
 * forbids both. What is told on demand stands in details elements, which a
 * keyboard opens as well. In order: verdict, findings, overview, a section per
 * unit, environment.
 *
 * How a metric is drawn follows from its shape: a matrix is a heat map, a row
 * or column is bars, the points of a sweep are curves. */
#ifndef NVBW_HTML_PAGE_H
#define NVBW_HTML_PAGE_H

#include "report_cell.h"
#include "report_formats.h"

/* report_page.css */
extern const char report_page_css[];

struct html {
    const struct report_input *input; /* with facts: NULL in that of a fleet */
    const struct facts *facts;
    struct strbuf *out;
};

/* The page up to its body, and from the end of its main part. The title is
 * "word: title". (html_frame.c) */
void html_open(const struct html *page, const char *word, const char *title);
void html_close(const struct html *page);

/* " (random)": the id of the unit's suite, where it tells it from others. */
void html_suite(const struct html *page, const struct unit *unit);

/* Markup of ours. */
void html_add(const struct html *page, const char *markup);
/* The same with numbers in it; text of others goes through html_text. */
void html_format(const struct html *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text of anyone, escaped; NULL is nothing. */
void html_text(const struct html *page, const char *text);
/* An element with text of anyone: <name>text</name>. */
void html_element(const struct html *page, const char *name, const char *text);
/* "55.44 GB/s"; nothing for NaN. */
void html_figure(const struct html *page, uint32_t unit, double value);
/* A mark beside a figure for those who see no colours: "!", "?", "~". */
const char *html_mark(uint32_t state);

/* What is said of a metric as a whole. */
struct html_summary {
    double least, median, most; /* NaN: no figure */
    uint32_t measured;
    const struct verdict *worst; /* NULL: no figure */
};
void html_summarise(const struct report_shape *of, struct html_summary *out);

/* The metrics of a unit one after another; 0 after the last. Zeroed before
 * the first, with unit, list and count set. */
struct html_shapes {
    const struct unit *unit;
    const struct verdict *list; /* its verdicts */
    uint32_t count;
    uint32_t next_shape, done;
    struct report_shape of;
};
int html_shape_next(struct html_shapes *at);

/* How good a figure is beside a reference, 1: as good; NaN: no telling. */
double html_goodness(
    const struct unit_shape *shape, double figure, double than);

/* ---- Parts ---- */
void html_findings_add(const struct html *page);
void html_overview_add(const struct html *page);
void html_units_add(const struct html *page);
void html_environment_add(const struct html *page);

/* ---- Drawings of one metric ---- */
void html_matrix_add(const struct html *page, const struct report_shape *of);
void html_bars_add(const struct html *page, const struct report_shape *of);
void html_samples_add(const struct html *page, const struct report_shape *of);

/* The points of a sweep: units of one testcase one after another. */
struct html_sweep {
    const struct unit *units;
    const struct verdict **lists; /* per unit */
    uint32_t *counts;
    uint32_t points;
};
void html_curves_add(const struct html *page, const struct html_sweep *sweep);

#endif
