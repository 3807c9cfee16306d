/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_team.h"

#include "nvbw/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MEMBERS = 5 };

struct tally {
    _Atomic uint32_t calls[MEMBERS];
    _Atomic uint32_t inside, together;
    struct cpu_mask seen[MEMBERS];
};

static void count(void *user, uint32_t member)
{
    struct tally *const tally = user;

    atomic_fetch_add(&tally->calls[member], 1);
    affinity_current(&tally->seen[member]);
}

/* Nobody gets past before everybody is there, or this waits for ever and the
 * test's time limit tells. */
static void meet(void *user, uint32_t member)
{
    struct tally *const tally = user;

    (void)member;
    atomic_fetch_add(&tally->inside, 1);
    cpu_wait_for(&tally->inside, MEMBERS);
    atomic_fetch_add(&tally->together, 1);
}

static struct cpu_team *open_team(struct cpu_mask *masks, uint32_t members)
{
    struct cpu_team *team = NULL;
    struct cpu_mask all;

    affinity_current(&all);
    for (uint32_t i = 0; i < members; i++) {
        affinity_pick(&all, i, &masks[i]);
    }
    assert_int_equal(cpu_team_open(masks, members, &team, NULL), NVBW_OK);
    return team;
}

static void every_member_does_every_job_once(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= MEMBERS; members++) {
        struct cpu_mask masks[MEMBERS];
        struct cpu_team *const team = open_team(masks, members);
        struct tally tally = { 0 };

        for (uint32_t job = 0; job < 50; job++) {
            cpu_team_run(team, count, &tally);
            for (uint32_t i = 0; i < MEMBERS; i++) {
                assert_int_equal(tally.calls[i], i < members ? job + 1 : 0);
            }
        }
        cpu_team_close(team);
    }
}

static void members_are_on_their_cpus(void **state)
{
    struct cpu_mask masks[MEMBERS];
    struct cpu_team *const team = open_team(masks, MEMBERS);
    struct tally tally = { 0 };

    (void)state;
    cpu_team_run(team, count, &tally);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (affinity_count(&masks[i]) != 0) {
            assert_memory_equal(&tally.seen[i], &masks[i], sizeof masks[i]);
        }
    }
    cpu_team_close(team);
}

static void members_work_at_the_same_time(void **state)
{
    struct cpu_mask masks[MEMBERS];
    struct cpu_team *const team = open_team(masks, MEMBERS);
    struct tally tally = { 0 };

    (void)state;
    cpu_team_run(team, meet, &tally);
    assert_int_equal(tally.together, MEMBERS);
    cpu_team_close(team);
}

static void a_team_needs_members(void **state)
{
    struct cpu_team *team = NULL;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(cpu_team_open(NULL, 0, &team, &err), NVBW_E_INVALID);
    assert_null(team);
    cpu_team_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_does_every_job_once),
        cmocka_unit_test(members_are_on_their_cpus),
        cmocka_unit_test(members_work_at_the_same_time),
        cmocka_unit_test(a_team_needs_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
