/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What is asked of NVML while something is measured: what takes it long not
 * each time, and then the value of the time before stands. The simulated NVML
 * is taken for a real one here, since of itself it is asked each time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nvml_watch.h"
#include "topology.h"
#include "wire.h"

static struct gpu_reading read_one(
    struct nvml_watch *watch, uint32_t kind, struct arena *arena)
{
    static const uint32_t gpu = 0;
    uint32_t count = 0;
    const struct gpu_reading *const list =
        nvml_watch_read(watch, &gpu, 1, kind, arena, &count);

    assert_non_null(list);
    assert_int_equal(count, 1);
    return list[0];
}

static void what_takes_long_is_asked_for_at_times(void **state)
{
    struct nvml_watch *watch = NULL;
    struct arena arena;
    struct facts facts;
    struct error err = { 0 };

    (void)state;
    arena_init(&arena, 16 << 20);
    assert_int_equal(topology_read(SIM_LIBRARY, &arena, &facts, &err), 0);
    facts.simulated = 0;
    assert_int_equal(
        nvml_watch_open(&facts, SIM_LIBRARY, &arena, &watch, &err), 0);

    const struct gpu_reading first = read_one(watch, READ_BEGIN, &arena);
    const struct gpu_reading second = read_one(watch, READ_LOOK, &arena);

    /* The second time NVML does not tell: it was not asked. */
    assert_true(first.celsius > 0.0);
    assert_true(second.celsius == first.celsius);
    assert_true(second.nvlinks == first.nvlinks && first.nvlinks > 0.0);
    assert_true(second.sm_mhz == first.sm_mhz && first.sm_mhz > 0.0);
    assert_true(second.memory_mhz == first.memory_mhz);
    /* Nothing is measured: all of it. */
    assert_true(isnan(read_one(watch, READ_POLL, &arena).celsius));
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_long_is_asked_for_at_times),
    };

    setenv("NVBW_SIM_PROFILE", "h200_x2", 1);
    setenv("NVBW_SIM_FAULTS", "nvmlDeviceGetTemperature:2+=999", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
