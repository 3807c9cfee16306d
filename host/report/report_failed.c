/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_failed.h"
#include "unit_name.h"

#include <math.h>
#include <string.h>

enum { SENTENCE_LIMIT = 1 << 16 };

static int is_same(const char *one, const char *other)
{
    return strcmp(one == NULL ? "" : one, other == NULL ? "" : other) == 0;
}

/* A run that was stopped says so once, not once a testcase. */
static int may_differ_in_unit(const struct verdict *verdict)
{
    return verdict->state == STATE_NOT_RUN || verdict->state == STATE_SKIP;
}

static int is_alike(const struct verdict *one, const struct verdict *other)
{
    return (one->unit == other->unit || may_differ_in_unit(one)) &&
           one->state == other->state && one->exit_code == other->exit_code &&
           isnan(one->figure) && isnan(other->figure) &&
           is_same(one->reason, other->reason) &&
           is_same(one->message, other->message);
}

int report_failed_next(
    const struct report_input *input, struct report_failed *at)
{
    const struct verdicts *const verdicts = input->verdicts;
    uint32_t first = at->next;
    uint32_t count = 1;

    while (first < verdicts->count &&
           verdicts->list[first].exit_code == EXIT_PASSED) {
        first++;
    }
    if (first >= verdicts->count) {
        return 0;
    }
    while (first + count < verdicts->count &&
           is_alike(&verdicts->list[first], &verdicts->list[first + count])) {
        count++;
    }
    *at = (struct report_failed){ first, count, first + count };
    return 1;
}

static void add_unit(
    const struct report_input *input, uint32_t verdict, struct strbuf *out)
{
    const struct unit *const unit =
        &input->evidence->units[input->verdicts->list[verdict].unit];

    char name[UNIT_NAME_BYTES];

    unit_name(&input->evidence->plan, unit, name);
    strbuf_format(out, "%s%s%s", name, unit->sweep == NULL ? "" : " ",
        unit->sweep == NULL ? "" : unit->sweep);
}

void report_failed_units(const struct report_input *input,
    const struct report_failed *at, struct strbuf *out)
{
    const struct verdict *const list = input->verdicts->list;
    const uint32_t last = at->first + at->count - 1;

    add_unit(input, at->first, out);
    if (list[at->first].unit != list[last].unit) {
        strbuf_add(out, " to ");
        add_unit(input, last, out);
    }
}

/* The judge's own words have figure and limit. */
static void add_miss(const struct report_cell *cell, struct strbuf *out)
{
    const struct verdict *const verdict = cell->verdict;
    struct strbuf text;

    strbuf_init(&text, SENTENCE_LIMIT);
    report_cell_sentence(cell, &text);
    strbuf_format(out, ", %+.1f %%: %s", verdict->margin * 100.0,
        verdict->message == NULL ? text.text : verdict->message);
    strbuf_free(&text);
    if (verdict->message != NULL && verdict->limit_origin.file != NULL) {
        strbuf_format(out, " (%s:%u)", verdict->limit_origin.file,
            (unsigned)verdict->limit_origin.line);
    }
}

void report_failed_sentence(const struct report_input *input,
    const struct report_failed *at, struct strbuf *out)
{
    struct report_cell cell;
    struct strbuf text;

    report_cell_of(input, at->first, &cell);
    if (at->count > 1) {
        strbuf_format(out, "%u cells", at->count);
    } else {
        strbuf_format(out, "%s%s%s", cell.verdict->metric,
            cell.label[0] == '\0' ? "" : " ", cell.label);
    }
    strbuf_format(out, ": %s", name_of(state_names, cell.verdict->state));
    if (!isnan(cell.verdict->margin)) {
        add_miss(&cell, out);
        return;
    }
    if (cell.verdict->reason != NULL) {
        strbuf_format(out, " (%s)", cell.verdict->reason);
    }
    strbuf_init(&text, SENTENCE_LIMIT);
    report_cell_sentence(&cell, &text);
    strbuf_add(out, text.length > 0 ? ", " : "");
    strbuf_add(out, text.text);
    strbuf_free(&text);
}
