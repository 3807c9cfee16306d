/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* JUnit XML: a test suite per unit, a test case per cell, and one test case for
 * the run itself. It keeps to what the schemas in use have in common: counts
 * stand at the suites alone, and what passed speaks in its suite's output. A
 * document holds a failure or an error exactly where the exit code is not 0:
 * what the plan does not require or accepts is `skipped`. */
#include "report_formats.h"

#include <math.h>
#include <mxml.h>
#include <stdlib.h>
#include <string.h>

#include "report_cell.h"
#include "report_escape.h"
#include "unit_name.h"

enum { TITLE_LIMIT = 1 << 16, LINES_LIMIT = 1 << 26 };

struct junit {
    const struct report_input *input;
    struct strbuf text; /* scratch */
};

/* What became of a test case, by the element that says so. */
enum junit_end { JUNIT_PASSED = 0, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED };

struct junit_counts {
    uint32_t tests, by_end[JUNIT_SKIPPED + 1];
    double seconds;
};

static void count(
    struct junit_counts *counts, enum junit_end end, double seconds)
{
    counts->tests++;
    counts->by_end[end]++;
    counts->seconds += seconds;
}

/* ---- elements ---- */

/* Mini-XML escapes markup; control characters and stray bytes are ours. */
static void set_text(
    struct junit *junit, mxml_node_t *node, const char *name, const char *value)
{
    strbuf_reset(&junit->text);
    escape_plain(&junit->text, value);
    mxmlElementSetAttr(node, name, junit->text.text);
}

static void set_whole(mxml_node_t *node, const char *name, uint32_t value)
{
    mxmlElementSetAttrf(node, name, "%u", (unsigned)value);
}

static void set_seconds(mxml_node_t *node, double seconds)
{
    mxmlElementSetAttrf(node, "time", "%.3f", seconds);
}

static void set_counts(mxml_node_t *node, const struct junit_counts *counts)
{
    set_whole(node, "tests", counts->tests);
    set_whole(node, "failures", counts->by_end[JUNIT_FAILURE]);
    set_whole(node, "errors", counts->by_end[JUNIT_ERROR]);
    set_whole(node, "skipped", counts->by_end[JUNIT_SKIPPED]);
    set_seconds(node, counts->seconds);
}

static void add_end(struct junit *junit, mxml_node_t *testcase,
    enum junit_end end, const char *type, const char *message)
{
    static const char *const elements[] = {
        [JUNIT_FAILURE] = "failure",
        [JUNIT_ERROR] = "error",
        [JUNIT_SKIPPED] = "skipped",
    };

    if (end == JUNIT_PASSED) {
        return;
    }

    mxml_node_t *const node = mxmlNewElement(testcase, elements[end]);

    set_text(junit, node, "message", message);
    if (end != JUNIT_SKIPPED) {
        set_text(junit, node, "type", type);
    }
}

/* The end of a suite: a line for each thing that has something to say. */
static void add_output(mxml_node_t *suite, const struct strbuf *lines)
{
    mxmlNewOpaque(mxmlNewElement(suite, "system-out"), lines->text);
    mxmlNewElement(suite, "system-err");
}

/* ---- a suite ---- */

static mxml_node_t *add_suite(
    struct junit *junit, mxml_node_t *root, const char *name, uint32_t id)
{
    const struct evidence *const evidence = junit->input->evidence;
    mxml_node_t *const suite = mxmlNewElement(root, "testsuite");
    char started[20] = "1970-01-01T00:00:00";

    if (evidence->header.started != NULL &&
        strlen(evidence->header.started) >= sizeof started - 1) {
        memcpy(started, evidence->header.started, sizeof started - 1);
    }
    set_text(junit, suite, "name", name);
    set_whole(suite, "id", id);
    set_text(junit, suite, "package", "nvbw");
    set_text(junit, suite, "timestamp", started);
    set_text(junit, suite, "hostname",
        evidence->facts.host == NULL ? "unknown" : evidence->facts.host);
    return suite;
}

/* Each suite has a list of properties, which may be empty. */
static mxml_node_t *add_properties(mxml_node_t *suite)
{
    return mxmlNewElement(suite, "properties");
}

