/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* GPUs that are opened together, of which the driver refuses one: the others
 * are there nevertheless, and each thread is joined once. */
#include "engine_scene.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "state.h"

enum { THREADS_MOST = 64 };

static pthread_t joined[THREADS_MOST];
static uint32_t joined_count, joined_twice;

int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void *user)
{
    const int result = __real_pthread_create(out, attributes, run, user);

    /* A new thread may have the number of one that is gone. */
    for (uint32_t i = 0; result == 0 && i < joined_count; i++) {
        if (pthread_equal(joined[i], *out)) {
            joined[i] = joined[--joined_count];
        }
    }
    return result;
}

int __real_pthread_join(pthread_t thread, void **out);
int __wrap_pthread_join(pthread_t thread, void **out);
int __wrap_pthread_join(pthread_t thread, void **out)
{
    for (uint32_t i = 0; i < joined_count; i++) {
        if (pthread_equal(joined[i], thread)) {
            joined_twice++;
            return 0;
        }
    }
    if (joined_count < THREADS_MOST) {
        joined[joined_count++] = thread;
    }
    return __real_pthread_join(thread, out);
}

static char calls_file[] = "/tmp/nvbw-gpu-open-XXXXXX";

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

static int remove_calls(void **state)
{
    (void)state;
    return unlink(calls_file);
}

static void a_refused_context_costs_no_other(void **state)
{
    static const struct nvbw_cell cell = NVBW_CELL("bandwidth", 0, 0);
    struct nvbw_flow peer = scene_up;
    struct nvbw_flow alone[2] = { scene_down, scene_down };
    const struct nvbw_flow *flows[] = { &peer, NULL };
    struct scene scene;

    (void)state;
    setenv("NVBW_SIM_FAULTS", "cuDevicePrimaryCtxRetain:1=2,cuMemAlloc:1=2", 1);
    setenv("NVBW_SIM_CALLS", calls_file, 1);
    scene_open(&scene);
    peer.dst_memory = NVBW_MEM_DEVICE;
    peer.dst_place = 1;
    peer.cell = &cell;
    assert_int_equal(scene_measure(&scene, flows, NULL)->state, STATE_ERROR);
    for (int32_t gpu = 0; gpu < 2; gpu++) {
        alone[gpu].dst_place = gpu;
        alone[gpu].cell = &cell;
        flows[0] = &alone[gpu];
        scene_expect(scene_measure(&scene, flows, NULL), STATE_MEASURED, NULL);
    }
    scene_close(&scene);
    assert_int_equal(joined_twice, 0);
    /* What the two that failed had taken was given back as well. */
    assert_int_equal(count_calls("cuDevicePrimaryCtxRelease"),
        count_calls("cuDevicePrimaryCtxRetain") - 1);
    assert_int_equal(
        count_calls("cuStreamDestroy"), count_calls("cuStreamCreate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_context_costs_no_other),
    };
    const int descriptor = mkstemp(calls_file);

    if (descriptor < 0) {
        perror(calls_file);
        return 1;
    }
    close(descriptor);
    return cmocka_run_group_tests(tests, NULL, remove_calls);
}
