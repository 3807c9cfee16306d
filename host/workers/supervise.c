/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "host_clock.h"
#include "text_clean.h"
#include "wire.h"

enum {
    FDS_PER_WORKER = 4,
    READS_PER_STEP = 64, /* so that a flood does not starve the others */
    BLIND_WAIT_MS = 20,  /* between looks where there is no pidfd */
    LONGEST_WAIT_MS = 60000
};
static const uint64_t REAP_DEFAULT_NS = 15000000000u;
/* What one decoded frame may take: several times the largest payload. */
static const size_t FRAME_ARENA_BYTES = (size_t)4 * WIRE_FRAME_LIMIT;

int worker_is_up(const struct worker *worker)
{
    return worker->stage == WORKER_LIVE || worker->stage == WORKER_ASKED ||
           worker->stage == WORKER_KILLED;
}

void worker_allow(struct worker *worker, uint64_t limit_ns)
{
    worker->limit_ns = limit_ns;
    worker->deadline_ns = host_clock_after(host_clock_ns(), limit_ns);
}

/* ---- ending ---- */

static void kill_group(struct worker *worker)
{
    kill(-worker->process.pid, SIGKILL);
    kill(worker->process.pid, SIGKILL);
    worker->stage = WORKER_KILLED;
    worker->deadline_ns = host_clock_after(host_clock_ns(), worker->reap_ns);
}

static void ask_group(struct worker *worker, uint64_t grace_ns)
{
    if (grace_ns == 0) {
        kill_group(worker);
        return;
    }
    kill(-worker->process.pid, SIGTERM);
    worker->stage = WORKER_ASKED;
    worker->deadline_ns = host_clock_after(host_clock_ns(), grace_ns);
}

static void shorten(struct worker *worker, uint64_t limit_ns)
{
    const uint64_t end_ns = host_clock_after(host_clock_ns(), limit_ns);

    if (end_ns < worker->deadline_ns) {
        worker->deadline_ns = end_ns;
    }
}

void worker_stop(struct worker *worker, uint64_t grace_ns)
{
    switch (worker->stage) {
    case WORKER_LIVE:
        worker->end.stopped = 1;
        ask_group(worker, grace_ns);
        return;
    case WORKER_ASKED:
        shorten(worker, grace_ns);
        return;
    case WORKER_KILLED:
        shorten(worker, worker->reap_ns);
        return;
    default:
        return;
    }
}

static void find_fault(
    struct worker *worker, enum worker_fault fault, const char *text)
{
    if (worker->end.fault == FAULT_NONE) {
        worker->end.fault = fault;
        snprintf(
            worker->end.fault_text, sizeof worker->end.fault_text, "%s", text);
    }
    kill_group(worker);
}

static void release(struct worker *worker)
{
    spawned_close(&worker->process);
    worker_log_close(&worker->log);
    inbox_free(&worker->inbox);
    strbuf_free(&worker->outbox);
    arena_clear(&worker->frame_arena);
    worker->deadline_ns = UINT64_MAX;
}

static void leave_crew(struct crew *crew, struct worker *worker)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        if (crew->workers[i] == worker) {
            crew->workers[i] = crew->workers[--crew->count];
            return;
        }
    }
}

static void abandon(struct crew *crew, struct worker *worker)
{
    worker->stage = WORKER_ABANDONED;
    worker->end.abandoned = 1;
    leave_crew(crew, worker);
    release(worker);
}

static void judge_deadline(struct crew *crew, struct worker *worker)
{
    if (host_clock_ns() < worker->deadline_ns) {
        return;
    }
    switch (worker->stage) {
    case WORKER_LIVE:
        if (worker->end.has_bye) {
            kill_group(worker);
            return;
        }
        worker->end.expired = 1;
        worker->end.limit_ns = worker->limit_ns;
        ask_group(worker, worker->grace_ns);
        return;
    case WORKER_ASKED:
        kill_group(worker);
        return;
    default:
        abandon(crew, worker);
        return;
    }
}

/* ---- frames ---- */

static int32_t take_hello(
    struct worker *worker, const struct hello_frame *hello)
{
    char text[sizeof worker->end.fault_text];

    worker->said_hello = 1;
    if (hello->build != NULL && strcmp(hello->build, worker->build) == 0) {
        return NVBW_OK;
    }
    snprintf(text, sizeof text,
        "it is of build \"%s\" and nvbw-host of build \"%s\"; install both "
        "from one build",
        hello->build != NULL ? hello->build : "", worker->build);
    find_fault(worker, FAULT_BUILD, text);
    return NVBW_OK;
}

static int32_t take_bye(struct worker *worker, const struct bye_frame *bye)
{
    struct worker_end *const end = &worker->end;

    end->has_bye = 1;
    snprintf(end->bye_why, sizeof end->bye_why, "%s",
        bye->why != NULL ? bye->why : "");
    snprintf(end->bye_text, sizeof end->bye_text, "%s",
        bye->message != NULL ? bye->message : "");
    if (worker->stage == WORKER_LIVE) {
        worker_allow(worker, worker->grace_ns);
    }
    return NVBW_OK;
}

