/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What must not pass does not: the engine on a simulated driver that is made
 * to fail, one fault a process.
 *
 *   test_engine_faults STATE REASON POISONED
 *
 * with the fault in NVBW_SIM_FAULTS; CMakeLists.txt has the list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "state.h"
#include "topology.h"

static const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, 0);
static const struct nvbw_flow down = { .size = sizeof down,
    .initiator = NVBW_BY_CE,
    .operation = NVBW_OP_COPY,
    .src_memory = NVBW_MEM_PINNED,
    .dst_memory = NVBW_MEM_DEVICE,
    .src_place = NVBW_NEAR,
    .cell = &cell };
static const struct nvbw_flow *const flows[] = { &down, NULL };

static uint32_t first[] = { 0 };
static struct unit_shape shape = { .metric = "bandwidth",
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .rows = 1,
    .cols = 1 };
static const struct unit unit = { .plugin = "test",
    .testcase = "test",
    .gpus = first,
    .gpus_count = 1,
    .nodes = first,
    .nodes_count = 1,
    .shapes = &shape,
    .shapes_count = 1 };

static int is(const char *text, const char *wanted)
{
    return strcmp(text != NULL ? text : "none", wanted) == 0;
}

static int judge(const struct measure_result *result, char **wanted)
{
    const struct record *const record = &result->records[0];
    const char *const state = name_of(state_names, record->state);

    if (is(state, wanted[0]) && is(record->reason, wanted[1]) &&
        result->poisoned == (uint32_t)atoi(wanted[2])) {
        return 0;
    }
    fprintf(stderr, "%s, %s, poisoned %u: %s\n", state,
        record->reason != NULL ? record->reason : "none", result->poisoned,
        record->message != NULL ? record->message : "no message");
    return 1;
}

static int measure(struct engine *engine, char **wanted)
{
    struct measure_result result = { 0 };
    struct error err = { 0 };
    struct arena arena;
    const struct measure_request request = { .unit = &unit,
        .flows = flows,
        .params = { .buffer_bytes = 4 << 20,
            .min_samples = 6,
            .max_samples = 6,
            .precision = 0.005,
            .verify = 1,
            .gate = 1 } };

    arena_init(&arena, 64 << 20);
    if (engine_measure(engine, &request, &arena, &result, &err) < 0) {
        fprintf(stderr, "engine_measure: %s\n", err.text);
        return 1;
    }

    const int failed = judge(&result, wanted);

    arena_clear(&arena);
    return failed;
}

int main(int argc, char **argv)
{
    static struct facts facts;
    struct engine_setup setup = { .facts = &facts,
        .driver_file = SIM_LIBRARY,
        .pool_limit_bytes = 64 << 20 };
    struct engine *engine = NULL;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, 64 << 20);
    if (argc != 4 || topology_read(SIM_LIBRARY, &arena, &facts, &err) < 0 ||
        engine_open(&setup, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }

    const int failed = measure(engine, argv + 1);

    engine_close(engine);
    arena_clear(&arena);
    return failed;
}
