/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "session.h"

#include "cpu_chase.h"
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FLOWS = 3, ODD_BYTES = 100003 };

/* In place of the pool: every buffer new, and counted. */
static uint32_t buffers_out;

int32_t __wrap_buffer_get(struct buffer_pool *pool, uint32_t memory,
    const struct buffer_want *want, struct buffer **out, struct error *err);
void __wrap_buffer_put(struct buffer_pool *pool, struct buffer *buffer);

int32_t __wrap_buffer_get(struct buffer_pool *pool, uint32_t memory,
    const struct buffer_want *want, struct buffer **out, struct error *err)
{
    (void)pool;
    struct buffer *const buffer = calloc(1, sizeof *buffer);

    assert_non_null(buffer);
    const int32_t status = buffer_kinds[memory]->make(want, buffer, err);

    if (status < 0) {
        free(buffer);
        return status;
    }
    buffers_out++;
    *out = buffer;
    return NVBW_OK;
}

void __wrap_buffer_put(struct buffer_pool *pool, struct buffer *buffer)
{
    (void)pool;
    buffer->kind->destroy(buffer);
    free(buffer);
    buffers_out--;
}

/* A session by hand: a flow and a cell each, and a total. */
struct rig {
    struct node_facts nodes[2];
    struct facts facts;
    struct measure_request request;
    struct nvbw_flow given[FLOWS];
    struct flow_run flows[FLOWS];
    struct target targets[FLOWS + 1];
    struct record records[FLOWS + 1];
    struct sample_figure figures[FLOWS + 1];
    struct sample sample;
    struct arena arena;
    struct session session;
    struct error err;
};

static void add_flow(
    struct rig *rig, uint32_t operation, uint64_t bytes, uint32_t flags)
{
    const uint32_t i = rig->session.flows_count++;
    struct nvbw_flow *const given = &rig->given[i];
    struct flow_run *const run = &rig->flows[i];

    *given = (struct nvbw_flow){ .size = sizeof *given,
        .flags = flags,
        .initiator = NVBW_BY_CPU,
        .operation = operation,
        .src_memory = NVBW_MEM_PAGEABLE,
        .dst_memory = NVBW_MEM_PAGEABLE,
        .bytes = bytes };
    run->given = given;
    run->record = (struct flow_record){ .initiator = NVBW_BY_CPU,
        .operation = operation,
        .src_memory = NVBW_MEM_PAGEABLE,
        .dst_memory = NVBW_MEM_PAGEABLE,
        .bytes = bytes };
    run->cell = (flags & NVBW_FLOW_BACKGROUND) ? -1 : (int32_t)i;
    run->reverse = -1;
    rig->targets[i].record = &rig->records[i];
    rig->targets[i].unit = NVBW_UNIT_BYTES_PER_SECOND;
    record_init(&rig->records[i]);
    rig->session.targets_count = i + 1;
}

static void add_total(struct rig *rig)
{
    const uint32_t i = rig->session.targets_count++;

    rig->targets[i] = (struct target){ .record = &rig->records[i],
        .is_total = 1,
        .unit = NVBW_UNIT_BYTES_PER_SECOND };
    record_init(&rig->records[i]);
}

static void set_up(struct rig *rig, uint32_t threads)
{
    memset(rig, 0, sizeof *rig);
    arena_init(&rig->arena, 16 << 20);
    rig->nodes[0] = (struct node_facts){
        .number = 0, .cpus = "0-4095", .cpu_count = 1, .cache_bytes = 1 << 20
    };
    rig->nodes[1] = (struct node_facts){ .number = 1, .cpus = "" };
    rig->facts = (struct facts){ .nodes = rig->nodes, .nodes_count = 2 };
    rig->session = (struct session){ .facts = &rig->facts,
        .request = &rig->request,
        .params = { .threads = threads,
            .verify = 1,
            .affinity = 1,
            .warmup = 1,
            .min_samples = 6,
            .max_samples = 8,
            .precision = 1.0,
            .precision_contended = 1.0 },
        .arena = &rig->arena,
        .backend = &backend_cpu,
        .flows = rig->flows,
        .targets = rig->targets };
    rig->sample.figures = rig->figures;
}

