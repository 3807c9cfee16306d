/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Memory behind a multicast object on the simulated driver: whichever call
 * fails, what was taken before it is given back. One rank is enough, for it
 * does all there is to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine_state.h"
#include "peers.h"
#include "topology.h"

enum { BYTES = 3 << 20 };

/* The driver's functions, counted, and one that fails at one of its calls. */
#define COUNTED(X)                                                             \
    X(multicast_granularity,                                                   \
        (size_t * out, const struct cu_multicast_prop *prop,                   \
            unsigned int option),                                              \
        (out, prop, option))                                                   \
    X(multicast_create,                                                        \
        (cu_memory * out, const struct cu_multicast_prop *prop), (out, prop))  \
    X(multicast_add, (cu_memory object, int device), (object, device))         \
    X(multicast_bind,                                                          \
        (cu_memory object, size_t at, cu_memory memory, size_t offset,         \
            size_t bytes, unsigned long long flags),                           \
        (object, at, memory, offset, bytes, flags))                            \
    X(multicast_unbind,                                                        \
        (cu_memory object, int device, size_t at, size_t bytes),               \
        (object, device, at, bytes))                                           \
    X(vmm_granularity,                                                         \
        (size_t * out, const struct cu_allocation_prop *prop,                  \
            unsigned int option),                                              \
        (out, prop, option))                                                   \
    X(vmm_create,                                                              \
        (cu_memory * out, size_t bytes, const struct cu_allocation_prop *prop, \
            unsigned long long flags),                                         \
        (out, bytes, prop, flags))                                             \
    X(vmm_release, (cu_memory memory), (memory))                               \
    X(vmm_reserve,                                                             \
        (cu_address * out, size_t bytes, size_t alignment, cu_address near,    \
            unsigned long long flags),                                         \
        (out, bytes, alignment, near, flags))                                  \
    X(vmm_unreserve, (cu_address address, size_t bytes), (address, bytes))     \
    X(vmm_map,                                                                 \
        (cu_address address, size_t bytes, size_t offset, cu_memory memory,    \
            unsigned long long flags),                                         \
        (address, bytes, offset, memory, flags))                               \
    X(vmm_unmap, (cu_address address, size_t bytes), (address, bytes))         \
    X(vmm_access,                                                              \
        (cu_address address, size_t bytes, const struct cu_access *access,     \
            size_t number),                                                    \
        (address, bytes, access, number))                                      \
    X(vmm_export,                                                              \
        (void *out, cu_memory memory, unsigned int type,                       \
            unsigned long long flags),                                         \
        (out, memory, type, flags))

#define NUMBER(name, parameters, arguments) CALL_##name,
enum { COUNTED(NUMBER) CALLS };
#define NAME(name, parameters, arguments) #name,
static const char *const names[CALLS] = { COUNTED(NAME) };

static struct cuda_api real;
static uint32_t calls[CALLS], done[CALLS];
static uint32_t fails, fails_at; /* the call's number, and which time */

static cu_result count(uint32_t call, cu_result result)
{
    done[call] += result == CU_SUCCESS;
    return result;
}

static int strikes(uint32_t call)
{
    return ++calls[call] == fails_at && call == fails;
}

