/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The event engine and the sharing of resources, without a driver: durations
 * computed by hand, exact to 0.02 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "sim_core.h"

enum { LINK, BACK, BOTH, RESOURCES };
enum { ENGINE, SLOTS };

#define MEGA 1e6

static void near_to(double actual, double expected)
{
    if (fabs(actual - expected) > 2e-4 * expected) {
        fail_msg("%.3f instead of %.3f", actual, expected);
    }
}

static struct sim_core *make(void)
{
    struct sim_core *core = core_open(RESOURCES, SLOTS, 20e3);

    assert_non_null(core);
    core_set_capacity(core, LINK, 50);
    core_set_capacity(core, BACK, 40);
    core_set_capacity(core, BOTH, 60);
    return core;
}

static double ends[8];
static struct sim_core *now_of;

static void note_end(struct sim_op *op)
{
    ends[op->words[0]] = core_now(now_of);
}

static struct sim_op *transfer(uint32_t index, double fixed_ns, double bytes)
{
    struct sim_op *op = core_op_new();

    assert_non_null(op);
    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = fixed_ns;
    op->work_bytes = bytes;
    op->words[0] = index;
    op->finish = note_end;
    return op;
}

static void crosses(
    struct sim_op *op, uint32_t resource, double cost, double weight)
{
    op->load.uses[op->load.uses_count++] =
        (struct resource_use){ resource, cost, weight };
}

static void run(struct sim_core *core)
{
    while (core_step(core)) {
    }
}

static void one_transfer_takes_cost_and_bytes_over_rate(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *stream = core_stream_open(core, 0, 0, 0);
    (void)state;

    for (uint32_t i = 0; i < 3; i++) {
        struct sim_op *op = transfer(i, 2000, 10 * MEGA);

        crosses(op, LINK, 1, 1);
        core_enqueue(core, stream, op);
    }
    run(core);
    near_to(ends[0], 2000 + 10 * MEGA / 50);
    near_to(ends[2], 3 * (2000 + 10 * MEGA / 50));
    core_close(core);
}

static void two_share_a_link_and_the_rest_has_it_alone(void **state)
{
    struct sim_core *core = now_of = make();
    (void)state;

    for (uint32_t i = 0; i < 2; i++) {
        struct sim_op *op = transfer(i, 0, (i + 1) * 10 * MEGA);

        crosses(op, LINK, 1, 1);
        core_enqueue(core, core_stream_open(core, 0, i, 0), op);
    }
    run(core);
    near_to(ends[0], 10 * MEGA / 25);
    near_to(ends[1], 10 * MEGA / 25 + 10 * MEGA / 50);
    core_close(core);
}

static void both_directions_share_what_they_have_in_common(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_op *down = transfer(0, 0, 30 * MEGA);
    struct sim_op *up = transfer(1, 0, 30 * MEGA);
    (void)state;

    crosses(down, LINK, 1, 1);
    crosses(down, BOTH, 1, 2);
    crosses(up, BACK, 1, 1);
    crosses(up, BOTH, 1, 1);
    core_enqueue(core, core_stream_open(core, 0, 0, 0), down);
    core_enqueue(core, core_stream_open(core, 0, 1, 0), up);
    run(core);
    /* 60 by weight: 40 and 20; then up alone at 40. */
    near_to(ends[0], 30 * MEGA / 40);
    near_to(ends[1], 30 * MEGA / 40 + 15 * MEGA / 40);
    core_close(core);
}

static void many_to_one_share_evenly(void **state)
{
    struct sim_core *core = now_of = make();
    (void)state;

    for (uint32_t i = 0; i < 5; i++) {
        struct sim_op *op = transfer(i, 0, 10 * MEGA);

        op->load.limit = i == 0 ? 6 : 0; /* slower by itself */
        crosses(op, LINK, 1, 1);
        core_enqueue(core, core_stream_open(core, 0, i, 0), op);
    }
    run(core);
    near_to(ends[1], 10 * MEGA / 11); /* (50 - 6) / 4 */
    near_to(ends[0], 10 * MEGA / 6);
    core_close(core);
}

static void a_costly_transfer_fills_its_link_sooner(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_op *op = transfer(0, 0, 10 * MEGA);
    (void)state;

    crosses(op, LINK, 2, 1);
    core_enqueue(core, core_stream_open(core, 0, 0, 0), op);
    run(core);
    near_to(ends[0], 10 * MEGA / 25);
    core_close(core);
}