static int32_t take_frame(
    struct worker *worker, const struct frame *frame, struct error *err)
{
    const struct fields *const fields = wire_fields(frame->type);

    arena_clear(&worker->frame_arena);

    void *const object = arena_alloc(&worker->frame_arena, 1, fields->size);

    FAIL_IF(object == NULL, err, NVBW_E_SYSTEM, "no memory for a frame");
    TRY(fields_decode(fields, frame->payload, frame->payload_bytes,
        &worker->frame_arena, object, err));
    /* Only the help of plugins has lines. */
    text_clean_object(fields, object, frame->type == FRAME_PLUGIN);
    FAIL_IF((frame->type == FRAME_HELLO) == (worker->said_hello != 0), err,
        NVBW_E_INVALID, "HELLO must be the first frame and no other");
    if (frame->type == FRAME_HELLO) {
        return take_hello(worker, object);
    }
    if (frame->type == FRAME_BYE) {
        return take_bye(worker, object);
    }
    if (worker->stage != WORKER_LIVE) {
        return NVBW_OK;
    }
    FAIL_IF(worker->end.has_bye, err, NVBW_E_INVALID, "a frame came after BYE");
    return worker->on_frame(
        worker, frame->type, object, frame->payload_bytes, err);
}

static void take_frames(struct worker *worker)
{
    struct frame frame;
    struct error err;

    while (worker->stage == WORKER_LIVE || worker->stage == WORKER_ASKED) {
        int32_t status = inbox_next(&worker->inbox, &frame, &err);

        if (status == 0) {
            return;
        }
        if (status > 0) {
            status = take_frame(worker, &frame, &err);
        }
        if (status < 0) {
            find_fault(worker, FAULT_PROTOCOL, err.text);
        }
    }
}

static void close_end(int *fd)
{
    close(*fd);
    *fd = -1;
}

static void drain_frames(struct worker *worker)
{
    for (int i = 0; i < READS_PER_STEP && worker->process.from_fd >= 0; i++) {
        const long got = inbox_read(&worker->inbox, worker->process.from_fd);

        if (got < 0) {
            close_end(&worker->process.from_fd);
        }
        if (got <= 0) {
            break;
        }
        take_frames(worker);
    }
}

static void drain_log(struct worker *worker)
{
    char bytes[16384];

    for (int i = 0; i < READS_PER_STEP && worker->process.log_fd >= 0; i++) {
        const ssize_t got = read(worker->process.log_fd, bytes, sizeof bytes);

        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            close_end(&worker->process.log_fd);
        }
        if (got <= 0) {
            return;
        }
        worker_log_add(&worker->log, bytes, (size_t)got);
    }
}

/* The worker may be gone: SIGPIPE must not end the host, whose disposition is
 * not ours to change. */
static ssize_t write_quietly(int fd, const char *bytes, size_t length)
{
    const struct timespec none = { 0 };
    sigset_t pipe_set;
    sigset_t before;

    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_set, &before);

    const ssize_t written = write(fd, bytes, length);
    const int code = errno;

    if (written < 0 && code == EPIPE) {
        sigtimedwait(&pipe_set, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}

static void flush_outbox(struct worker *worker)
{
    struct strbuf *const outbox = &worker->outbox;

    while (worker->process.to_fd >= 0 && worker->sent_bytes < outbox->length) {
        const ssize_t written = write_quietly(worker->process.to_fd,
            outbox->text + worker->sent_bytes,
            outbox->length - worker->sent_bytes);

        if (written < 0 && errno != EAGAIN && errno != EINTR) {
            close_end(&worker->process.to_fd);
        }
        if (written <= 0) {
            return;
        }
        worker->sent_bytes += (size_t)written;
    }
    strbuf_reset(outbox);
    worker->sent_bytes = 0;
}

int32_t worker_send(
    struct worker *worker, uint32_t type, const void *object, struct error *err)
{
    TRY(wire_encode(type, object, &worker->outbox, err));
    flush_outbox(worker);
    return NVBW_OK;
}

/* ---- death ---- */

/* The zombie keeps its number while its group is killed; only then is it taken
 * away, and only then can what escaped from it be told from it. */
static int bury(struct crew *crew, struct worker *worker)
{
    struct death death;

    if (!reap_peek(worker->process.pid, &death)) {
        return 0;
    }
    kill(-worker->process.pid, SIGKILL);
    drain_frames(worker);
    drain_log(worker);
    worker->end.exit_code = death.exit_code;
    worker->end.signal_number = death.signal_number;
    worker->stage = WORKER_GONE;
    reap_take(worker->process.pid);
    pid_list_remove(&crew->kept, worker->process.pid);
    leave_crew(crew, worker);
    release(worker);
    reap_sweep(&crew->kept);
    return 1;
}

static void tend(struct crew *crew, struct worker *worker)
{
    flush_outbox(worker);
    drain_frames(worker);
    drain_log(worker);
    if (!bury(crew, worker)) {
        judge_deadline(crew, worker);
    }
}

/* ---- the loop ---- */

static void watch_fd(struct pollfd *fds, nfds_t *count, int fd, short events)
{
    if (fd >= 0) {
        fds[(*count)++] = (struct pollfd){ .fd = fd, .events = events };
    }
}

static nfds_t watch_all(const struct crew *crew, struct pollfd *fds)
{
    nfds_t count = 0;

    watch_fd(fds, &count, crew->signal_fd, POLLIN);
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct worker *const worker = crew->workers[i];

        watch_fd(fds, &count, worker->process.pidfd, POLLIN);
        watch_fd(fds, &count, worker->process.from_fd, POLLIN);
        watch_fd(fds, &count, worker->process.log_fd, POLLIN);
        if (worker->sent_bytes < worker->outbox.length) {
            watch_fd(fds, &count, worker->process.to_fd, POLLOUT);
        }
    }
    return count;
}