#define WRAP(name, parameters, arguments)                                      \
    static cu_result counted_##name parameters                                 \
    {                                                                          \
        return strikes(CALL_##name) ? (cu_result)CU_ERROR_UNKNOWN              \
                                    : count(CALL_##name, real.name arguments); \
    }
COUNTED(WRAP)

static int32_t allgather(struct nvbw_ctx *ctx, const void *in, void *out,
    uint64_t bytes, int64_t deadline_ns)
{
    (void)ctx;
    (void)deadline_ns;
    memcpy(out, in, bytes);
    return NVBW_OK;
}

static struct scene {
    struct arena arena;
    struct facts facts;
    struct peers peers;
    char nodes[1][PEERS_NODE_BYTES];
    struct engine *engine;
} scene;

#define REPLACE(name, parameters, arguments)                                   \
    scene.engine->api.name = counted_##name;

static int open_scene(void **state)
{
    struct engine_setup setup = { .driver_file = SIM_LIBRARY };
    struct error err = { 0 };
    struct gpu *gpu = NULL;
    (void)state;

    setenv("NVBW_SIM_PROFILE", "h200_x2", 1);
    unsetenv("NVBW_DISABLE_MULTICAST");
    unsetenv("NCCL_NVLS_ENABLE");
    arena_init(&scene.arena, 64 << 20);
    scene.peers = (struct peers){ .ranks = 1,
        .allgather = allgather,
        .nodes = scene.nodes,
        .step_ns = 1000000000,
        .handle = PEERS_DESCRIPTOR,
        .socket = -1 };
    setup.facts = &scene.facts;
    setup.peers = &scene.peers;
    if (topology_read(SIM_LIBRARY, &scene.arena, &scene.facts, &err) < 0 ||
        engine_open(&setup, &scene.engine, &err) < 0 ||
        engine_gpu(scene.engine, 0, &gpu, &err) < 0) {
        fail_msg("%s", err.text);
    }
    real = scene.engine->api;
    COUNTED(REPLACE)
    scene.engine->allow_multicast = 1;
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    engine_close(scene.engine);
    arena_clear(&scene.arena);
    return 0;
}

static void expect_balance(const char *what)
{
    static const uint32_t pairs[][2] = {
        { CALL_vmm_reserve, CALL_vmm_unreserve },
        { CALL_vmm_map, CALL_vmm_unmap },
        { CALL_multicast_bind, CALL_multicast_unbind },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (done[pairs[i][0]] != done[pairs[i][1]]) {
            fail_msg("%s: %u x %s, %u x %s", what, done[pairs[i][0]],
                names[pairs[i][0]], done[pairs[i][1]], names[pairs[i][1]]);
        }
    }
    if (done[CALL_vmm_create] + done[CALL_multicast_create] !=
        done[CALL_vmm_release]) {
        fail_msg("%s: handles were not given back", what);
    }
}

static int32_t map(struct team_memory *out, struct error *err)
{
    memset(calls, 0, sizeof calls);
    memset(done, 0, sizeof done);
    return peers_map_team(&scene.peers, scene.engine, BYTES, out, err);
}

static void all_is_given_back(void **state)
{
    struct team_memory memory;
    struct error err = { 0 };
    (void)state;

    fails_at = 0;
    if (map(&memory, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_true(memory.object.bytes >= BYTES);
    assert_true(memory.own.bytes >= memory.object.bytes);
    assert_true(memory.object.address != 0 && memory.own.address != 0);
    assert_int_equal(memory.object.descriptor, -1);
    peers_unmap_team(scene.engine, &memory);
    expect_balance("no failure");
}

/* Each call of the way there, one after another. */
static void a_failure_undoes_what_was_done(void **state)
{
    uint32_t usual[CALLS];
    struct team_memory memory;
    (void)state;

    fails_at = 0;
    assert_int_equal(map(&memory, NULL), NVBW_OK);
    memcpy(usual, calls, sizeof usual);
    peers_unmap_team(scene.engine, &memory);
    for (fails = 0; fails < CALLS; fails++) {
        for (fails_at = 1; fails_at <= usual[fails]; fails_at++) {
            struct error err = { 0 };
            char what[64];

            snprintf(what, sizeof what, "%s, call %u", names[fails], fails_at);
            if (map(&memory, &err) >= 0) {
                fail_msg("%s fails, and nobody notices", what);
            }
            assert_non_null(strstr(err.text, "rank 0"));
            assert_int_equal(calls[fails] >= fails_at, 1);
            expect_balance(what);
        }
    }
}

/* The guard is asked first, so that nothing has to be undone. */
static void what_is_not_allowed_calls_nothing(void **state)
{
    struct team_memory memory;
    struct error err = { 0 };
    (void)state;

    fails_at = 0;
    scene.engine->allow_multicast = 0;
    assert_int_equal(map(&memory, &err), NVBW_E_SKIPPED);
    scene.engine->allow_multicast = 1;
    assert_int_equal(err.code, NVBW_SKIP_MULTICAST_DISABLED);
    for (uint32_t i = 0; i < CALLS; i++) {
        assert_int_equal(calls[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_given_back),
        cmocka_unit_test(a_failure_undoes_what_was_done),
        cmocka_unit_test(what_is_not_allowed_calls_nothing),
    };

    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