static void an_engine_takes_one_at_a_time_in_turn(void **state)
{
    struct sim_core *core = now_of = make();
    (void)state;

    core_set_slot(core, ENGINE, 1);
    for (uint32_t i = 0; i < 4; i++) {
        static struct sim_stream *streams[2];
        struct sim_op *op = transfer(i, 0, 10 * MEGA);

        if (i < 2) {
            streams[i] = core_stream_open(core, 0, i, 0);
        }
        crosses(op, LINK, 1, 1);
        op->slot = ENGINE;
        core_enqueue(core, streams[i % 2], op);
    }
    run(core);
    for (uint32_t i = 0; i < 4; i++) {
        near_to(ends[i], (i + 1) * 10 * MEGA / 50);
    }
    core_close(core);
}

static int word;

static int word_is_set(struct sim_op *op)
{
    (void)op;
    return word;
}

static struct sim_op *watch(double limit_ns)
{
    struct sim_op *op = core_op_new();

    assert_non_null(op);
    op->kind = SIM_OP_WATCH;
    op->over = word_is_set;
    op->limit_ns = limit_ns;
    op->finish = note_end;
    return op;
}

static void a_watch_passes_time_in_small_steps(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *stream = core_stream_open(core, 0, 0, 0);
    (void)state;

    word = 0;
    core_enqueue(core, stream, watch(70e3));
    assert_true(core_step(core));
    near_to(core_now(core), 20e3);
    run(core);
    near_to(ends[0], 70e3);
    assert_true(core_stream_idle(stream));
    core_close(core);
}

static void without_a_limit_time_stands_still(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *stream = core_stream_open(core, 0, 0, 0);
    (void)state;

    word = 0;
    core_enqueue(core, stream, watch(0));
    assert_false(core_step(core));
    assert_false(core_stream_idle(stream));
    word = 1;
    core_settle(core);
    assert_true(core_stream_idle(stream));
    core_close(core);
}

static void streams_of_a_lane_hold_each_other_up(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *first = core_stream_open(core, 0, 0, 0);
    struct sim_stream *second = core_stream_open(core, 0, 0, 0);
    struct sim_stream *elsewhere = core_stream_open(core, 0, 1, 0);
    (void)state;

    word = 0;
    core_enqueue(core, first, watch(0));
    core_enqueue(core, first, transfer(1, 0, MEGA));
    core_enqueue(core, second, transfer(2, 0, MEGA));
    core_enqueue(core, elsewhere, transfer(3, 0, MEGA));
    run(core);
    assert_true(core_stream_idle(elsewhere));
    assert_false(core_stream_idle(second));
    assert_int_equal(core_lane_depth(core, first), 3);
    word = 1;
    run(core);
    assert_true(core_stream_idle(second));
    core_close(core);
}

static void the_legacy_stream_waits_and_is_waited_for(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *blocking =
        core_stream_open(core, 0, 0, SIM_STREAM_BLOCKING);
    struct sim_stream *legacy = core_stream_open(core, 0, 1, SIM_STREAM_LEGACY);
    struct sim_stream *free_one = core_stream_open(core, 0, 2, 0);
    struct sim_stream *const order[] = { blocking, legacy, blocking, free_one };
    (void)state;

    for (uint32_t i = 0; i < 4; i++) {
        core_enqueue(core, order[i], transfer(i, 1000, 0));
    }
    run(core);
    near_to(ends[0], 1000);
    near_to(ends[1], 2000);
    near_to(ends[2], 3000);
    near_to(ends[3], 1000);
    core_close(core);
}

static void a_hung_stream_stays(void **state)
{
    struct sim_core *core = now_of = make();
    struct sim_stream *stream = core_stream_open(core, 0, 0, 0);
    (void)state;

    core_stream_hang(stream);
    core_enqueue(core, stream, transfer(0, 1000, 0));
    assert_false(core_step(core));
    assert_false(core_stream_idle(stream));
    core_close(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_transfer_takes_cost_and_bytes_over_rate),
        cmocka_unit_test(two_share_a_link_and_the_rest_has_it_alone),
        cmocka_unit_test(both_directions_share_what_they_have_in_common),
        cmocka_unit_test(many_to_one_share_evenly),
        cmocka_unit_test(a_costly_transfer_fills_its_link_sooner),
        cmocka_unit_test(an_engine_takes_one_at_a_time_in_turn),
        cmocka_unit_test(a_watch_passes_time_in_small_steps),
        cmocka_unit_test(without_a_limit_time_stands_still),
        cmocka_unit_test(streams_of_a_lane_hold_each_other_up),
        cmocka_unit_test(the_legacy_stream_waits_and_is_waited_for),
        cmocka_unit_test(a_hung_stream_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
