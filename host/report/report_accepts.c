/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_lines.h"

#include <stdio.h>

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* "GPU 5, pair 0-1, device_to_*, cause pcie width" */
static void add_part(struct strbuf *out, const char *before, const char *text)
{
    if (text != NULL) {
        strbuf_format(
            out, "%s%s%s", out->length == 0 ? "" : ", ", before, text);
    }
}

static void add_coverage(
    struct strbuf *out, const struct acceptance *acceptance)
{
    const uint32_t cells = acceptance->cells;
    const uint32_t findings = acceptance->findings;

    if (cells + findings == 0) {
        strbuf_add(out, "nothing that failed");
        return;
    }
    if (cells > 0) {
        strbuf_format(out, "%u cell%s", cells, cells == 1 ? "" : "s");
    }
    if (findings > 0) {
        strbuf_format(out, "%s%u finding%s", cells > 0 ? ", " : "", findings,
            findings == 1 ? "" : "s");
    }
}

static void add_acceptance(const struct acceptance *acceptance,
    uint32_t columns, struct strbuf *out, struct strbuf *line)
{
    const struct plan_accept *const entry = acceptance->entry;

    add_part(line, "GPU ", entry->device);
    add_part(line, "pair ", entry->pair);
    add_part(line, "", entry->match);
    add_part(line, "cause ", entry->cause);
    strbuf_add(line, acceptance->ended ? ", ended: would cover " : ": covers ");
    add_coverage(line, acceptance);
    strbuf_format(line, " (%s:%u)", or_text(entry->origin.file, "?"),
        (unsigned)entry->origin.line);
    lines_add(out, columns, 2, line->text);
    lines_format(out, columns, 4, "known: %s%s%s%s%s", or_text(entry->why, ""),
        entry->ticket == NULL ? "" : ", ", or_text(entry->ticket, ""),
        entry->until == NULL ? "" : ", until ", or_text(entry->until, ""));
}

void report_accepts_add(
    const struct report_input *input, uint32_t columns, struct strbuf *out)
{
    const struct verdicts *const verdicts = input->verdicts;
    struct strbuf line;

    if (verdicts->acceptances_count == 0) {
        return;
    }
    strbuf_init(&line, 4096);
    strbuf_add(out, "\nAccepted defects\n");
    for (uint32_t i = 0; i < verdicts->acceptances_count; i++) {
        strbuf_reset(&line);
        add_acceptance(&verdicts->acceptances[i], columns, out, &line);
    }
    strbuf_free(&line);
}