static void tear_down(struct rig *rig)
{
    backend_cpu.close(&rig->session);
    assert_int_equal(buffers_out, 0);
    arena_clear(&rig->arena);
}

static void open_and_sample(struct rig *rig, uint64_t copies)
{
    assert_int_equal(backend_cpu.open(&rig->session, &rig->err), NVBW_OK);
    assert_int_equal(
        backend_cpu.prepare(&rig->session, copies, 1.0, &rig->err), NVBW_OK);
    assert_int_equal(
        backend_cpu.sample(&rig->session, &rig->sample, &rig->err), NVBW_OK);
}

static uint64_t mismatches(struct rig *rig)
{
    rig->records[0].mismatches = 0;
    assert_int_equal(backend_cpu.verify(&rig->session, &rig->err), NVBW_OK);
    return rig->records[0].mismatches;
}

static const struct expectation {
    uint32_t operation, payload;
    const char *verified;
} expectations[] = {
    { NVBW_OP_COPY, 1, "all" },
    { NVBW_OP_READ, 1, "sum" },
    { NVBW_OP_WRITE, 1, "all" },
    { NVBW_OP_TRIAD, 3, "all" },
    { NVBW_OP_SCALE, 2, "all" },
    { NVBW_OP_ADD, 3, "all" },
    { NVBW_OP_DOT, 2, "sum" },
};
enum { EXPECTATIONS = sizeof expectations / sizeof expectations[0] };

static void assert_measured(
    const struct expectation *expected, uint32_t threads, uint64_t copies)
{
    struct rig rig;
    const uint64_t bytes =
        expected->payload > 1 ? ODD_BYTES / 8 * 8 : ODD_BYTES;

    set_up(&rig, threads);
    add_flow(&rig, expected->operation, ODD_BYTES, 0);
    open_and_sample(&rig, copies);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(mismatches(&rig), 0);
        assert_string_equal(rig.records[0].verified, expected->verified);
        assert_true(rig.figures[0].seconds > 0);
        assert_true(rig.figures[0].amount ==
                    (double)(bytes * copies * expected->payload));
        backend_cpu.sample(&rig.session, &rig.sample, NULL);
    }
    assert_int_equal(
        rig.records[0].verified_bytes, 2 * bytes * copies * expected->payload);
    tear_down(&rig);
    assert_int_equal(rig.records[0].copies, copies);
    assert_int_equal(rig.records[0].copy_bytes, bytes);
}

static void all_operations_with_any_threads(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < EXPECTATIONS; i++) {
        for (uint32_t threads = 0; threads <= 5; threads++) {
            assert_measured(&expectations[i], threads, 1 + threads % 3);
        }
    }
}

static void every_slice_is_checked(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 2);
    add_flow(&rig, NVBW_OP_COPY, ODD_BYTES, 0);
    open_and_sample(&rig, 3);
    unsigned char *const dst = rig.flows[0].dst->host;

    for (uint64_t slice = 0; slice < 3; slice++) {
        for (uint64_t at = 0; at < ODD_BYTES; at += 33334) {
            unsigned char *const byte =
                dst + slice * rig.flows[0].dst_step + at;

            *byte ^= 4;
            assert_int_equal(mismatches(&rig), 1);
            assert_int_equal(rig.records[0].mismatch_offset, at / 8 * 8);
            *byte ^= 4;
        }
    }
    assert_int_equal(mismatches(&rig), 0);
    tear_down(&rig);
}

static void wrong_data_is_found_in_every_operation(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < EXPECTATIONS; i++) {
        struct rig rig;

        set_up(&rig, 3);
        add_flow(&rig, expectations[i].operation, ODD_BYTES, 0);
        open_and_sample(&rig, 2);
        const struct flow_run *const flow = &rig.flows[0];

        if (flow->dst != NULL) {
            ((unsigned char *)flow->dst->host)[5000] ^= 1;
        } else {
            ((unsigned char *)flow->src->host)[5006] ^= 0x20;
            backend_cpu.sample(&rig.session, &rig.sample, NULL);
        }
        assert_int_equal(mismatches(&rig), 1);
        tear_down(&rig);
    }
}

