/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Peers: the ranks of an MPI job that measure together.
 *
 * All ranks do the same things in the same order on the same facts, each its
 * own part: rank 0's host sends a task, rank 0's worker passes it on, and then
 * every worker calls the plugin's run(), takes the same decisions from the same
 * figures and comes to the same records, of which rank 0's are kept. What they
 * have to agree on goes through one function, a gathering: everybody gives a
 * few bytes and gets everybody's. Each has a name and a deadline.
 *
 * A rank that fails says so at its next gathering, whichever the others are
 * in: all of them then give up what they are doing, with the same error, and
 * stand together again. So a failure is told exactly once; `agreed` says that
 * it was. A rank that does not answer, or is somewhere else, is lost, and with
 * it the team: from then on every gathering fails at once.
 *
 * A rank's number is the position of its GPU in the facts. (peers.c: gathering;
 * peers_facts.c: the facts of all; peers_share.c: which handles work;
 * peers_memory.c, peers_multicast.c: memory; session_team.c: what a session on
 * GPUs does at them) */
#ifndef NVBW_PEERS_H
#define NVBW_PEERS_H

#include "facts.h"
#include "status.h"
#include "wire.h"

/* A status beside those of the contract: a rank was lost. It never leaves the
 * runtime. */
enum { PEERS_E_LOST = -65 };

/* How memory gets from one rank to another. */
enum peers_handle {
    PEERS_NO_HANDLE = 0,
    PEERS_DESCRIPTOR, /* over a socket, within one host */
    PEERS_FABRIC      /* bytes, anywhere in an NVLink domain */
};

enum { PEERS_NODE_BYTES = 104 };

struct peers {
    uint32_t rank, ranks;
    struct nvbw_ctx *ctx; /* of the plugin that lent the collective */
    nvbw_allgather_fn *allgather;
    const struct facts *facts; /* of all, once they are there, else NULL */
    char (*nodes)[PEERS_NODE_BYTES]; /* by rank: the same for one host */
    uint64_t step_ns;                /* patience with the others */
    uint64_t sample_ns; /* the same where they may still be measuring, or
                           comparing, what this rank has no part in */
    uint64_t steps;     /* so far */
    uint32_t formed;    /* 1: the others follow rank 0 */
    uint32_t agreed;    /* 1: all ranks know the last failure */
    struct error lost;  /* status < 0: no team any more */
    enum peers_handle handle;
    int socket;  /* for descriptors, or -1 */
    int *others; /* by rank: sockets that send to theirs, or -1 */
};

/* One gathering: `bytes` of everybody, in order of ranks, into out, which has
 * room for them; bytes may be 0. step: a word or two. Negative where a rank is
 * lost or said that it failed; err then names it. */
int32_t peers_gather(struct peers *peers, const char *step, const void *mine,
    void *out, size_t bytes, struct error *err);

/* Within an operation: status is how it went here so far. Returns the status of
 * all. */
int32_t peers_check(
    struct peers *peers, const char *step, int32_t status, struct error *err);
/* The same at the end of an operation that every rank is in: after it all stand
 * together, whatever happened. */
int32_t peers_agree(
    struct peers *peers, const char *step, int32_t status, struct error *err);

/* peers_gather with the patience for samples. */
int32_t peers_gather_long(struct peers *peers, const char *step,
    const void *mine, void *out, size_t bytes, struct error *err);

/* The end of a task, in which all ranks did the same. what: why this rank
 * leaves it before, or NULL. Who is still in it hears that reason, and then has
 * no team any more. Negative: another rank left, or is lost. */
int32_t peers_leave(
    struct peers *peers, const struct error *what, struct error *err);

/* From rank 0 to all others: *length bytes at *data, which for the others are
 * allocated in arena. These wait as long as rank 0 says now and then that it is
 * still there: peers_stay, at least every PEERS_BEAT_S seconds. */
enum { PEERS_BEAT_S = 5, PEERS_PATIENCE_S = 60 };
int32_t peers_stay(struct peers *peers, const char *step, struct error *err);
int32_t peers_spread(struct peers *peers, const char *step, struct arena *arena,
    const void **data, size_t *length, struct error *err);

/* 1 if both ranks are on one host. */
int peers_are_near(const struct peers *peers, uint32_t one, uint32_t other);
/* 1 if NVLink can carry memory between two GPUs of whichever hosts. */
int peers_are_linked(
    const struct gpu_facts *one, const struct gpu_facts *other);

/* What a rank runs. Ranks of different kinds do different things at different
 * times, so all have to be alike. */
struct peers_kind {
    char build[112];  /* of nvbw-host */
    uint64_t plugins; /* a hash of the files of MPI plugins */
    uint64_t unused;
};
/* Collective: NVBW_E_SYSTEM with the ranks that differ from rank 0. */
int32_t peers_compare_kinds(struct peers *peers, const struct peers_kind *own,
    struct arena *arena, struct error *err);

/* The facts of all ranks from those of this host; gpus: the positions in these
 * that may be used: ranks of a host that may use the same ones take them in
 * turn. Fills peers->nodes. */
int32_t peers_make_facts(struct peers *peers, const struct facts *own,
    const uint32_t *gpus, uint32_t gpus_count, struct arena *arena,
    struct facts *out, struct error *err);

/* "4-7, 9": the ranks for which it does not hold, or NULL. */
typedef int peers_holds_fn(const void *about, uint32_t rank);
const char *peers_list_others(uint32_t ranks, peers_holds_fn *holds,
    const void *about, struct arena *arena);

/* ---- Memory (peers_share.c, peers_memory.c) ---- */

struct engine;

/* Tries what handles work between the ranks, and makes ready to exchange them.
 * Where none do, *out has reason and message. facts: peers->facts, in which it
 * notes what it found of GPUs that their ranks were not shown. Collective. */
int32_t peers_open_sharing(struct peers *peers, struct engine *engine,
    struct facts *facts, struct arena *arena, struct team_frame *out,
    struct error *err);

/* Memory of one rank's GPU, mapped by all of them. */
struct shared_memory {
    uint64_t address, bytes;
    unsigned long long handle; /* the driver's */
    int descriptor;            /* being passed on, or -1 */
};
/* Collective. owner: the rank whose GPU it is on. */
int32_t peers_map(struct peers *peers, struct engine *engine, uint32_t owner,
    uint64_t bytes, struct shared_memory *out, struct error *err);
void peers_unmap(struct engine *engine, struct shared_memory *memory);

/* Memory of every rank's GPU behind one multicast object. (peers_multicast.c)
 */
struct team_memory {
    struct shared_memory object; /* what is stored at its address arrives in
                                    the memory of all */
    struct shared_memory own;    /* of this rank's GPU: what arrived */
    uint32_t bound;              /* 1: own, to the object */
};
/* Collective. NVBW_E_SKIPPED where a rank may not, or has too little memory. */
int32_t peers_map_team(struct peers *peers, struct engine *engine,
    uint64_t bytes, struct team_memory *out, struct error *err);
void peers_unmap_team(struct engine *engine, struct team_memory *memory);

#endif
