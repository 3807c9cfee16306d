/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "fit_budget.h"
#include "quantity.h"
#include "report_matrix.h"
#include "say.h"
#include "state.h"
#include "stats.h"
#include "text_clean.h"
#include "unit_name.h"

enum { WATCH_TEXT_BYTES = 1 << 20 };

static uint64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint32_t columns(void)
{
    struct winsize size = { 0 };

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

static void erase(struct progress *progress)
{
    if (progress->terminal && progress->line[0] != '\0') {
        fputs("\r\033[K", stderr);
        progress->line[0] = '\0';
    }
}

static void draw(struct progress *progress, const char *text)
{
    char line[sizeof progress->line];

    snprintf(line, sizeof line, "%s", text);
    text_clean(line, 0);
    if (progress->terminal && strcmp(line, progress->line) != 0) {
        fprintf(
            stderr, "\r\033[K%.*s", (int)text_fit(line, columns() - 1), line);
        snprintf(progress->line, sizeof progress->line, "%s", line);
    }
}

/* What is left; empty before there is a cell to go by. */
static void estimate(const struct progress *progress, char *out, size_t size)
{
    const double passed = (double)(now() - progress->started_ns) * 1e-9;
    const double seconds = eta_left(&progress->eta, passed);

    out[0] = '\0';
    if (progress->cells_done == 0 || seconds <= 0.0) {
        return;
    }
    if (seconds < 100.0) {
        snprintf(out, size, ", about %.0f s left", ceil(seconds));
    } else if (seconds < 6000.0) {
        snprintf(out, size, ", about %.0f min left", ceil(seconds / 60.0));
    } else {
        snprintf(out, size, ", about %.1f h left", seconds / 3600.0);
    }
}

static void units_added(void *user, const struct unit *units, uint32_t count)
{
    struct progress *const progress = user;

    progress->units_total += count;
    for (uint32_t i = 0; i < count; i++) {
        progress->cells_total += unit_cell_count(&units[i]);
        eta_add_unit(&progress->eta, &units[i], &cost_of_cells);
    }
}

static void unit_begins(
    void *user, const struct unit *unit, uint32_t number, uint32_t wanted)
{
    struct progress *const progress = user;

    if (progress->quiet || progress->terminal || wanted == 0) {
        return;
    }

    char name[UNIT_NAME_BYTES];

    unit_name(&progress->evidence->plan, unit, name);
    say_plain("[%u/%u] %s%s%s", number + 1, progress->units_total, name,
        unit->sweep == NULL ? "" : " ", unit->sweep == NULL ? "" : unit->sweep);
}

/* "bandwidth GPU 0" */
static void name_cell(const struct progress *progress, const struct unit *unit,
    uint32_t cell, char *out, size_t size)
{
    struct cell_place place;
    char label[2 * LABEL_BYTES + 4];

    out[0] = '\0';
    if (unit_cell_at(unit, cell, &place)) {
        report_cell_label(&progress->evidence->facts, unit, cell, label);
        snprintf(out, size, "%s%s%s", unit->shapes[place.shape].metric,
            label[0] == '\0' ? "" : " ", label);
    }
}

static void show(
    struct progress *progress, const struct unit *unit, uint32_t cell)
{
    char text[768];
    char left[64];
    char name[256];
    char testcase[UNIT_NAME_BYTES];

    estimate(progress, left, sizeof left);
    name_cell(progress, unit, cell, name, sizeof name);
    unit_name(&progress->evidence->plan, unit, testcase);
    snprintf(text, sizeof text, "[%u/%u cells%s] %s %s", progress->cells_done,
        progress->cells_total, left, testcase, name);
    draw(progress, text);
}

static void cells_begin(
    void *user, const struct unit *unit, const struct begin_frame *begin)
{
    struct progress *const progress = user;

    if (progress->terminal && begin->cells_count > 0) {
        show(progress, unit, begin->cells[0]);
    }
}

static void print_cell(const struct progress *progress, const struct unit *unit,
    uint32_t cell, const struct record *record)
{
    struct cell_place place;
    char figure[64] = "";
    char name[256];
    char testcase[UNIT_NAME_BYTES];

    if (!unit_cell_at(unit, cell, &place)) {
        return;
    }
    if (record->samples_count > 0) {
        figure[0] = ' ';
        quantity_format(
            stats_quantile(record->samples, record->samples_count, 0.5),
            unit->shapes[place.shape].unit, figure + 1, sizeof figure - 1);
    }
    name_cell(progress, unit, cell, name, sizeof name);
    unit_name(&progress->evidence->plan, unit, testcase);
    say_plain("  %s %s: %s%s%s%s", testcase, name,
        name_of(state_names, record->state), figure,
        record->message == NULL ? "" : ": ",
        record->message == NULL ? "" : record->message);
}

static int is_bad(uint32_t state)
{
    return state != STATE_MEASURED && state != STATE_SKIP &&
           state != STATE_NOT_RUN;
}

static void count_settled(
    struct progress *progress, const struct unit *unit, int was_measured)
{
    progress->cells_done++;
    eta_settle_cell(&progress->eta, unit, &cost_of_cells, was_measured);
}

static void cell_settled(
    void *user, const struct unit *unit, const struct record *record)
{
    struct progress *const progress = user;
    const int32_t cell =
        unit_cell_number(unit, record->metric, record->row, record->col);

    if (record->attempt == 0) {
        count_settled(progress, unit, record->samples_count > 0);
    }
    if (progress->quiet || cell < 0) {
        return;
    }
    if (progress->verbose || is_bad(record->state)) {
        erase(progress);
        print_cell(progress, unit, (uint32_t)cell, record);
    }
    if (progress->terminal) {
        show(progress, unit, (uint32_t)cell);
    }
}

static void event(void *user, const struct event *event)
{
    struct progress *const progress = user;
    const int is_log = strcmp(event->what, "log") == 0;
    const int is_loud = is_log ? event->level <= NVBW_LOG_WARN
                               : strcmp(event->what, "worker_start") != 0 &&
                                     strcmp(event->what, "worker_end") != 0;

    if (!progress->quiet && (progress->verbose || is_loud)) {
        erase(progress);
        say_plain(
            "  %s: %s", event->what, event->text == NULL ? "" : event->text);
    }
}

/* Of a run that is resumed: what others measured is no work of this one. */
static void count_earlier(struct progress *progress)
{
    const struct evidence *const evidence = progress->evidence;

    for (uint32_t i = 0; i < evidence->records_count; i++) {
        const struct record *const record = &evidence->records[i];

        if (record->attempt == 0) {
            count_settled(progress, &evidence->units[record->unit], 0);
        }
    }
}

void progress_open(struct progress *progress, const struct evidence *evidence,
    int quiet, int verbose)
{
    *progress = (struct progress){ .evidence = evidence,
        .terminal = !quiet && isatty(STDERR_FILENO),
        .quiet = quiet,
        .verbose = verbose,
        .started_ns = now() };
    units_added(progress, evidence->units, evidence->units_count);
    count_earlier(progress);
}

void progress_add_lines(struct progress *progress)
{
    watch_lines_open(&progress->lines, &progress->evidence->facts);
}

static void reading(void *user, const struct gpu_reading *given)
{
    struct progress *const progress = user;

    watch_lines_take(&progress->lines, given);
}

/* Above the line that is rewritten, if there is one. */
static void tick(void *user, uint64_t now_ns)
{
    struct progress *const progress = user;
    const int is_terminal = isatty(STDERR_FILENO);
    char line[sizeof progress->line];
    struct strbuf text;

    strbuf_init(&text, WATCH_TEXT_BYTES);
    watch_lines_add(&progress->lines, now_ns,
        is_terminal ? columns() - 1 : UINT32_MAX, is_terminal, &text);
    if (text.length > 0) {
        snprintf(line, sizeof line, "%s", progress->line);
        erase(progress);
        text_clean(text.text, 1);
        fputs(text.text, stderr);
        if (line[0] != '\0') {
            draw(progress, line);
        }
    }
    strbuf_free(&text);
}

struct conduct_watch progress_watch(struct progress *progress)
{
    return (struct conduct_watch){ .user = progress,
        .reading = progress->lines.lines != NULL ? reading : NULL,
        .tick = progress->lines.lines != NULL ? tick : NULL,
        .units_added = units_added,
        .unit_begins = unit_begins,
        .cells_begin = cells_begin,
        .cell_settled = cell_settled,
        .event = event };
}

void progress_close(struct progress *progress)
{
    erase(progress);
    watch_lines_close(&progress->lines);
}
