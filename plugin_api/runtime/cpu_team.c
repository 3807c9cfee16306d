/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cpu_team.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SPINS = 2000 };

struct member {
    struct cpu_team *team;
    pthread_t thread;
    struct cpu_mask mask;
    uint32_t number;
};

struct cpu_team {
    uint32_t count, started;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    uint64_t round;           /* under lock: raised for every job */
    uint32_t busy;            /* under lock: members not done with it */
    uint32_t ending;          /* under lock */
    cpu_job_fn *job;          /* written before the round is raised */
    void *user;               /* likewise */
    _Atomic uint32_t arrived; /* of this job */
    struct member members[];
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void cpu_wait_for(const _Atomic uint32_t *counter, uint32_t value)
{
    uint32_t spins = 0;

    while (atomic_load_explicit(counter, memory_order_acquire) < value) {
        relax();
        if (++spins == SPINS) {
            sched_yield();
            spins = 0;
        }
    }
}

/* Returns 0 when the team ends. */
static int wait_for_round(struct cpu_team *team, uint64_t seen)
{
    pthread_mutex_lock(&team->lock);
    while (team->round == seen && !team->ending) {
        pthread_cond_wait(&team->wake, &team->lock);
    }
    const int go_on = !team->ending;

    pthread_mutex_unlock(&team->lock);
    return go_on;
}

static void report_done(struct cpu_team *team)
{
    pthread_mutex_lock(&team->lock);
    if (--team->busy == 0) {
        pthread_cond_signal(&team->idle);
    }
    pthread_mutex_unlock(&team->lock);
}

/* Waking takes a different time for each thread, so the members wait for each
 * other once more before they begin. */
static void *live(void *argument)
{
    struct member *const member = argument;
    struct cpu_team *const team = member->team;

    affinity_set(&member->mask);
    for (uint64_t seen = 0; wait_for_round(team, seen); seen++) {
        atomic_fetch_add(&team->arrived, 1);
        cpu_wait_for(&team->arrived, team->count);
        team->job(team->user, member->number);
        report_done(team);
    }
    return NULL;
}

static int32_t start(
    struct cpu_team *team, const struct cpu_mask *masks, struct error *err)
{
    for (uint32_t i = 0; i < team->count; i++) {
        struct member *const member = &team->members[i];

        member->team = team;
        member->mask = masks[i];
        member->number = i;
        const int code = pthread_create(&member->thread, NULL, live, member);

        errno = code;
        if (code != 0) {
            return error_system(err,
                "thread %u of %u cannot be started: use a smaller `threads`",
                i + 1, team->count);
        }
        team->started++;
    }
    return NVBW_OK;
}

int32_t cpu_team_open(const struct cpu_mask *masks, uint32_t count,
    struct cpu_team **out, struct error *err)
{
    FAIL_IF(count == 0 || count > AFFINITY_CPUS, err, NVBW_E_INVALID,
        "a team of %u threads, 1 to %d are possible", count, AFFINITY_CPUS);
    struct cpu_team *const team =
        calloc(1, sizeof *team + count * sizeof team->members[0]);

    FAIL_IF(team == NULL, err, NVBW_E_SYSTEM, "no memory for a team");
    team->count = count;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->idle, NULL);
    const int32_t status = start(team, masks, err);

    if (status < 0) {
        cpu_team_close(team);
        return status;
    }
    *out = team;
    return NVBW_OK;
}

void cpu_team_close(struct cpu_team *team)
{
    if (team == NULL) {
        return;
    }
    pthread_mutex_lock(&team->lock);
    team->ending = 1;
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < team->started; i++) {
        pthread_join(team->members[i].thread, NULL);
    }
    pthread_cond_destroy(&team->idle);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

void cpu_team_run(struct cpu_team *team, cpu_job_fn *job, void *user)
{
    pthread_mutex_lock(&team->lock);
    team->job = job;
    team->user = user;
    atomic_store(&team->arrived, 0);
    team->busy = team->count;
    team->round++;
    pthread_cond_broadcast(&team->wake);
    while (team->busy > 0) {
        pthread_cond_wait(&team->idle, &team->lock);
    }
    pthread_mutex_unlock(&team->lock);
}
