/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One worker's life under a deadline, and a crew of workers in one loop.
 *
 * A worker is started, its frames are given to whoever asked for it, and it is
 * ended: by itself, or by SIGTERM, a grace, SIGKILL to its group, and a bounded
 * wait after which it is abandoned. Only the end of the process counts as its
 * end; that its pipe is at end of file says nothing. All on one thread. */
#ifndef NVBW_SUPERVISE_H
#define NVBW_SUPERVISE_H

#include "arena.h"
#include "inbox.h"
#include "reap.h"
#include "spawn.h"
#include "strbuf.h"
#include "worker_end.h"
#include "worker_log.h"

enum worker_stage {
    WORKER_NONE = 0, /* never started */
    WORKER_LIVE,
    WORKER_ASKED,     /* SIGTERM was sent */
    WORKER_KILLED,    /* SIGKILL was sent */
    WORKER_GONE,      /* reaped; end says how */
    WORKER_ABANDONED, /* cannot be killed; end.abandoned is set */
};

struct worker;

/* Takes one frame of a live worker; object lives until it returns. Negative:
 * the worker breaks the protocol and is killed; err says why. HELLO and BYE
 * are not passed on. */
typedef int32_t worker_frame_fn(struct worker *worker, uint32_t type,
    const void *object, size_t payload_bytes, struct error *err);

struct worker_start {
    const char *worker_file, *role;
    const char *const *environment, *const *wrap; /* as spawn_request */
    const char *keep;                             /* as spawn_request */
    const char *log_dir;                          /* or NULL */
    const char *build; /* HELLO must name it; lives as long as the worker */
    uint64_t grace_ns; /* from SIGTERM to SIGKILL */
    uint64_t reap_ns;  /* from SIGKILL to being abandoned; 0: the default */
    worker_frame_fn *on_frame;
    void *user;
};

struct worker {
    enum worker_stage stage;
    pid_t pid;            /* stays known after its end */
    uint64_t deadline_ns; /* UINT64_MAX: none; the owner sets it while live */
    uint64_t limit_ns;    /* how long that deadline was, for the sentence */
    uint64_t reap_ns;     /* from SIGKILL to being abandoned */
    struct worker_end end;
    void *user;
    const char *role;
    struct worker_log log;
    /* The rest is the supervisor's own. */
    struct spawned process;
    uint64_t grace_ns;
    const char *build;
    worker_frame_fn *on_frame;
    uint32_t said_hello;
    struct inbox inbox;
    struct strbuf outbox;
    size_t sent_bytes;
    struct arena frame_arena;
};

enum { CREW_LIMIT = 64 };

struct crew {
    struct worker *workers[CREW_LIMIT]; /* started and not yet gone */
    uint32_t count;
    struct pid_list kept; /* children that no sweep may kill: these workers,
                             the abandoned ones, and what was there before */
    int signal_fd;        /* or -1 */
    uint32_t signals;     /* that came so far */
};

/* Makes the process a child subreaper. Other children that it has by now are
 * left alone for ever. */
void crew_open(struct crew *crew, int signal_fd);
/* Kills and reaps all that is left, within a bound of time. */
void crew_close(struct crew *crew);

/* *worker must stay where it is until its stage is GONE or ABANDONED. */
int32_t crew_start(struct crew *crew, struct worker *worker,
    const struct worker_start *start, struct error *err);

/* Waits for something to happen, at most until until_ns, and does what is to
 * be done: frames, logs, deaths, deadlines, signals. */
int32_t crew_step(struct crew *crew, uint64_t until_ns, struct error *err);

/* Queues a frame. What the worker never reads is dropped at its end. */
int32_t worker_send(struct worker *worker, uint32_t type, const void *object,
    struct error *err);

/* Sets the deadline to now + limit_ns; UINT64_MAX: none. */
void worker_allow(struct worker *worker, uint64_t limit_ns);

/* Tells a worker to end: SIGTERM, and SIGKILL after grace_ns; 0: at once. From
 * here on its frames count no more. Of a worker that is ending already it
 * only shortens what is left of its deadlines. */
void worker_stop(struct worker *worker, uint64_t grace_ns);

/* 1 while the process may still do something. */
int worker_is_up(const struct worker *worker);

#endif
