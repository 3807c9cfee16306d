/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Closing goes on to its end, whatever of it fails, and leaves nothing with
 * the driver: what it calls is counted by the simulated one. Workers end
 * without it, so no run can show this. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine_scene.h"
#include "state.h"

#define REFUSED "=304"

static char calls_file[] = "/tmp/nvbw-engine-close-XXXXXX";

/* How often the driver's function was called so far. */
static uint32_t count_calls(const char *function)
{
    FILE *const file = fopen(calls_file, "re");
    char line[128];
    char name[64];
    uint32_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        count +=
            sscanf(line, "%*d %63s", name) == 1 && strcmp(name, function) == 0;
    }
    fclose(file);
    return count;
}

static void measure(struct scene *scene)
{
    static const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, 0);
    struct nvbw_flow flow = scene_down;
    const struct nvbw_flow *const flows[] = { &flow, NULL };

    flow.cell = &cell;
    scene_expect(scene_measure(scene, flows, NULL), STATE_MEASURED, NULL);
}

static const struct pair {
    const char *takes[2], *gives; /* functions */
} pairs[] = {
    { { "cuDevicePrimaryCtxRetain" }, "cuDevicePrimaryCtxRelease" },
    { { "cuMemHostRegister" }, "cuMemHostUnregister" },
    { { "cuMemHostAlloc" }, "cuMemFreeHost" },
    { { "cuMemAlloc", "cuMemAllocManaged" }, "cuMemFree" },
    { { "cuStreamCreate" }, "cuStreamDestroy" },
    { { "cuEventCreate" }, "cuEventDestroy" },
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static uint32_t count_taken(const struct pair *pair)
{
    return count_calls(pair->takes[0]) +
           (pair->takes[1] != NULL ? count_calls(pair->takes[1]) : 0);
}

/* The first close has each of its calls refused once, the second none. */
static void everything_is_given_back(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        struct scene scene;

        scene_open(&scene);
        measure(&scene);
        assert_int_equal(count_calls("cuDevicePrimaryCtxRelease"), round);
        scene_close(&scene);
        for (uint32_t i = 0; i < PAIRS; i++) {
            if (count_taken(&pairs[i]) != count_calls(pairs[i].gives)) {
                fail_msg("round %u: %u x %s and so on, %u x %s", round,
                    count_taken(&pairs[i]), pairs[i].takes[0],
                    count_calls(pairs[i].gives), pairs[i].gives);
            }
        }
        assert_true(count_calls("cuModuleUnload") > round);
    }
}

static int remove_calls(void **state)
{
    (void)state;
    return unlink(calls_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_given_back),
    };
    const int descriptor = mkstemp(calls_file);

    if (descriptor < 0) {
        perror(calls_file);
        return 1;
    }
    close(descriptor);
    setenv("NVBW_SIM_CALLS", calls_file, 1);
    setenv("NVBW_SIM_FAULTS",
        "cuModuleUnload:1" REFUSED ",cuDevicePrimaryCtxRelease:1" REFUSED
        ",cuMemHostUnregister:1" REFUSED ",cuMemFreeHost:1" REFUSED,
        1);
    return cmocka_run_group_tests(tests, NULL, remove_calls);
}
