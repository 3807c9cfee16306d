/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "wire.h"
#include "worker_environment.h"

enum {
    ARGUMENTS_BYTES = 4 << 20, /* argv and envp: more than a kernel takes */
    FIRST_FREE_FD = 5,         /* after stdio and the two of the frames */
    KEPT_FD = 6,               /* that a variable of the environment names */
    SAFE_FD = 16,              /* above all numbers that the child fills */
    CLOSE_FD_LIMIT = 1 << 16   /* without close_range */
};

/* Everything that the child needs, made before fork: between fork and exec
 * only calls that are safe in a signal handler are allowed. */
struct child {
    char **argv, **envp;
    int in_fd, out_fd; /* frames, as the child sees them */
    int log_fd;        /* -1: keep the terminal */
    int null_fd;
    int fault_fd; /* tells the parent errno when exec fails */
    int kept_fd;  /* -1: none */
};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* Calls tcsetpgrp from a group that need not be in the foreground. */
static void give_terminal(pid_t group)
{
    sigset_t stop;
    sigset_t before;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    sigprocmask(SIG_BLOCK, &stop, &before);
    tcsetpgrp(STDIN_FILENO, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void spawned_close(struct spawned *process)
{
    if (process->pid > 0 && tcgetpgrp(STDIN_FILENO) == process->pid) {
        give_terminal(getpgrp());
    }
    close_fd(&process->pidfd);
    close_fd(&process->to_fd);
    close_fd(&process->from_fd);
    close_fd(&process->log_fd);
}

static void child_close(struct child *child)
{
    close_fd(&child->in_fd);
    close_fd(&child->out_fd);
    close_fd(&child->log_fd);
    close_fd(&child->null_fd);
    close_fd(&child->fault_fd);
    close_fd(&child->kept_fd);
}

static void reset_signals(void)
{
    const struct sigaction standard = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &standard, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, UINT_MAX, 0) == 0) {
        return;
    }
#endif
    struct rlimit limit;
    int end = CLOSE_FD_LIMIT;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end) {
        end = (int)limit.rlim_cur;
    }
    for (int fd = first; fd < end; fd++) {
        close(fd);
    }
}

static void place_descriptors(const struct child *child)
{
    if (child->log_fd >= 0) {
        dup2(child->null_fd, STDIN_FILENO);
        dup2(child->log_fd, STDOUT_FILENO);
        dup2(child->log_fd, STDERR_FILENO);
    }
    dup2(child->in_fd, WIRE_IN_FD);
    dup2(child->out_fd, WIRE_OUT_FD);
}

static _Noreturn void become_worker(const struct child *child)
{
    setpgid(0, 0);
    if (child->log_fd < 0) {
        give_terminal(getpid()); /* a debugger reads from it */
    }
    reset_signals();
    place_descriptors(child);
    dup3(child->fault_fd, FIRST_FREE_FD, O_CLOEXEC);
    if (child->kept_fd >= 0) {
        dup2(child->kept_fd, KEPT_FD);
    }
    close_from(child->kept_fd >= 0 ? KEPT_FD + 1 : KEPT_FD);
    /* Looks a wrapper's name up in PATH; the worker has a full path. */
    execvpe(child->argv[0], child->argv, child->envp);

    const int code = errno;

    (void)!write(FIRST_FREE_FD, &code, sizeof code);
    _exit(127);
}

/* One pipe; the child's end is moved above the numbers that it will fill, so
 * that no dup2 hits another end. */
static int32_t make_pipe(
    int child_end, int *out_child_fd, int *out_host_fd, struct error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_system(err, "cannot make a pipe to a worker");
    }
    *out_host_fd = ends[1 - child_end];
    *out_child_fd = fcntl(ends[child_end], F_DUPFD_CLOEXEC, SAFE_FD);
    close(ends[child_end]);
    if (*out_child_fd < 0 || fcntl(*out_host_fd, F_SETFL, O_NONBLOCK) != 0) {
        return error_system(err, "cannot set up a pipe to a worker");
    }
    return NVBW_OK;
}

/* Moved above the numbers that the child will fill. A variable that names no
 * open descriptor is passed on as it is. */
static int32_t keep_named(
    const char *variable, struct child *child, struct error *err)
{
    const char *const text = variable == NULL ? NULL : secure_getenv(variable);
    char *end = NULL;

    if (text == NULL || *text < '0' || *text > '9') {
        return NVBW_OK;
    }

    const long number = strtol(text, &end, 10);

    if (*end != '\0' || number > INT_MAX || fcntl((int)number, F_GETFD) < 0) {
        return NVBW_OK;
    }
    child->kept_fd = fcntl((int)number, F_DUPFD_CLOEXEC, SAFE_FD);
    return child->kept_fd >= 0
               ? NVBW_OK
               : error_system(err, "cannot keep descriptor %ld, which %s names",
                     number, variable);
}

