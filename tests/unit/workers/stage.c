/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "stage.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "judge.h"
#include "reap.h"
#include "schedule.h"
#include "state.h"

static uint32_t judged_cell;
static uint32_t judged_times;

void stage_judge(uint32_t cell, uint32_t times)
{
    judged_cell = cell;
    judged_times = times;
}

int32_t judge_unit(const struct evidence *evidence, uint32_t unit,
    struct arena *arena, uint32_t **out_cells, uint32_t *out_count,
    struct error *err)
{
    (void)evidence;
    (void)unit;
    (void)err;
    *out_count = judged_times > 0;
    *out_cells = arena_alloc(arena, 1, sizeof **out_cells);
    assert_non_null(*out_cells);
    **out_cells = judged_cell;
    judged_times -= judged_times > 0;
    return NVBW_OK;
}

int32_t judge_run(const struct evidence *evidence, struct arena *arena,
    struct verdicts *out, struct error *err)
{
    const uint32_t count = unit_cell_span(&evidence->units[0]);

    (void)err;
    *out = (struct verdicts){ .count = count };
    out->list = arena_alloc(arena, count, sizeof *out->list);
    assert_non_null(out->list);
    for (uint32_t i = 0; i < count; i++) {
        out->list[i].cell = i;
        out->list[i].state = i == judged_cell ? STATE_FAIL : STATE_PASS;
    }
    return NVBW_OK;
}

int32_t schedule_close_axes(struct schedule *schedule, uint32_t unit,
    const struct labels_frame *labels, uint32_t labels_count,
    struct arena *arena, struct error *err)
{
    struct unit_shape *const shape = arena_alloc(arena, 1, sizeof *shape);

    FAIL_IF(labels_count == 0, err, NVBW_E_INVALID, "no labels");
    assert_non_null(shape);
    *shape = schedule->units[unit].shapes[0];
    shape->rows = labels[0].names_count;
    schedule->units[unit].shapes = shape;
    schedule->units[unit].open_axes = 0;
    return NVBW_OK;
}

static uint32_t count_descriptors(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void *take(struct stage *stage, size_t count, size_t size)
{
    void *const memory = arena_alloc(&stage->arena, count, size);

    assert_non_null(memory);
    return memory;
}

void stage_open(struct stage *stage)
{
    *stage = (struct stage){ .descriptors = count_descriptors() };
    arena_init(&stage->arena, (size_t)64 << 20);
    stage->setup = (struct worker_setup){ .worker_file = FAKE_WORKER,
        .describe_ns = 60000000000u,
        .answer_ns = 60000000000u,
        .build = "fake build" };
    stage->request = (struct conduct_request){ .setup = &stage->setup,
        .evidence = &stage->evidence,
        .arena = &stage->arena,
        .budget_ns = UINT64_MAX,
        .grace_ns = 500000000u,
        .signal_fd = -1 };

    struct facts *const facts = &stage->evidence.facts;

    facts->gpus = take(stage, 2, sizeof *facts->gpus);
    facts->gpus_count = 2;
    facts->gpus[0].uuid = "GPU-well";
    facts->gpus[1].uuid = "GPU-sick";
    facts->gpus[1].index = 1;
    stage_judge(0, 0);
}

void stage_close(struct stage *stage)
{
    struct pid_list children;

    arena_clear(&stage->arena);
    reap_children(&children);
    assert_int_equal(children.count, 0);
    assert_int_equal(count_descriptors(), stage->descriptors);
}

struct unit *stage_add_unit(
    struct stage *stage, const char *name, uint32_t cells)
{
    struct evidence *const evidence = &stage->evidence;
    struct unit_shape *const shape = take(stage, 1, sizeof *shape);
    uint32_t *const gpus = take(stage, 2, sizeof *gpus);

    gpus[1] = 1;
    *shape = (struct unit_shape){ .metric = "rate",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER,
        .rows = cells,
        .cols = 1 };

    const struct unit unit = { .id = evidence->units_count,
        .plugin = name,
        .plugin_file = arena_format(&stage->arena, "/fake/%s.so", name),
        .testcase = "test",
        .gpus = gpus,
        .gpus_count = 2,
        .shapes = shape,
        .shapes_count = 1,
        .timeout_ns = 60000000000u,
        .required = "yes",
        .isolate = "auto" };

    assert_non_null(unit.plugin_file);
    assert_int_equal(
        evidence_add(evidence, &stage->arena, LINE_UNIT, &unit, NULL), 0);
    return &evidence->units[unit.id];
}

void stage_run(struct stage *stage)
{
    struct error err = { .status = NVBW_OK };

    if (conduct_run(&stage->request, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

const struct record *stage_record(
    const struct stage *stage, uint32_t unit, uint32_t cell)
{
    const struct record *const record =
        evidence_cell(&stage->evidence, unit, "rate", cell, 0);

    if (record == NULL) {
        fail_msg("cell %u of unit %u was not settled", cell, unit);
    }
    return record;
}

void stage_expect(const struct stage *stage, uint32_t unit, uint32_t cell,
    uint32_t state, const char *reason)
{
    const struct record *const record = stage_record(stage, unit, cell);

    if (record->state != state ||
        strcmp(reason != NULL ? reason : "-",
            record->reason != NULL ? record->reason : "-") != 0) {
        fail_msg("cell %u of unit %u is %s (%s): %s", cell, unit,
            name_of(state_names, record->state),
            record->reason != NULL ? record->reason : "-",
            record->message != NULL ? record->message : "-");
    }
}

uint32_t stage_count(
    const struct stage *stage, uint32_t unit, uint32_t cell, uint32_t attempt)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < stage->evidence.records_count; i++) {
        const struct record *const record = &stage->evidence.records[i];

        count += record->unit == unit && record->row == cell &&
                 record->attempt == attempt;
    }
    return count;
}