static void add_property(struct junit *junit, mxml_node_t *properties,
    const char *name, const char *value)
{
    mxml_node_t *const property = mxmlNewElement(properties, "property");

    set_text(junit, property, "name", name);
    set_text(junit, property, "value", value);
}

/* ---- cells ---- */

static enum junit_end end_of(const struct verdict *verdict)
{
    const int is_clean = verdict->state == STATE_PASS ||
                         verdict->state == STATE_WARN ||
                         verdict->state == STATE_UNCHECKED;

    if (verdict->exit_code == EXIT_PASSED || verdict->accept != NULL) {
        return is_clean ? JUNIT_PASSED : JUNIT_SKIPPED;
    }
    return verdict->state == STATE_FAIL || verdict->state == STATE_MISMATCH
               ? JUNIT_FAILURE
               : JUNIT_ERROR;
}

static void add_cell(struct junit *junit, mxml_node_t *suite,
    const struct report_cell *cell, struct junit_counts *counts,
    struct strbuf *lines)
{
    const struct verdict *const verdict = cell->verdict;
    const double seconds = report_cell_seconds(junit->input, verdict);
    const enum junit_end end = end_of(verdict);
    const char *const id =
        unit_suite_id(&junit->input->evidence->plan, cell->unit);
    mxml_node_t *const testcase = mxmlNewElement(suite, "testcase");
    struct strbuf text;

    strbuf_init(&text, TITLE_LIMIT);
    strbuf_format(&text, "%s%s%s", verdict->metric,
        cell->label[0] == '\0' ? "" : " ", cell->label);
    set_text(junit, testcase, "name", text.text);
    strbuf_reset(&text);
    strbuf_format(&text, "%s%s%s.%s", cell->unit->plugin, id == NULL ? "" : ".",
        id == NULL ? "" : id, cell->unit->testcase);
    set_text(junit, testcase, "classname", text.text);
    set_seconds(testcase, seconds);
    strbuf_reset(&text);
    if (end != JUNIT_PASSED) {
        strbuf_format(&text,
            "%s%s%s%s: ", verdict->accept == NULL ? "" : "accepted ",
            name_of(state_names, verdict->state),
            verdict->reason == NULL ? "" : " ",
            verdict->reason == NULL ? "" : verdict->reason);
    }
    if (verdict->accept != NULL && verdict->accept->why != NULL) {
        strbuf_format(&text, "known: %s; ", verdict->accept->why);
    }
    report_cell_sentence(cell, &text);
    if (end == JUNIT_PASSED && text.length > 0) {
        escape_plain(lines, mxmlElementGetAttr(testcase, "name"));
        strbuf_add(lines, ": ");
        escape_plain(lines, text.text);
        strbuf_add(lines, "\n");
    }
    add_end(
        junit, testcase, end, name_of(state_names, verdict->state), text.text);
    strbuf_free(&text);
    count(counts, end, seconds);
}

static void add_title(
    const struct junit *junit, struct strbuf *out, const struct unit *unit)
{
    struct arena arena;

    arena_init(&arena, TITLE_LIMIT);

    const char *const title = unit_title(unit, &arena);
    const char *const id = unit_suite_id(&junit->input->evidence->plan, unit);

    strbuf_add(out, title == NULL ? "?" : title);
    if (id != NULL) {
        strbuf_format(out, " (%s)", id);
    }
    if (unit->round > 0) {
        strbuf_format(out, ", round %u", unit->round + 1);
    }
    arena_clear(&arena);
}

/* The verdicts of one unit from `first` on; returns their number. */
static uint32_t add_unit(struct junit *junit, mxml_node_t *root, uint32_t first)
{
    const struct verdicts *const verdicts = junit->input->verdicts;
    const uint32_t unit = verdicts->list[first].unit;
    struct junit_counts counts = { 0 };
    struct strbuf text;
    uint32_t done = 0;

    strbuf_init(&text, LINES_LIMIT);
    add_title(junit, &text, &junit->input->evidence->units[unit]);

    mxml_node_t *const suite = add_suite(junit, root, text.text, unit + 1);

    add_properties(suite);
    strbuf_reset(&text);
    while (first + done < verdicts->count &&
           verdicts->list[first + done].unit == unit) {
        struct report_cell cell;

        report_cell_of(junit->input, first + done, &cell);
        add_cell(junit, suite, &cell, &counts, &text);
        done++;
    }
    set_counts(suite, &counts);
    add_output(suite, &text);
    strbuf_free(&text);
    return done;
}

