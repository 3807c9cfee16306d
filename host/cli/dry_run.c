/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "dry_run.h"

#include <stdio.h>

#include "cmd.h"
#include "judge.h"
#include "quantity.h"
#include "report_matrix.h"
#include "state.h"
#include "unit_name.h"

static void print_side(
    const struct facts *facts, uint32_t memory, int32_t place)
{
    const int on_gpu = memory >= NVBW_MEM_DEVICE;

    if (memory == NVBW_MEM_NONE) {
        printf("nothing");
    } else if (place < 0) {
        printf("%s", name_of(memory_names, memory));
    } else if (on_gpu) {
        printf("%s of GPU %d", name_of(memory_names, memory),
            facts->gpus[place].index);
    } else {
        printf("%s of node %d", name_of(memory_names, memory),
            facts->nodes[place].number);
    }
}

static void print_flow(
    const struct facts *facts, const struct flow_record *flow)
{
    char size[32];

    quantity_format_size(flow->bytes, size, sizeof size);
    printf("      %s %s, %s: ", name_of(initiator_names, flow->initiator),
        name_of(operation_names, flow->operation), size);
    print_side(facts, flow->src_memory, flow->src_place);
    printf(" -> ");
    print_side(facts, flow->dst_memory, flow->dst_place);
    printf("%s\n", flow->counted ? "" : " (not counted)");
}

static void print_recording(const struct facts *facts, const struct unit *unit,
    const struct recording *recording)
{
    char label[2 * LABEL_BYTES + 4];

    for (uint32_t i = 0; i < recording->records_count; i++) {
        const struct record *const record = &recording->records[i];

        report_cell_label(facts, unit,
            (uint32_t)unit_cell_number(
                unit, record->metric, record->row, record->col),
            label);
        printf(
            "    %s%s%s\n", record->metric, label[0] == '\0' ? "" : " ", label);
        for (uint32_t k = 0; k < record->flows_count; k++) {
            print_flow(facts, &record->flows[k]);
        }
    }
}

static int32_t print_unit(
    struct prepared *prepared, struct unit *unit, struct error *err)
{
    struct recording recording = { 0 };
    char name[UNIT_NAME_BYTES];

    if (unit->state == STATE_NONE) {
        TRY(workers_record(&prepared->setup, &prepared->facts, unit,
            prepared->arena, &recording, err));
        if (unit->open_axes) {
            TRY(schedule_close_axes(&prepared->schedule, unit->id,
                recording.labels, recording.labels_count, prepared->arena,
                err));
        }
    }
    unit_name(&prepared->plan, unit, name);
    printf("  %s%s%s: %u cell%s", name, unit->sweep == NULL ? "" : " ",
        unit->sweep == NULL ? "" : unit->sweep, unit_cell_count(unit),
        unit_cell_count(unit) == 1 ? "" : "s");
    if (unit->state != STATE_NONE) {
        printf(", %s (%s): %s", name_of(state_names, unit->state),
            unit->reason == NULL ? "-" : unit->reason,
            unit->message == NULL ? "" : unit->message);
    }
    printf("\n");
    if (!prepared->options->quiet) {
        print_recording(&prepared->facts, unit, &recording);
    }
    return NVBW_OK;
}

/* "3 min 20 s" */
static void format_span(double seconds, char *out, size_t size)
{
    const unsigned whole = (unsigned)(seconds + 0.5);

    if (whole >= 3600) {
        snprintf(out, size, "%u h %u min", whole / 3600, whole % 3600 / 60);
    } else if (whole >= 60) {
        snprintf(out, size, "%u min %u s", whole / 60, whole % 60);
    } else {
        snprintf(out, size, "%u s", whole);
    }
}

static uint64_t span_of(const struct prepared *prepared, const char *option)
{
    const struct plan_value *const value = plan_option(&prepared->plan, option);
    uint64_t ns = 0;

    return value == NULL || value->texts_count == 0 ||
                   quantity_duration(value->texts[0], &ns, NULL) < 0
               ? 0
               : ns;
}

/* By the model that fits a plan into a budget; pauses are part of it. */
static void print_estimate(const struct prepared *prepared)
{
    const uint32_t units = prepared->schedule.units_count;
    const double pauses =
        units > 1 ? (double)span_of(prepared, "cooldown") * 1e-9 * (units - 1)
                  : 0.0;
    const uint64_t duration_ns = span_of(prepared, "duration");
    char text[32];

    format_span(fit_estimate(&prepared->schedule, &cost_of_cells) + pauses,
        text, sizeof text);
    printf("estimated: %s", text);
    if (duration_ns > 0) {
        format_span((double)duration_ns * 1e-9, text, sizeof text);
        printf(" a round, new rounds for %s", text);
    }
    printf("\n");
}

int dry_run_print(struct prepared *prepared)
{
    struct error err = { 0 };
    uint32_t cells = 0;

    printf("plan \"%s\", nothing is measured%s:\n",
        prepared->plan.name == NULL ? "" : prepared->plan.name,
        prepared->facts.ranks > 0 ? ", each GPU stands for a rank" : "");
    for (uint32_t i = 0; i < prepared->schedule.units_count; i++) {
        struct unit *const unit = &prepared->schedule.units[i];

        if (print_unit(prepared, unit, &err) < 0) {
            return command_fail(&err, EXIT_CONTRACT);
        }
        cells += unit_cell_count(unit);
    }
    printf("%u units, %u cells\n", prepared->schedule.units_count, cells);
    print_estimate(prepared);
    return EXIT_PASSED;
}
