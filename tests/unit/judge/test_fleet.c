/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 12, CELLS = 3 };

static struct arena arena;
static struct fleet fleet;

static const char *places[CELLS] = { "GPU 0", "GPU 1", "GPU 10" };
static const char *states[CELLS] = { "pass", "pass", "pass" };

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    fleet_begin(&fleet, &arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

struct fake {
    const char *host, *run_id, *started, *driver;
    uint32_t exit_code, better;
    double figures[CELLS];
    double reach;
};

static struct fake fake(const char *host)
{
    return (struct fake){ host, host, "2026-11-30T10:00:00Z", "580.1",
        EXIT_PASSED, NVBW_HIGHER, { 55e9, 55e9, 55e9 }, 0.0 };
}

static void add(const struct fake *from)
{
    struct error err = { 0 };
    double figures[CELLS];
    struct node_group group = { .plugin = "ce_h2d",
        .testcase = "host_to_device_memcpy_ce",
        .metric = "bandwidth",
        .measure = NVBW_UNIT_BYTES_PER_SECOND,
        .better = from->better,
        .reach = from->reach,
        .places = places,
        .places_count = CELLS,
        .states = states,
        .states_count = CELLS,
        .figures = figures,
        .figures_count = CELLS };
    const struct node node = { .version = NODE_VERSION,
        .host = from->host,
        .run_id = from->run_id,
        .started = from->started,
        .driver_version = from->driver,
        .plan = "acceptance",
        .gpu_model = "NVIDIA H200",
        .gpus = CELLS,
        .complete = 1,
        .exit_code = from->exit_code,
        .groups = &group,
        .groups_count = 1 };

    memcpy(figures, from->figures, sizeof figures);
    if (fleet_add(&fleet, from->host, &node, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void finish_fleet(const char *const *expected, uint32_t count)
{
    struct error err = { 0 };

    if (fleet_finish(&fleet, expected, count, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static char names[NODES][16];

/* Healthy nodes that scatter by 0.5 %, node3 as given. */
static void add_nodes(const struct fake *third)
{
    for (int i = 0; i < NODES; i++) {
        struct fake one = *third;

        snprintf(names[i], sizeof names[i], "node%d", i);
        if (i != 3) {
            one = fake(names[i]);
            one.better = third->better;
            one.reach = third->reach;
            for (int k = 0; k < CELLS; k++) {
                one.figures[k] *= 1.0 + 0.005 * ((i * 7 + k) % 3 - 1);
            }
        }
        one.host = names[i];
        one.run_id = names[i];
        add(&one);
    }
}

static void alike_nodes_have_no_outlier(void **state)
{
    const struct fake third = fake(NULL);

    (void)state;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.counted, NODES);
    assert_int_equal(fleet.cells_count, CELLS);
    assert_int_equal(fleet.outliers_count, 0);
    assert_int_equal(fleet.differences_count, 0);
    assert_int_equal(fleet.exit_code, EXIT_PASSED);
    assert_string_equal(fleet.nodes[10].host, "node10");
    assert_string_equal(fleet.cells[2].place, "GPU 10");
    assert_true(fabs(fleet.cells[0].median / 55e9 - 1.0) < 0.006);
}

static void a_slow_node_is_an_outlier(void **state)
{
    struct fake third = fake(NULL);

    (void)state;
    third.figures[1] = 27e9;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.outliers_count, 1);
    assert_int_equal(fleet.outlier_nodes, 1);
    assert_int_equal(fleet.outliers[0].node, 3);
    assert_string_equal(fleet.cells[fleet.outliers[0].cell].place, "GPU 1");
    assert_true(fleet.outliers[0].gain < -0.45);
    assert_true(fleet.outliers[0].z < -FLEET_Z);
    assert_int_equal(fleet.nodes[3].outliers_count, 1);
    /* Outliers are told; the runs' own limits decide. */
    assert_int_equal(fleet.exit_code, EXIT_PASSED);
}

/* A longer latency is worse, a shorter one is not. */
static void latencies_are_worse_when_longer(void **state)
{
    struct fake third = fake(NULL);

    (void)state;
    third.better = NVBW_LOWER;
    third.figures[0] *= 1.3;
    third.figures[2] *= 0.7;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.outliers_count, 1);
    assert_string_equal(fleet.cells[fleet.outliers[0].cell].place, "GPU 0");
    assert_true(fleet.outliers[0].gain < -0.2);
}

static void what_healthy_runs_differ_by_is_no_outlier(void **state)
{
    struct fake third = fake(NULL);

    (void)state;
    third.reach = 0.12;
    third.figures[0] *= 0.90;
    third.figures[1] *= 0.80;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.outliers_count, 1);
    assert_string_equal(fleet.cells[fleet.outliers[0].cell].place, "GPU 1");
}

static void three_nodes_are_no_crowd(void **state)
{
    struct fake one = fake("a");

    (void)state;
    add(&one);
    one = fake("b");
    add(&one);
    one = fake("c");
    one.figures[0] = 1e9;
    add(&one);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.outliers_count, 0);
    assert_int_equal(fleet.cells[0].worst, 2);
}

static void the_newest_run_of_a_host_counts(void **state)
{
    struct fake one = fake("a");

    (void)state;
    one.exit_code = EXIT_FAILED;
    add(&one);
    one.run_id = "later";
    one.started = "2026-11-30T11:00:00Z";
    one.exit_code = EXIT_PASSED;
    add(&one);
    add(&one); /* the same run once more */
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.nodes_count, 2);
    assert_int_equal(fleet.counted, 1);
    assert_int_equal(fleet.exit_code, EXIT_PASSED);
    assert_string_equal(fleet.nodes[0].run_id, "later");
    assert_true(fleet.nodes[1].superseded);
    assert_int_equal(fleet.cells[0].figures_count, 1);
}

static void who_is_missing_is_named(void **state)
{
    static const char *const expected[] = { "node2", "node1", "node1",
        "login1.cluster.example", "node3" };
    struct fake one = fake("node1.cluster.example");

    (void)state;
    add(&one);
    one = fake("login1");
    add(&one);
    one = fake("stranger");
    add(&one);
    finish_fleet(expected, 5);
    assert_int_equal(fleet.missing_count, 2);
    assert_string_equal(fleet.missing[0], "node2");
    assert_string_equal(fleet.missing[1], "node3");
    assert_int_equal(fleet.unexpected_count, 1);
    assert_string_equal(fleet.unexpected[0], "stranger");
    assert_int_equal(fleet.exit_code, EXIT_INCOMPLETE);
}

static void hosts_are_one_by_their_first_part(void **state)
{
    (void)state;
    assert_true(fleet_is_same_host("a", "a"));
    assert_true(fleet_is_same_host("a", "a.b"));
    assert_false(fleet_is_same_host("a.b", "a.c"));
    assert_false(fleet_is_same_host("a", "ab"));
    assert_false(fleet_is_same_host("a1", "a10"));
}

static void what_is_unlike_is_told(void **state)
{
    struct fake third = fake(NULL);

    (void)state;
    third.driver = "570.9";
    third.exit_code = EXIT_HEALTH;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.differences_count, 1);
    assert_string_equal(fleet.differences[0].what, "driver");
    assert_string_equal(fleet.differences[0].values[0].value, "580.1");
    assert_int_equal(fleet.differences[0].values[0].count, NODES - 1);
    assert_string_equal(fleet.differences[0].values[1].value, "570.9");
    assert_int_equal(fleet.differences[0].values[1].first, 3);
    assert_int_equal(fleet.exit_code, EXIT_HEALTH);
    assert_int_equal(fleet.by_exit[EXIT_HEALTH], 1);
}