/* Rounded up, so that a deadline has passed when its wait is over. */
static int wait_ms(const struct crew *crew, uint64_t until_ns)
{
    const uint64_t now_ns = host_clock_ns();
    int longest_ms = LONGEST_WAIT_MS;

    for (uint32_t i = 0; i < crew->count; i++) {
        if (crew->workers[i]->deadline_ns < until_ns) {
            until_ns = crew->workers[i]->deadline_ns;
        }
        if (crew->workers[i]->process.pidfd < 0) {
            longest_ms = BLIND_WAIT_MS;
        }
    }
    if (until_ns <= now_ns) {
        return 0;
    }

    const uint64_t ms = (until_ns - now_ns + 999999) / 1000000;

    return ms < (uint64_t)longest_ms ? (int)ms : longest_ms;
}

static void read_signals(struct crew *crew)
{
    struct signalfd_siginfo info;

    if (read(crew->signal_fd, &info, sizeof info) == sizeof info) {
        crew->signals++;
    }
}

int32_t crew_step(struct crew *crew, uint64_t until_ns, struct error *err)
{
    struct pollfd fds[1 + CREW_LIMIT * FDS_PER_WORKER];
    const nfds_t count = watch_all(crew, fds);

    if (poll(fds, count, wait_ms(crew, until_ns)) < 0 && errno != EINTR) {
        return error_system(err, "cannot wait for workers");
    }
    if (crew->signal_fd >= 0 && fds[0].revents != 0) {
        read_signals(crew);
    }
    /* Backwards: who is gone leaves its place to the last. */
    for (uint32_t i = crew->count; i > 0; i--) {
        tend(crew, crew->workers[i - 1]);
    }
    return NVBW_OK;
}

void crew_open(struct crew *crew, int signal_fd)
{
    *crew = (struct crew){ .signal_fd = signal_fd };
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    reap_children(&crew->kept);
}

void crew_close(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        worker_stop(crew->workers[i], 0);
    }
    crew->signal_fd = -1;
    while (crew->count > 0) {
        if (crew_step(crew, UINT64_MAX, NULL) < 0) {
            abandon(crew, crew->workers[0]);
        }
    }
    reap_sweep(&crew->kept);
}

int32_t crew_start(struct crew *crew, struct worker *worker,
    const struct worker_start *start, struct error *err)
{
    const struct spawn_request request = {
        .worker_file = start->worker_file,
        .role = start->role,
        .environment = start->environment,
        .wrap = start->wrap,
        .keep = start->keep,
    };

    *worker = (struct worker){ .stage = WORKER_NONE };
    FAIL_IF(crew->count == CREW_LIMIT, err, NVBW_E_SYSTEM,
        "more than %d workers at once", CREW_LIMIT);
    TRY(spawn_worker(&request, &worker->process, err));
    worker->stage = WORKER_LIVE;
    worker->pid = worker->process.pid;
    worker->deadline_ns = UINT64_MAX;
    worker->user = start->user;
    worker->role = start->role;
    worker->grace_ns = start->grace_ns;
    worker->reap_ns = start->reap_ns != 0 ? start->reap_ns : REAP_DEFAULT_NS;
    worker->build = start->build;
    worker->on_frame = start->on_frame;
    strbuf_init(&worker->outbox, WIRE_FRAME_LIMIT + FRAME_ARENA_BYTES);
    arena_init(&worker->frame_arena, FRAME_ARENA_BYTES);
    worker_log_init(
        &worker->log, start->log_dir, start->role, (int)worker->process.pid);
    pid_list_add(&crew->kept, worker->process.pid);
    crew->workers[crew->count++] = worker;
    return NVBW_OK;
}
