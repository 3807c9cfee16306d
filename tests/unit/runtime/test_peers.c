/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Gatherings of three ranks of which this is rank 0: the others are made up by
 * an allgather that puts their entries beside ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "peers.h"

enum { RANKS = 3, STEP_BYTES = 24 };

/* How an entry begins, as peers.c has it. */
struct head {
    uint64_t number;
    int32_t status;
    uint32_t unused;
    int64_t code;
    char step[STEP_BYTES];
    char text[32];
};

/* What the others do at the next gathering. */
static struct script {
    uint32_t silent;  /* this rank says nothing, 0: none */
    uint32_t failing; /* this rank failed, 0: none */
    uint32_t astray;  /* this rank is at another step, 0: none */
    uint32_t leaving; /* this rank leaves the task, 0: none */
    uint32_t beats;   /* so many times rank 0 has no task yet */
    uint32_t other;   /* of peers_kind: 1: this rank's build, 2: its plugins */
    int64_t deadline_ns; /* of the latest gathering */
    uint32_t calls;
} script;

static void change_kind(unsigned char *entry)
{
    struct peers_kind kind;

    memcpy(&kind, entry, sizeof kind);
    if (script.other == 1) {
        memcpy(kind.build, "0.9", 4);
    } else if (script.other == 2) {
        kind.plugins++;
    }
    memcpy(entry, &kind, sizeof kind);
}

static int32_t allgather(struct nvbw_ctx *ctx, const void *in, void *out,
    uint64_t bytes, int64_t deadline_ns)
{
    (void)ctx;
    script.deadline_ns = deadline_ns;
    script.calls++;
    for (uint32_t i = 0; i < RANKS; i++) {
        unsigned char *const entry = (unsigned char *)out + i * bytes;
        struct head head;

        if (i != 0 && i == script.silent) {
            continue;
        }
        memcpy(entry, in, bytes);
        if (i == 0 && bytes == 2 * sizeof(uint64_t) && script.beats > 0) {
            memset(entry + sizeof(uint64_t), 0xff, sizeof(uint64_t));
            script.beats--;
        }
        if (i == 1 && bytes == sizeof(uint64_t) + sizeof(struct peers_kind)) {
            change_kind(entry + sizeof(uint64_t));
            continue;
        }
        if (bytes < sizeof head || i == 0) {
            continue;
        }
        memcpy(&head, entry, sizeof head);
        if (i == script.failing) {
            head.status = NVBW_E_CUDA;
            head.code = 719;
            memcpy(head.text, "it broke", 9);
        }
        if (i == script.leaving) {
            head.status = NVBW_E_INVALID;
            memcpy(head.step, "end of task", 12);
            memcpy(head.text, "C13: it broke", 14);
        }
        if (i == script.astray) {
            head.number++;
        }
        memcpy(entry, &head, sizeof head);
    }
    return script.silent != 0 ? NVBW_E_SYSTEM : NVBW_OK;
}

static struct peers three(void)
{
    script = (struct script){ 0 };
    return (struct peers){ .ranks = RANKS,
        .allgather = allgather,
        .step_ns = 1500000000,
        .socket = -1 };
}

static void bytes_of_all_come_in_order(void **state)
{
    struct peers peers = three();
    const uint64_t mine = 42;
    uint64_t all[RANKS] = { 0 };
    struct error err = { 0 };
    (void)state;

    assert_int_equal(
        peers_gather(&peers, "test", &mine, all, sizeof mine, &err), NVBW_OK);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(all[i], 42);
    }
    assert_int_equal(script.calls, 2); /* how all are, then the bytes */
}

static void a_silent_rank_is_named_and_the_team_is_over(void **state)
{
    struct peers peers = three();
    struct error err = { 0 };
    (void)state;

    script.silent = 2;
    assert_int_equal(
        peers_check(&peers, "queued", NVBW_OK, &err), PEERS_E_LOST);
    assert_non_null(strstr(err.text, "rank 2 did not answer within 1.5 s"));
    assert_non_null(strstr(err.text, "step \"queued\""));

    const uint32_t calls = script.calls;

    script.silent = 0;
    assert_int_equal(peers_agree(&peers, "later", NVBW_OK, &err), PEERS_E_LOST);
    assert_int_equal(script.calls, calls); /* nobody is asked any more */
    assert_non_null(strstr(err.text, "rank 2"));
}

static void one_failure_is_that_of_all(void **state)
{
    struct peers peers = three();
    struct error err = { 0 };
    (void)state;

    script.failing = 1;
    assert_int_equal(peers_check(&peers, "inner", NVBW_OK, &err), NVBW_E_CUDA);
    assert_string_equal(err.text, "rank 1, in step \"inner\": it broke");
    assert_int_equal(err.code, 719);

    /* Told once: the end of the operation gathers no more. */
    const uint32_t calls = script.calls;

    assert_int_equal(
        peers_agree(&peers, "outer", NVBW_E_CUDA, &err), NVBW_E_CUDA);
    assert_int_equal(script.calls, calls);

    /* And then all stand together again. */
    script.failing = 0;
    assert_int_equal(peers_agree(&peers, "next", NVBW_OK, &err), NVBW_OK);
}

