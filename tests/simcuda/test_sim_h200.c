/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The profile h200_x2 gives the figures measured on that machine: quiet ones
 * within 1 %, contended ones within 3 %. */
#include "sim_test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE  (UINT64_C(12) << 20)
#define QUIET 0.01
#define LOOSE 0.03

static struct sim_driver cu;

enum { FLOWS_MAX = 4, COPIES = 2, BACKGROUND_COPIES = 6 };

/* dst and src: 0 and 1 are the GPUs, -1 the host. */
struct flow {
    int executor, dst, src;
};

/* As the profile, but with events as fine as the clock: so little data can be
 * moved that the test is quick. */
static const char profile_text[] =
    "base = \"h200_x2\"; name = \"fine\"; event_resolution_ns = 0.001;";

static cu_address place(int where)
{
    if (where < 0) {
        return (uint64_t)(uintptr_t)sim_test_host(&cu, SIZE);
    }
    sim_test_context(&cu, where);
    return sim_test_device(&cu, SIZE);
}

static void give_back(int where, cu_address address)
{
    OK(where < 0 ? cu.host_free((void *)(uintptr_t)address)
                 : cu.memory_free(address));
}

/* Nanoseconds per copy of the first flow while the others go on longer. */
static double time_copy(const struct flow *flows, int count, size_t bytes)
{
    struct CUstream_st *streams[FLOWS_MAX];
    cu_address dst[FLOWS_MAX];
    cu_address src[FLOWS_MAX];
    struct CUevent_st *start = NULL;
    struct CUevent_st *end = NULL;

    for (int i = 0; i < count; i++) {
        dst[i] = place(flows[i].dst);
        src[i] = place(flows[i].src);
        sim_test_context(&cu, flows[i].executor);
        streams[i] = sim_test_stream(&cu);
    }
    for (int i = count - 1; i >= 0; i--) {
        sim_test_context(&cu, flows[i].executor);
        if (i == 0) {
            OK(cu.event_create(&start, CU_EVENT_IS_DEFAULT));
            OK(cu.event_create(&end, CU_EVENT_IS_DEFAULT));
            OK(cu.event_record(start, streams[0]));
        }
        for (int j = 0; j < (i == 0 ? COPIES : BACKGROUND_COPIES); j++) {
            OK(cu.copy_async(dst[i], src[i], bytes, streams[i]));
        }
    }
    OK(cu.event_record(end, streams[0]));
    for (int i = 0; i < count; i++) {
        OK(cu.stream_synchronize(streams[i]));
    }
    const double ms = sim_test_elapsed(&cu, start, end);

    for (int i = 0; i < count; i++) {
        give_back(flows[i].dst, dst[i]);
        give_back(flows[i].src, src[i]);
    }
    return ms * 1e6 / COPIES;
}

/* GB/s with copies of 512 MiB: two sizes give cost and rate. */
static double measure(const struct flow *flows, int count)
{
    const double whole = (double)(UINT64_C(512) << 20);
    const double large = (double)SIZE;
    const double small = large / 3;
    const double large_ns = time_copy(flows, count, SIZE);
    const double small_ns = time_copy(flows, count, SIZE / 3);
    const double slope = (large_ns - small_ns) / (large - small);

    return whole / (large_ns + slope * (whole - large));
}

static void quiet_figures(void **state)
{
    (void)state;
    sim_test_near(measure(&(struct flow){ 0, 0, -1 }, 1), 55.45, QUIET);
    sim_test_near(measure(&(struct flow){ 1, -1, 1 }, 1), 55.32, QUIET);
    sim_test_near(measure(&(struct flow){ 0, 0, 1 }, 1), 394.0, QUIET);
    sim_test_near(measure(&(struct flow){ 0, 1, 0 }, 1), 396.4, QUIET);
}

static void contended_figures(void **state)
{
    const struct flow duplex[] = { { 0, 0, -1 }, { 0, -1, 0 } };
    const struct flow to_host[] = { { 0, -1, 0 }, { 1, -1, 1 } };
    const struct flow from_host[] = { { 0, 0, -1 }, { 1, 1, -1 } };
    const struct flow all_down[] = { { 0, 0, -1 }, { 0, -1, 0 }, { 1, 1, -1 },
        { 1, -1, 1 } };
    const struct flow all_up[] = { { 0, -1, 0 }, { 0, 0, -1 }, { 1, 1, -1 },
        { 1, -1, 1 } };
    const struct flow peers[] = { { 0, 1, 0 }, { 1, 0, 1 } };
    (void)state;

    sim_test_near(measure(duplex, 2), 51.06, LOOSE);
    sim_test_near(measure(to_host, 2), 52.6, LOOSE);
    sim_test_near(measure(from_host, 2), 53.9, LOOSE);
    sim_test_near(measure(all_down, 4), 29.5, LOOSE);
    sim_test_near(measure(all_up, 4), 49.3, LOOSE);
    sim_test_near(measure(peers, 2), 391.8, LOOSE);
}

static void peers_without_access_are_staged(void **state)
{
    const struct flow both[] = { { 0, 1, 0 }, { 1, 0, 1 } };
    struct CUctx_st *const first = sim_test_context(&cu, 0);
    (void)state;

    sim_test_near(measure(&(struct flow){ 0, 1, 0 }, 1), 38.0, 0.02);
    sim_test_near(measure(both, 2), 26.0, 0.02);
    /* One-way: the second GPU may, the first may not. */
    sim_test_context(&cu, 1);
    OK(cu.peer_enable(first, 0));
    assert_int_equal(
        cu.peer_enable(first, 0), CU_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    sim_test_near(measure(&(struct flow){ 0, 1, 0 }, 1), 38.0, 0.02);
    assert_true(measure(&(struct flow){ 1, 0, 1 }, 1) > 380);
    struct CUctx_st *const second = sim_test_context(&cu, 1);

    sim_test_context(&cu, 0);
    OK(cu.peer_enable(second, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_without_access_are_staged),
        cmocka_unit_test(quiet_figures),
        cmocka_unit_test(contended_figures),
    };

    char path[64];
    const int descriptor = memfd_create("profile", 0);

    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 ||
        write(descriptor, profile_text, sizeof profile_text - 1) < 0) {
        return 1;
    }
    sim_test_open(&cu, path, NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    close(descriptor);
    return failed;
}