/* Numbers that no run has: nothing is made of them. */
static void odd_numbers_do_no_harm(void **state)
{
    struct fake third = fake(NULL);

    (void)state;
    third.figures[0] = INFINITY;
    third.figures[1] = -1e300;
    third.figures[2] = NAN;
    third.exit_code = 4000000000U;
    third.reach = INFINITY;
    add_nodes(&third);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.outliers_count, 0);
    assert_int_equal(fleet.cells[0].count, NODES - 1);
    assert_int_equal(fleet.nodes[3].exit_code, EXIT_INCOMPLETE);
}

static void no_node_is_incomplete(void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        fleet_add_trouble(&fleet, "b", "no run\x1b[2J", &err), NVBW_OK);
    assert_int_equal(fleet_add_trouble(&fleet, "a", "no run", &err), NVBW_OK);
    finish_fleet(NULL, 0);
    assert_int_equal(fleet.exit_code, EXIT_INCOMPLETE);
    assert_string_equal(fleet.troubles[0].path, "a");
    assert_string_equal(fleet.troubles[1].why, "no run?[2J");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(alike_nodes_have_no_outlier),
        TEST(a_slow_node_is_an_outlier),
        TEST(latencies_are_worse_when_longer),
        TEST(what_healthy_runs_differ_by_is_no_outlier),
        TEST(three_nodes_are_no_crowd),
        TEST(the_newest_run_of_a_host_counts),
        TEST(who_is_missing_is_named),
        TEST(hosts_are_one_by_their_first_part),
        TEST(what_is_unlike_is_told),
        TEST(odd_numbers_do_no_harm),
        TEST(no_node_is_incomplete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