/* A copy that a later sample leaves out must not pass as the one before. */
static void a_sample_that_does_nothing_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < EXPECTATIONS; i++) {
        struct rig rig;

        set_up(&rig, 2);
        add_flow(&rig, expectations[i].operation, ODD_BYTES, 0);
        assert_int_equal(backend_cpu.open(&rig.session, NULL), NVBW_OK);
        rig.session.params.warmup = 0;
        assert_int_equal(
            backend_cpu.prepare(&rig.session, 1, 1.0, NULL), NVBW_OK);
        assert_true(mismatches(&rig) > 0);
        tear_down(&rig);
    }
}

static void repeated_slices_count_as_last_copy(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 2);
    rig.session.params.fixed = 1;
    add_flow(&rig, NVBW_OP_COPY, ODD_BYTES, 0);
    open_and_sample(&rig, 4);
    assert_int_equal(mismatches(&rig), 0);
    assert_string_equal(rig.records[0].verified, "last copy");
    assert_int_equal(rig.records[0].verified_bytes, ODD_BYTES);
    tear_down(&rig);
    assert_int_equal(rig.records[0].footprint_bytes, 2 * ODD_BYTES);
}

static void a_chase_is_proved_by_where_it_ends(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 4);
    add_flow(&rig, NVBW_OP_CHASE, 1 << 20, 0);
    rig.targets[0].unit = NVBW_UNIT_NANOSECONDS;
    open_and_sample(&rig, 2);
    assert_int_equal(mismatches(&rig), 0);
    assert_true(rig.figures[0].amount == 32768);

    /* A link that leaves out the rest of the cycle. */
    struct chase_line *const lines = rig.flows[0].src->host;

    lines[17].next = lines[17].next->next;
    backend_cpu.sample(&rig.session, &rig.sample, NULL);
    assert_int_equal(mismatches(&rig), 1);
    tear_down(&rig);
}

static void flows_together_have_a_total(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_COPY, 50000, 0);
    add_flow(&rig, NVBW_OP_READ, 70000, 0);
    add_total(&rig);
    open_and_sample(&rig, 2);
    assert_int_equal(mismatches(&rig), 0);
    assert_true(rig.figures[0].amount == 100000);
    assert_true(rig.figures[1].amount == 140000);
    assert_true(rig.figures[2].amount == 240000);
    assert_true(rig.figures[2].seconds >= rig.figures[0].seconds);
    assert_true(rig.figures[2].seconds >= rig.figures[1].seconds);
    tear_down(&rig);
    assert_int_equal(rig.records[2].footprint_bytes, 2 * 170000);
}

static void background_covers_and_is_checked(void **state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 3; copies++) {
        struct rig rig;

        set_up(&rig, 0);
        add_flow(&rig, NVBW_OP_COPY, 1 << 20, 0);
        add_flow(&rig, NVBW_OP_WRITE, 100001, NVBW_FLOW_BACKGROUND);
        add_total(&rig);
        open_and_sample(&rig, copies);
        assert_int_equal(mismatches(&rig), 0);
        assert_true(rig.figures[0].amount == copies * 1048576.0);
        assert_true(rig.figures[2].amount >= rig.figures[0].amount);
        ((unsigned char *)rig.flows[1].dst->host)[100000] ^= 1;
        assert_int_equal(mismatches(&rig), 1);
        tear_down(&rig);
    }
}

static void small_footprints_are_flagged(void **state)
{
    static const uint64_t sizes[] = { 1 << 20, 4 << 20 };

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;

        set_up(&rig, 1);
        add_flow(&rig, NVBW_OP_READ, sizes[i], 0);
        open_and_sample(&rig, 1);
        /* The arena goes with tear_down, and the flags with it. */
        backend_cpu.close(&rig.session);
        assert_int_equal(rig.records[0].footprint_bytes, sizes[i]);
        assert_int_equal(rig.records[0].flags_count, i == 0);
        if (i == 0) {
            assert_string_equal(rig.records[0].flags[0], "cache_bound");
        }
        arena_clear(&rig.arena);
    }
}

