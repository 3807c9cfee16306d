/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Team: this host's place in an MPI job.
 *
 * Every rank is a host process with one run worker, which is the MPI process:
 * it is started before there is a schedule, because only it knows its rank, and
 * it is never started again. Rank 0's host then schedules, journals, judges and
 * reports as it does alone, on the facts of all ranks. The other hosts keep
 * their workers at rank 0's disposal and have nothing to say: they exit with 0,
 * and not before the job is over, since launchers end a whole job when one of
 * its processes ends badly or without having left MPI. */
#ifndef NVBW_TEAM_H
#define NVBW_TEAM_H

#include "conduct.h"
#include "supervise.h"

struct team {
    struct crew crew;
    struct worker worker;
    uint32_t rank, ranks; /* ranks 0: MPI did not start */
    const char *handle;   /* how memory is shared, or NULL */
    const char *reason;   /* of the skip, where it cannot be shared */
    const char *message;  /* likewise */
    struct facts facts;   /* of all ranks */
    /* The rest is team.c's own. */
    struct arena *arena;
    uint32_t has_facts, done, told;
    int32_t status;
    struct cause cause;
    struct error fatal;
};

struct team_request {
    const struct worker_setup *setup;
    const char *plugin_file; /* of the MPI plugin that starts MPI */
    const char **plugins;    /* the files of all that the run has */
    uint32_t plugins_count;
    const struct facts *facts; /* of this host */
    uint32_t *gpus;            /* positions that its ranks may use */
    uint32_t gpus_count;
    struct arena *arena; /* for the facts of all */
};

/* Starts MPI and waits for all ranks. Negative where there is no team:
 * NVBW_E_INVALID where it was started wrongly, else NVBW_E_SYSTEM with state
 * and reason of what cannot run then in out->cause. out->rank is then known if
 * MPI started at all (out->ranks > 0), and out->told is 1 where the other ranks
 * know of it. *out must stay where it is. */
int32_t team_join(
    const struct team_request *request, struct team *out, struct error *err);

/* Of the ranks but 0: until rank 0 is done, or a signal comes. signal_fd as in
 * conduct_request. tell: gets a sentence where this rank's own worker ended in
 * a way that rank 0 can only guess. */
int32_t team_follow(struct team *team, int signal_fd,
    void (*tell)(const struct error *why), struct error *err);

/* Ends what was joined without measuring. */
void team_leave(struct team *team);

/* Hands crew and worker over to a conductor. */
void team_hand_over(
    struct team *team, struct crew *crew, struct worker *worker);

#endif
