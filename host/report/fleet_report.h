/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A fleet as text, as JSON (configs/schema/fleet.schema.json) and as a page for
 * a browser. Only JSON grows with the fleet without end: the others name what
 * is wrong and sum up what is not. */
#ifndef NVBW_FLEET_REPORT_H
#define NVBW_FLEET_REPORT_H

#include "fleet.h"
#include "strbuf.h"

enum { FLEET_SCHEMA_VERSION = 1 };

struct fleet_format {
    const char *name;
    int32_t (*write)(
        const struct fleet *fleet, struct strbuf *out, struct error *err);
};
/* Ends with a NULL name. */
extern const struct fleet_format fleet_formats[];
const struct fleet_format *fleet_format_find(const char *name);

int32_t fleet_text(
    const struct fleet *fleet, struct strbuf *out, struct error *err);
/* Its last line only. */
int32_t fleet_verdict(
    const struct fleet *fleet, struct strbuf *out, struct error *err);
int32_t fleet_json(
    const struct fleet *fleet, struct strbuf *out, struct error *err);
int32_t fleet_html(
    const struct fleet *fleet, struct strbuf *out, struct error *err);

/* Cells of one metric over all nodes of one kind. (fleet_figures.c) */
struct fleet_figures {
    const struct fleet_cell *cell;  /* the first; NULL: after the last */
    uint32_t end;                   /* place in cells of the next metric's */
    uint32_t count;                 /* figures that are there */
    double low, high;               /* of the medians of its cells */
    const struct fleet_cell *worst; /* with the worst figure, NULL: none */
    double worst_figure;
    int is_first_of_kind; /* the first metric of nodes of this kind */
};
/* From the one before, zeroed before the first; 0 after the last. */
int fleet_figures_next(const struct fleet *fleet, struct fleet_figures *at);

/* The page's section about them. (fleet_html_figures.c) */
struct html;
void fleet_html_figures(const struct html *page, const struct fleet *fleet);

#endif
