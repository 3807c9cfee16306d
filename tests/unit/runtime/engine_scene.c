/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "engine_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state.h"
#include "stats.h"
#include "topology.h"

#define SHAPE(metric_, unit_)                                                  \
    {                                                                          \
        .metric = (metric_), .unit = (unit_), .rows = 1, .cols = SCENE_GPUS    \
    }

static uint32_t gpus[SCENE_GPUS] = { 0, 1, 2, 3 };
static uint32_t nodes[] = { 0 };
static struct unit_shape shapes[] = {
    SHAPE("bandwidth", NVBW_UNIT_BYTES_PER_SECOND),
    SHAPE("total", NVBW_UNIT_BYTES_PER_SECOND),
    SHAPE("latency", NVBW_UNIT_NANOSECONDS),
    SHAPE("time", NVBW_UNIT_NANOSECONDS),
};
const struct unit scene_unit = { .plugin = "test",
    .testcase = "test",
    .gpus = gpus,
    .gpus_count = SCENE_GPUS,
    .nodes = nodes,
    .nodes_count = 1,
    .shapes = shapes,
    .shapes_count = sizeof shapes / sizeof *shapes };

const struct nvbw_flow scene_down = { .size = sizeof scene_down,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .dst_memory = NVBW_MEM_DEVICE,
    .src_place = NVBW_NEAR };
const struct nvbw_flow scene_up = { .size = sizeof scene_up,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_DEVICE,
    .dst_memory = NVBW_MEM_PINNED,
    .dst_place = NVBW_NEAR };

void scene_open(struct scene *scene)
{
    struct engine_setup setup = { .driver_file = SIM_LIBRARY,
        .pool_limit_bytes = 256 * MIB };

    memset(scene, 0, sizeof *scene);
    setenv("NVBW_SIM_PROFILE", "laptop_x4", 0);
    arena_init(&scene->arena, 256 << 20);
    setup.facts = &scene->facts;
    if (topology_read(SIM_LIBRARY, &scene->arena, &scene->facts, &scene->err) <
            0 ||
        engine_open(&setup, &scene->engine, &scene->err) < 0) {
        fail_msg("%s", scene->err.text);
    }
    assert_int_equal(scene->facts.gpus_count, SCENE_GPUS);
    scene->request.unit = &scene_unit;
    scene->request.params = (struct measure_params){ .buffer_bytes = MIB / 8,
        .copies = 4,
        .samples = 3,
        .min_samples = 6,
        .max_samples = 6,
        .warmup = 2,
        .precision = 0.005,
        .precision_contended = 0.02,
        .verify = 1,
        .gate = 1 };
}

void scene_close(struct scene *scene)
{
    engine_close(scene->engine);
    arena_clear(&scene->arena);
}

const struct record *scene_measure(struct scene *scene,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *total)
{
    scene->request.flows = flows;
    scene->request.total = total;
    if (flow_check(&scene->facts, &scene_unit, flows, total, &scene->err) < 0 ||
        engine_measure(scene->engine, &scene->request, &scene->arena,
            &scene->result, &scene->err) < 0) {
        fail_msg("%s", scene->err.text);
    }
    return &scene->result.records[0];
}

void scene_expect(
    const struct record *record, uint32_t state, const char *reason)
{
    const char *const wanted = reason != NULL ? reason : "none";
    const char *const got = record->reason != NULL ? record->reason : "none";

    if (record->state != state || strcmp(got, wanted) != 0) {
        fail_msg("%s (%s), wanted %s (%s): %s",
            name_of(state_names, record->state), got,
            name_of(state_names, state), wanted,
            record->message != NULL ? record->message : "no message");
    }
}

void scene_expect_figure(
    const struct record *record, double expected, double share)
{
    struct stats stats;

    scene_expect(record, STATE_MEASURED, NULL);
    stats_of(record->samples, record->samples_count, &stats);
    if (fabs(stats.median - expected) > share * expected) {
        fail_msg("%s: %.5g measured, %.5g expected", record->metric,
            stats.median, expected);
    }
}

int scene_has_flag(const struct record *record, const char *flag)
{
    for (uint32_t i = 0; i < record->flags_count; i++) {
        if (strcmp(record->flags[i], flag) == 0) {
            return 1;
        }
    }
    return 0;
}