/* ---- the run itself ---- */

static void add_findings(struct strbuf *out, const struct verdicts *verdicts)
{
    for (uint32_t i = 0; i < verdicts->findings_count; i++) {
        const struct finding *const finding = &verdicts->findings[i];

        escape_plain(out, finding->what);
        strbuf_add(out, finding->accepted ? " (accepted)\n-> " : "\n-> ");
        escape_plain(out, finding->action);
        strbuf_add(out, "\n");
    }
}

static void add_outcome(struct junit *junit, mxml_node_t *root)
{
    const struct evidence *const evidence = junit->input->evidence;
    const struct verdicts *const verdicts = junit->input->verdicts;
    const struct exit_words *const words = report_exit_words(verdicts);
    const enum junit_end end = verdicts->exit_code == EXIT_PASSED ? JUNIT_PASSED
                               : verdicts->exit_code == EXIT_FAILED
                                   ? JUNIT_FAILURE
                                   : JUNIT_ERROR;
    struct junit_counts counts = { 0 };
    struct strbuf lines;
    mxml_node_t *const suite = add_suite(junit, root, "run", 0);
    mxml_node_t *const properties = add_properties(suite);
    mxml_node_t *const testcase = mxmlNewElement(suite, "testcase");

    add_property(junit, properties, "build", evidence->header.build);
    add_property(junit, properties, "plan", evidence->plan.name);
    add_property(junit, properties, "run_id", evidence->header.run_id);
    add_property(junit, properties, "driver", evidence->facts.driver_version);
    add_property(junit, properties, "simulated",
        evidence->facts.simulated ? "true" : "false");
    add_property(junit, properties, "complete",
        evidence->ended && !evidence->end.interrupted ? "true" : "false");
    set_text(junit, testcase, "name", "outcome");
    set_text(junit, testcase, "classname", "nvbw.run");
    set_seconds(testcase, 0.0);
    add_end(junit, testcase, end, words->word, words->text);
    count(&counts, end, 0.0);
    set_counts(suite, &counts);
    strbuf_init(&lines, LINES_LIMIT);
    add_findings(&lines, verdicts);
    add_output(suite, &lines);
    strbuf_free(&lines);
}

/* ---- the document ---- */

static const char *add_line_ends(mxml_node_t *node, int where)
{
    const char *const name = mxmlGetElement(node);

    if (where == MXML_WS_AFTER_OPEN && name != NULL &&
        strcmp(name, "system-out") == 0) {
        return NULL;
    }
    return where == MXML_WS_AFTER_OPEN || where == MXML_WS_AFTER_CLOSE ? "\n"
                                                                       : NULL;
}

static void fill(struct junit *junit, mxml_node_t *root)
{
    const struct verdicts *const verdicts = junit->input->verdicts;
    uint32_t done = 0;

    add_outcome(junit, root);
    while (done < verdicts->count) {
        done += add_unit(junit, root, done);
    }
}

int32_t report_junit(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    struct junit junit = { .input = input };
    mxml_node_t *const document = mxmlNewXML("1.0");
    mxml_node_t *const root = mxmlNewElement(document, "testsuites");
    char *text = NULL;

    FAIL_IF(root == NULL, err, NVBW_E_SYSTEM, "out of memory");
    strbuf_init(&junit.text, 1 << 20);
    fill(&junit, root);
    mxmlSetWrapMargin(0);
    text = mxmlSaveAllocString(document, add_line_ends);
    mxmlDelete(document);
    strbuf_free(&junit.text);
    FAIL_IF(text == NULL, err, NVBW_E_SYSTEM, "out of memory");
    strbuf_add(out, text);
    free(text);
    return NVBW_OK;
}
