/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "explain_limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "cmd.h"
#include "finish.h"
#include "judge.h"
#include "quantity.h"
#include "report_matrix.h"
#include "state.h"
#include "text_clean.h"

/* The recorded flows of each unit stand in for measured evidence: the judge
 * then finds every limit and has no figure to hold against it. */
static int32_t record_all(
    struct prepared *prepared, struct evidence *evidence, struct error *err)
{
    for (uint32_t i = 0; i < prepared->schedule.units_count; i++) {
        struct unit *const unit = &prepared->schedule.units[i];
        struct recording recording = { 0 };

        if (unit->state != STATE_NONE) {
            TRY(evidence_add(evidence, prepared->arena, LINE_UNIT, unit, err));
            continue;
        }
        TRY(workers_record(&prepared->setup, &prepared->facts, unit,
            prepared->arena, &recording, err));
        if (unit->open_axes) {
            TRY(schedule_close_axes(&prepared->schedule, unit->id,
                recording.labels, recording.labels_count, prepared->arena,
                err));
        }
        TRY(evidence_add(evidence, prepared->arena, LINE_UNIT, unit, err));
        for (uint32_t k = 0; k < recording.records_count; k++) {
            recording.records[k].unit = unit->id;
            recording.records[k].state = STATE_NOT_RUN;
            TRY(evidence_add(evidence, prepared->arena, LINE_CELL,
                &recording.records[k], err));
        }
    }
    return NVBW_OK;
}

/* What a limit comes to, or what it waits for. */
static void print_value(const struct verdict *verdict, uint32_t measure)
{
    const char *const side = verdict->limit_is_max ? "at most" : "at least";
    char limit[64];

    if (!isnan(verdict->limit)) {
        quantity_format(verdict->limit, measure, limit, sizeof limit);
        printf("%s %s, %s", side, limit, verdict->limit_text);
    } else if (strstr(verdict->limit_text, "siblings") != NULL) {
        printf("%s %s, once %d cells of its class are measured", side,
            verdict->limit_text, SIBLINGS_LEAST);
    } else {
        printf("%s %s, unknown: %s", side, verdict->limit_text,
            verdict->base_trouble == NULL ? "" : verdict->base_trouble);
    }
}

static void print_limit(const struct verdict *verdict, uint32_t measure)
{
    char text[64];

    print_value(verdict, measure);
    if (verdict->base_formula != NULL) {
        quantity_format(verdict->base, measure, text, sizeof text);
        printf("\n    base %s = %s", text, verdict->base_formula);
    }
    if (!isnan(verdict->warn)) {
        quantity_format(verdict->warn, measure, text, sizeof text);
        printf("\n    warns %s %s, %s",
            verdict->limit_is_max ? "above" : "below", text,
            verdict->warn_text);
    }
    if (verdict->limit_origin.file != NULL) {
        printf("\n    from %s:%u", verdict->limit_origin.file,
            verdict->limit_origin.line);
    }
    printf("\n");
}

static void print_verdict(
    const struct evidence *evidence, const struct verdict *verdict)
{
    const struct unit *const unit = &evidence->units[verdict->unit];
    char label[2 * LABEL_BYTES + 4];
    struct cell_place place;

    report_cell_label(&evidence->facts, unit, verdict->cell, label);
    printf("%s%s%s %s%s%s: ", unit->testcase, unit->sweep == NULL ? "" : " ",
        unit->sweep == NULL ? "" : unit->sweep, verdict->metric,
        label[0] == '\0' ? "" : " ", label);
    if (verdict->limit_text == NULL ||
        !unit_cell_at(unit, verdict->cell, &place)) {
        printf("no limit\n");
        return;
    }

    print_limit(verdict, unit->shapes[place.shape].unit);
}

/* ---- Without a GPU ------------------------------------------------------ */

static void print_key(const char *key, const char *text)
{
    if (text != NULL) {
        printf(" %s = \"%s\";", key, text);
    }
}

static void print_written(const struct plan_limit *limits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_limit *const limit = &limits[i];

        printf("%s:", limit->match);
        print_key("min", limit->min);
        print_key("max", limit->max);
        print_key("warn", limit->warn);
        print_key("devices", limit->devices);
        print_key("pair", limit->pair);
        print_key("direction", limit->direction);
        print_key("size", limit->size);
        if (limit->origin.file != NULL) {
            printf("\n    from %s:%u", limit->origin.file, limit->origin.line);
        }
        printf("\n");
    }
}

/* Most limits bind cells of GPUs, and where there is none there is no cell
 * either: they are shown as they stand in the plan. plan: the cleaned copy. */
static void print_as_written(const struct plan *plan, const struct facts *facts)
{
    uint32_t count = plan->limits_count;

    for (uint32_t i = 0; i < plan->suites_count; i++) {
        count += plan->suites[i].limits_count;
    }
    printf("no GPU is here%s%s\n"
           "so these limits have no value yet; a machine with GPUs or, to play "
           "one, --driver\nwith the simulated driver and --sim-profile gives "
           "them one\n",
        facts->driver_trouble == NULL ? "" : ": ",
        facts->driver_trouble == NULL ? "" : facts->driver_trouble);
    if (count == 0) {
        printf("the plan has no limit\n");
    }
    print_written(plan->limits, plan->limits_count);
    for (uint32_t i = 0; i < plan->suites_count; i++) {
        print_written(plan->suites[i].limits, plan->suites[i].limits_count);
    }
}

static int32_t explain(struct prepared *prepared, struct error *err)
{
    struct evidence evidence = { .plugins = prepared->plugins,
        .plugins_count = prepared->plugins_count };
    struct verdicts verdicts = { 0 };

    TRY(prepare_facts(prepared, err));
    prepare_team_rehearsal(prepared);
    prepare_doubts(prepared);
    TRY(prepare_baseline_fits(prepared, err));
    TRY(prepare_schedule(prepared, err));
    evidence.baseline = prepared->baseline;
    TRY(evidence_add(
        &evidence, prepared->arena, LINE_PLAN, &prepared->plan, err));
    /* A copy, of which nothing but what is printed is made. */
    text_clean_object(line_fields(LINE_PLAN), &evidence.plan, 0);
    TRY(evidence_add(
        &evidence, prepared->arena, LINE_FACTS, &prepared->facts, err));
    for (uint32_t i = 0; prepare_efficiency(prepared, i) != NULL; i++) {
        TRY(evidence_add(&evidence, prepared->arena, LINE_EFFICIENCY,
            prepare_efficiency(prepared, i), err));
    }
    TRY(record_all(prepared, &evidence, err));
    TRY(judge_run(&evidence, prepared->arena, &verdicts, err));
    if (prepared->facts.gpus_count == 0) {
        print_as_written(&evidence.plan, &prepared->facts);
    }
    for (uint32_t i = 0; i < verdicts.count; i++) {
        if (verdicts.list[i].state != STATE_SKIP) {
            print_verdict(&evidence, &verdicts.list[i]);
        }
    }
    for (uint32_t i = 0; i < verdicts.unmatched_limits_count; i++) {
        printf("no cell: %s\n", verdicts.unmatched_limits[i]);
    }
    return finish_doubts(
        prepared->options, &evidence, &verdicts, prepared->arena, err);
}

int explain_limits_print(struct prepared *prepared)
{
    struct error err = { 0 };

    return explain(prepared, &err) < 0 ? command_fail(&err, EXIT_USAGE)
                                       : EXIT_PASSED;
}