static int32_t make_descriptors(const struct spawn_request *request,
    struct child *child, struct spawned *out, int *out_fault_fd,
    struct error *err)
{
    TRY(keep_named(request->keep, child, err));
    TRY(make_pipe(0, &child->in_fd, &out->to_fd, err));
    TRY(make_pipe(1, &child->out_fd, &out->from_fd, err));
    TRY(make_pipe(1, &child->fault_fd, out_fault_fd, err));
    if (request->wrap != NULL) {
        return NVBW_OK;
    }
    TRY(make_pipe(1, &child->log_fd, &out->log_fd, err));

    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null_fd < 0) {
        return error_system(err, "cannot open /dev/null");
    }
    child->null_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, SAFE_FD);
    close(null_fd);
    if (child->null_fd < 0) {
        return error_system(err, "cannot set up a worker's stdin");
    }
    return NVBW_OK;
}

/* The child's variables; the one of the descriptor that is kept has its new
 * number. */
static int32_t make_environment(const struct spawn_request *request,
    struct arena *arena, struct child *child, struct error *err)
{
    static const char *const nothing[] = { NULL };
    const char *kept[] = { NULL, NULL };
    char **base = NULL;

    if (child->kept_fd >= 0) {
        kept[0] = arena_format(arena, "%s=%d", request->keep, KEPT_FD);
        FAIL_IF(
            kept[0] == NULL, err, NVBW_E_SYSTEM, "no memory to start a worker");
    }
    TRY(worker_environment_merge(
        (const char *const *)environ, kept, arena, &base, err));
    return worker_environment_merge((const char *const *)base,
        request->environment != NULL ? request->environment : nothing, arena,
        &child->envp, err);
}

static int32_t make_arguments(const struct spawn_request *request,
    struct arena *arena, struct child *child, struct error *err)
{
    uint32_t count = 0;

    while (request->wrap != NULL && request->wrap[count] != NULL) {
        count++;
    }

    const char **const argv = arena_alloc(arena, count + 3u, sizeof *argv);

    FAIL_IF(argv == NULL, err, NVBW_E_SYSTEM, "no memory to start a worker");
    for (uint32_t i = 0; i < count; i++) {
        argv[i] = request->wrap[i];
    }
    argv[count] = request->worker_file;
    argv[count + 1] = request->role;
    child->argv = (char **)argv;
    return make_environment(request, arena, child, err);
}

/* Waits until exec has happened: the descriptor closes, or brings errno. */
static int32_t await_exec(
    int fault_fd, const char *file, pid_t pid, struct error *err)
{
    int code = 0;
    ssize_t got = 0;

    fcntl(fault_fd, F_SETFL, 0);
    do {
        got = read(fault_fd, &code, sizeof code);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof code) {
        return NVBW_OK;
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    errno = code;
    return error_system(err, "cannot execute %s", file);
}

/* vfork: a copy of the host's page tables, and a fault in the host for every
 * page that it touches afterwards, would cost more than all else here. The
 * child runs in the host's memory until exec, while the host stands still; but
 * for the search in PATH it makes system calls only, and of the host's
 * variables it changes errno alone. */
static int32_t fork_worker(
    struct child *child, struct spawned *out, int fault_fd, struct error *err)
{
    const pid_t pid = vfork();

    if (pid < 0) {
        return error_system(err, "cannot fork a worker");
    }
    if (pid == 0) {
        become_worker(child);
    }
    setpgid(pid, pid); /* whoever comes first */
    close_fd(&child->fault_fd);
    TRY(await_exec(fault_fd, child->argv[0], pid, err));
    out->pid = pid;
#ifdef SYS_pidfd_open
    out->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    return NVBW_OK;
}

int32_t spawn_worker(
    const struct spawn_request *request, struct spawned *out, struct error *err)
{
    struct arena arena;
    struct child child = { .in_fd = -1,
        .out_fd = -1,
        .log_fd = -1,
        .null_fd = -1,
        .fault_fd = -1,
        .kept_fd = -1 };
    int fault_fd = -1;

    *out = (struct spawned){
        .pidfd = -1, .to_fd = -1, .from_fd = -1, .log_fd = -1
    };
    arena_init(&arena, ARGUMENTS_BYTES);

    int32_t status = make_descriptors(request, &child, out, &fault_fd, err);

    if (status == NVBW_OK) {
        status = make_arguments(request, &arena, &child, err);
    }
    if (status == NVBW_OK) {
        status = fork_worker(&child, out, fault_fd, err);
    }
    child_close(&child);
    close_fd(&fault_fd);
    arena_clear(&arena);
    if (status < 0) {
        spawned_close(out);
    }
    return status;
}
