/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What tests of the engine on the simulated driver share: a machine of four
 * GPUs that move 50 GB/s each way and take no time beside, and one
 * measurement on it. Functions fail the running test. */
#ifndef ENGINE_SCENE_H
#define ENGINE_SCENE_H

#include "engine.h"

enum { SCENE_GPUS = 4, MIB = 1 << 20 };

/* Cells: bandwidth and total in bytes/s, latency and time in ns, each 1 x 4.
 */
extern const struct unit scene_unit;
extern const struct nvbw_flow scene_down, scene_up; /* host to GPU 0 and back,
                                                       without a cell */

struct scene {
    struct facts facts;
    struct engine *engine;
    struct arena arena;
    struct measure_request request; /* adaptive, 128 KiB, 6 samples, verified */
    struct measure_result result;
    struct error err;
};

/* Opens the machine and the engine. */
void scene_open(struct scene *scene);
void scene_close(struct scene *scene);
/* Measures; the first record. Results of an earlier call stay valid. */
const struct record *scene_measure(struct scene *scene,
    const struct nvbw_flow *const *flows, const struct nvbw_cell *total);

/* state and reason (NULL: none), with the record's message where they are
 * others. */
void scene_expect(
    const struct record *record, uint32_t state, const char *reason);
/* Measured, with a median within this share of what is expected. */
void scene_expect_figure(
    const struct record *record, double expected, double share);
int scene_has_flag(const struct record *record, const char *flag);

#endif
