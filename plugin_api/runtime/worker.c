/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* nvbw-worker: everything that touches a plugin, CUDA or NVML runs in this
 * program. The host starts it with frames on descriptors 3 and 4; stdout and
 * stderr are its log. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "peers.h"
#include "version.h"
#include "worker_confine.h"
#include "worker_roles.h"
#include "worker_team.h"

enum {
    EXIT_USAGE = 2,
    BEAT_MS = PEERS_BEAT_S * 1000,
    KEPT_ARENA_BYTES = 256 << 20,
    TASK_ARENA_BYTES = 1 << 30
};

/* The signal follows the thread that forked and is set only after exec, so the
 * parent may be gone already. Under a wrapper NVBW_PARENT is not set. */
static int has_parent(void)
{
    const char *const parent = secure_getenv("NVBW_PARENT");

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return parent == NULL || strtol(parent, NULL, 10) == (long)getppid();
}

static int keep_from_children(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static void say_hello(const struct worker *worker)
{
    const struct hello_frame hello = { .build = NVBW_BUILD,
        .pid = (int32_t)getpid(),
        .now_ns = clock_machine_ns() };

    wire_send(worker->out_fd, FRAME_HELLO, &hello, NULL);
}

static void say_bye(
    const struct worker *worker, const char *why, const char *message)
{
    const struct bye_frame bye = { why, message };

    wire_send(worker->out_fd, FRAME_BYE, &bye, NULL);
}

/* Facts stay as they are once an engine was opened on them. */
static int32_t keep_facts(
    struct worker *worker, const struct facts *facts, struct error *err)
{
    if (worker->engine != NULL) {
        return NVBW_OK;
    }
    worker->facts = arena_alloc(&worker->arena, 1, sizeof *worker->facts);
    FAIL_IF(
        worker->facts == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    return fields_copy(
        &facts_fields, facts, &worker->arena, worker->facts, err);
}

static int32_t take_frame(struct worker *worker, uint32_t type, void *object,
    struct arena *arena, struct task_end *out_end, struct error *err)
{
    switch (type) {
    case FRAME_FACTS:
        return keep_facts(worker, object, err);
    case FRAME_TASK:
        worker_do_task(worker, object, arena, out_end);
        return NVBW_OK;
    case FRAME_READ:
        return worker_read(worker, object, arena, err);
    case FRAME_READ_DONE:
        return NVBW_OK; /* too late for the measurement that asked */
    case FRAME_QUIT:
        out_end->bye = "finished";
        return NVBW_OK;
    default:
        return error_set(err, NVBW_E_INVALID,
            "the host sent a frame of type %u, which no host sends", type);
    }
}

/* 1 when a frame is there, or the host is gone. Rank 0 of a team tells the
 * others meanwhile that it is still there. */
static int await_frame(struct worker *worker, struct task_end *end)
{
    struct pollfd wait = { .fd = WIRE_IN_FD, .events = POLLIN };
    struct error err = { 0 };

    while (worker_leads_team(worker) && poll(&wait, 1, BEAT_MS) == 0) {
        if (worker_team_stay(worker, &err) < 0) {
            end->bye = "team";
            snprintf(end->message, sizeof end->message, "%.*s",
                (int)sizeof end->message - 1, err.text);
            return 0;
        }
    }
    return 1;
}

/* Frames until there is a reason to end. */
static void serve(struct worker *worker, struct task_end *end)
{
    struct arena arena;
    struct error err = { 0 };

    arena_init(&arena, TASK_ARENA_BYTES);
    while (end->bye == NULL && await_frame(worker, end)) {
        uint32_t type = 0;
        void *object = NULL;
        int32_t status = wire_receive(WIRE_IN_FD, &arena, &type, &object, &err);

        if (status > 0) {
            status = take_frame(worker, type, object, &arena, end, &err);
        } else {
            end->bye = "finished";
        }
        if (status < 0) {
            end->bye = "finished";
            snprintf(end->message, sizeof end->message, "%.*s",
                (int)sizeof end->message - 1, err.text);
        }
        arena_clear(&arena);
    }
}

int main(int argc, char **argv)
{
    static struct worker worker;
    static struct task_end end;
    struct error err = { 0 };

    if (!has_parent()) {
        _exit(EXIT_SUCCESS);
    }
    worker_confine(argc > 1 ? argv[1] : NULL);
    if (!keep_from_children(WIRE_IN_FD) || !keep_from_children(WIRE_OUT_FD)) {
        fputs("nvbw-worker is started by nvbw-host, not by hand\n", stderr);
        return EXIT_USAGE;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    worker.out_fd = WIRE_OUT_FD;
    arena_init(&worker.arena, KEPT_ARENA_BYTES);
    if (cancel_install(&err) < 0 ||
        log_buffer_open(LOG_UNIT_LIMIT_BYTES, &worker.log, &err) < 0) {
        fprintf(stderr, "nvbw-worker: %s\n", err.text);
        _exit(EXIT_FAILURE);
    }
    say_hello(&worker);
    serve(&worker, &end);
    /* A plugin that broke the contract and a GPU that is gone are best left
     * alone. */
    if (strcmp(end.bye, "finished") == 0) {
        worker_end_plugins(&worker);
    }
    say_bye(&worker, end.bye, end.message[0] == '\0' ? NULL : end.message);
    fflush(NULL);
    _exit(EXIT_SUCCESS);
}