static void an_own_failure_is_told(void **state)
{
    struct peers peers = three();
    struct error err = {
        .status = NVBW_E_SKIPPED, .code = NVBW_SKIP_MEMORY, .text = "no memory"
    };
    (void)state;

    assert_int_equal(
        peers_agree(&peers, "test", NVBW_E_SKIPPED, &err), NVBW_E_SKIPPED);
    assert_int_equal(script.calls, 1);
    assert_int_equal(err.code, NVBW_SKIP_MEMORY);
    assert_string_equal(err.text, "rank 0, in step \"test\": no memory");
}

static void a_rank_astray_ends_the_team(void **state)
{
    struct peers peers = three();
    struct error err = { 0 };
    (void)state;

    script.astray = 2;
    assert_int_equal(peers_agree(&peers, "test", NVBW_OK, &err), PEERS_E_LOST);
    assert_non_null(strstr(err.text, "rank 2 is in step 2"));
}

static void a_task_reaches_all(void **state)
{
    struct peers peers = three();
    struct arena arena;
    struct error err = { 0 };
    const char *const task = "what is to be done";
    const void *data = task;
    size_t length = strlen(task) + 1;
    (void)state;

    arena_init(&arena, 1 << 20);
    assert_int_equal(
        peers_spread(&peers, "task", &arena, &data, &length, &err), NVBW_OK);
    assert_int_equal(length, strlen(task) + 1);
    assert_string_equal(data, task);
    arena_clear(&arena);
}

/* The others hear why, and wait for it in no step of the task any more. */
static void who_leaves_says_why(void **state)
{
    struct peers peers = three();
    struct error err = { 0 };
    (void)state;

    script.leaving = 2;
    assert_int_equal(peers_check(&peers, "times", NVBW_OK, &err), PEERS_E_LOST);
    assert_string_equal(err.text,
        "rank 2 left when this rank came to step \"times\": C13: it broke");
    assert_int_equal(peers.lost.status, PEERS_E_LOST);

    peers = three();
    script.leaving = 2;
    assert_int_equal(peers_leave(&peers, NULL, &err), NVBW_E_INVALID);
    assert_string_equal(
        err.text, "rank 2, in step \"end of task\": C13: it broke");
}

static void where_samples_last_there_is_more_patience(void **state)
{
    struct peers peers = three();
    char byte = 0;
    char all[RANKS];
    (void)state;

    peers_gather(&peers, "times", &byte, all, 1, NULL);

    const int64_t before_ns = script.deadline_ns;

    peers.sample_ns = peers.step_ns * 1000;
    peers_gather_long(&peers, "times", &byte, all, 1, NULL);
    assert_true(script.deadline_ns - before_ns > (int64_t)peers.step_ns * 998);
}

/* Rank 0 may be gone without a word. */
static void who_follows_does_not_wait_for_ever(void **state)
{
    struct peers peers = three();
    struct arena arena;
    struct error err = { 0 };
    const void *data = NULL;
    size_t length = 0;
    (void)state;

    arena_init(&arena, 1 << 20);
    peers.rank = 1;
    script.silent = 2;
    assert_int_equal(peers_spread(&peers, "task", &arena, &data, &length, &err),
        PEERS_E_LOST);
    assert_true(script.deadline_ns < INT64_MAX);
    assert_non_null(strstr(err.text, "within 60 s in step \"task\""));
    arena_clear(&arena);
}

static void rank_0_says_that_it_is_there(void **state)
{
    struct peers peers = three();
    struct arena arena;
    struct error err = { 0 };
    const void *data = NULL;
    size_t length = 0;
    (void)state;

    arena_init(&arena, 1 << 20);
    peers.rank = 1;
    script.beats = 2;
    assert_int_equal(
        peers_spread(&peers, "task", &arena, &data, &length, &err), NVBW_OK);
    assert_int_equal(length, 0);
    assert_int_equal(script.beats, 0);
    assert_int_equal(script.calls, 6);

    peers = three();
    assert_int_equal(peers_stay(&peers, "task", &err), NVBW_OK);
    assert_int_equal(script.calls, 2);
    arena_clear(&arena);
}

static void ranks_of_another_kind_are_listed(void **state)
{
    const struct peers_kind own = { .build = "1.0", .plugins = 7 };
    struct peers peers = three();
    struct arena arena;
    struct error err = { 0 };
    (void)state;

    arena_init(&arena, 1 << 20);
    assert_int_equal(peers_compare_kinds(&peers, &own, &arena, &err), NVBW_OK);
    script.other = 1;
    assert_int_equal(
        peers_compare_kinds(&peers, &own, &arena, &err), NVBW_E_SYSTEM);
    assert_non_null(
        strstr(err.text, "ranks 1 run nvbw-host 0.9, rank 0 runs 1.0"));
    script.other = 2;
    assert_int_equal(
        peers_compare_kinds(&peers, &own, &arena, &err), NVBW_E_SYSTEM);
    assert_non_null(strstr(err.text, "ranks 1 have other files"));
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_all_come_in_order),
        cmocka_unit_test(a_silent_rank_is_named_and_the_team_is_over),
        cmocka_unit_test(one_failure_is_that_of_all),
        cmocka_unit_test(an_own_failure_is_told),
        cmocka_unit_test(a_rank_astray_ends_the_team),
        cmocka_unit_test(a_task_reaches_all),
        cmocka_unit_test(who_leaves_says_why),
        cmocka_unit_test(where_samples_last_there_is_more_patience),
        cmocka_unit_test(who_follows_does_not_wait_for_ever),
        cmocka_unit_test(rank_0_says_that_it_is_there),
        cmocka_unit_test(ranks_of_another_kind_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