/* Many VMs do not say what caches they have. */
static void an_unknown_cache_is_flagged(void **state)
{
    struct rig rig;

    (void)state;
    set_up(&rig, 1);
    rig.nodes[0].cache_bytes = 0;
    add_flow(&rig, NVBW_OP_READ, 4 << 20, 0);
    open_and_sample(&rig, 1);
    backend_cpu.close(&rig.session);
    assert_int_equal(rig.records[0].flags_count, 1);
    assert_string_equal(rig.records[0].flags[0], "cache_unknown");
    arena_clear(&rig.arena);
}

static void assert_refused(struct rig *rig, int32_t status, int64_t code)
{
    assert_int_equal(backend_cpu.open(&rig->session, &rig->err), status);
    if (status == NVBW_E_SKIPPED) {
        assert_int_equal(rig->err.code, code);
    }
    assert_true(rig->err.text[0] != '\0');
    arena_clear(&rig->arena);
}

static void what_cpus_cannot_do_is_skipped(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_SPLIT, 4096, 0);
    assert_refused(&rig, NVBW_E_SKIPPED, NVBW_SKIP_NOT_BUILT);
    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_READ, 4096, 0);
    rig.given[0].stride = 4096;
    assert_refused(&rig, NVBW_E_SKIPPED, NVBW_SKIP_NOT_BUILT);
    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_READ, 4096, 0);
    rig.flows[0].record.executor = 1;
    assert_refused(&rig, NVBW_E_SKIPPED, NVBW_SKIP_NO_CPU);
    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_READ, 0, 0);
    assert_refused(&rig, NVBW_E_INVALID, 0);
    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_TRIAD, 7, 0);
    assert_refused(&rig, NVBW_E_SKIPPED, NVBW_SKIP_MEMORY);
    set_up(&rig, 100000);
    add_flow(&rig, NVBW_OP_READ, 4096, 0);
    add_flow(&rig, NVBW_OP_READ, 4096, 0);
    assert_refused(&rig, NVBW_E_INVALID, 0);
}

static void too_much_memory_is_skipped(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 1);
    add_flow(&rig, NVBW_OP_COPY, UINT64_C(1) << 45, 0);
    assert_int_equal(backend_cpu.open(&rig.session, &rig.err), NVBW_OK);
    assert_int_equal(
        backend_cpu.prepare(&rig.session, 1, 1.0, &rig.err), NVBW_E_SKIPPED);
    assert_int_equal(rig.err.code, NVBW_SKIP_MEMORY);
    tear_down(&rig);
}

static void misaligned_flows_are_right(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < EXPECTATIONS; i++) {
        struct rig rig;

        set_up(&rig, 2);
        add_flow(&rig, expectations[i].operation, ODD_BYTES, 0);
        rig.given[0].offset = 3;
        open_and_sample(&rig, 2);
        assert_int_equal(mismatches(&rig), 0);
        tear_down(&rig);
    }
}

static void the_sampler_gets_figures(void **state)
{
    (void)state;
    struct rig rig;

    set_up(&rig, 0);
    add_flow(&rig, NVBW_OP_COPY, 3 << 20, 0);
    assert_int_equal(sampler_run(&rig.session, &rig.err), NVBW_OK);
    assert_int_equal(rig.records[0].state, STATE_MEASURED);
    assert_int_equal(rig.records[0].mismatches, 0);
    assert_true(rig.records[0].samples_count >= 6);
    assert_string_equal(rig.records[0].verified, "all");
    assert_int_equal(buffers_out, 0);
    arena_clear(&rig.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_operations_with_any_threads),
        cmocka_unit_test(every_slice_is_checked),
        cmocka_unit_test(wrong_data_is_found_in_every_operation),
        cmocka_unit_test(a_sample_that_does_nothing_shows),
        cmocka_unit_test(repeated_slices_count_as_last_copy),
        cmocka_unit_test(a_chase_is_proved_by_where_it_ends),
        cmocka_unit_test(flows_together_have_a_total),
        cmocka_unit_test(background_covers_and_is_checked),
        cmocka_unit_test(small_footprints_are_flagged),
        cmocka_unit_test(an_unknown_cache_is_flagged),
        cmocka_unit_test(what_cpus_cannot_do_is_skipped),
        cmocka_unit_test(too_much_memory_is_skipped),
        cmocka_unit_test(misaligned_flows_are_right),
        cmocka_unit_test(the_sampler_gets_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
