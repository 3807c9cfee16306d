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
    char text[16];
};

/* What the others do at the next gathering. */
static struct script {
    uint32_t silent;  /* this rank says nothing, 0: none */
    uint32_t failing; /* this rank failed, 0: none */
    uint32_t astray;  /* this rank is at another step, 0: none */
    uint32_t calls;
} script;

static int32_t allgather(struct nvbw_ctx *ctx, const void *in, void *out,
    uint64_t bytes, int64_t deadline_ns)
{
    (void)ctx;
    (void)deadline_ns;
    script.calls++;
    for (uint32_t i = 0; i < RANKS; i++) {
        unsigned char *const entry = (unsigned char *)out + i * bytes;
        struct head head;

        if (i != 0 && i == script.silent) {
            continue;
        }
        memcpy(entry, in, bytes);
        if (bytes < sizeof head || i == 0) {
            continue;
        }
        memcpy(&head, entry, sizeof head);
        if (i == script.failing) {
            head.status = NVBW_E_CUDA;
            head.code = 719;
            memcpy(head.text, "it broke", 9);
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
    assert_string_equal(err.text, "rank 1: it broke");
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
    assert_string_equal(err.text, "rank 0: no memory");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_all_come_in_order),
        cmocka_unit_test(a_silent_rank_is_named_and_the_team_is_over),
        cmocka_unit_test(one_failure_is_that_of_all),
        cmocka_unit_test(an_own_failure_is_told),
        cmocka_unit_test(a_rank_astray_ends_the_team),
        cmocka_unit_test(a_task_reaches_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
