/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A worker that misbehaves on purpose. What it does is the name of the
 * plugin's file: "crash@2.so" crashes when it comes to cell 2. Everything else
 * it does as a worker should. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arena.h"
#include "record.h"
#include "state.h"
#include "wire.h"

#define BUILD "fake build"

struct script {
    char what[64];
    uint32_t cell;
    uint32_t tasks; /* so far, this one included */
};

static volatile sig_atomic_t cancelled;

static void on_term(int number)
{
    (void)number;
    cancelled = 1;
}

static void send_frame(uint32_t type, const void *object)
{
    if (wire_send(WIRE_OUT_FD, type, object, NULL) < 0) {
        _exit(1);
    }
}

static _Noreturn void end(const char *why)
{
    const struct bye_frame bye = { .why = why };

    send_frame(FRAME_BYE, &bye);
    _exit(0);
}

static _Noreturn void hang(void)
{
    for (;;) {
        pause();
    }
}

/* Ends when asked to, as a worker should. */
static _Noreturn void hang_politely(void)
{
    while (!cancelled) {
        pause();
    }
    end("cancelled");
}

static void read_script(const char *file, struct script *script)
{
    const char *const slash = file != NULL ? strrchr(file, '/') : NULL;
    const char *const name = slash != NULL ? slash + 1 : "";
    const size_t length = strcspn(name, "@.");

    snprintf(script->what, sizeof script->what, "%.*s", (int)length, name);
    script->cell = name[length] == '@'
                       ? (uint32_t)strtoul(name + length + 1, NULL, 10)
                       : 0;
}

static int is(const struct script *script, const char *what)
{
    return strcmp(script->what, what) == 0;
}

/* ---- what it does at its cell ---- */

static void crash(void)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer catches it */
    raise(SIGSEGV);
}

static void leave_child(int in_session)
{
    if (fork() == 0) {
        if (in_session) {
            setsid();
            if (fork() == 0) {
                setsid();
                hang();
            }
        }
        hang();
    }
}

static void send_garbage(void)
{
    static const char garbage[] = "this is no frame at all";

    (void)!write(WIRE_OUT_FD, garbage, sizeof garbage);
}

static void send_huge(void)
{
    static const unsigned char header[WIRE_HEADER_BYTES] = { 0x4e, 0x56, 0x42,
        0x57, FRAME_LOG, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f };

    (void)!write(WIRE_OUT_FD, header, sizeof header);
}

static void flood(void)
{
    static char line[1024];

    memset(line, 'x', sizeof line);
    for (int i = 0; i < 3 * 1024; i++) {
        (void)!write(STDOUT_FILENO, line, sizeof line);
    }
}

static void flood_frames(void)
{
    static char text[64 * 1024];

    memset(text, 'y', sizeof text - 1);
    for (int i = 0; i < 40; i++) {
        const struct log_frame log = { .level = NVBW_LOG_INFO, .text = text };

        send_frame(FRAME_LOG, &log);
    }
}

static void die_of(const struct script *script)
{
    if (is(script, "crash")) {
        crash();
    } else if (is(script, "exit")) {
        _exit(0);
    } else if (is(script, "hang")) {
        hang_politely();
    } else if (is(script, "stubborn")) {
        signal(SIGTERM, SIG_IGN);
        hang();
    } else if (is(script, "eof")) {
        close(WIRE_OUT_FD);
        hang_politely();
    } else if (is(script, "garbage")) {
        send_garbage();
        hang();
    } else if (is(script, "huge")) {
        send_huge();
        hang();
    } else if (is(script, "family")) {
        leave_child(0);
        leave_child(0);
        crash();
    }
}

/* ---- cells ---- */

static void begin_cell(uint32_t cell)
{
    uint32_t gpu = 0;
    const struct begin_frame begin = {
        .cells = &cell, .cells_count = 1, .gpus = &gpu, .gpus_count = 1
    };

    send_frame(FRAME_BEGIN, &begin);
}

static void describe_self(char *out, size_t size)
{
    char fds[64] = "";
    sigset_t mask;
    struct sigaction pipe_action;
    const char *const devices = getenv("CUDA_VISIBLE_DEVICES");
    const char *const parent = getenv("NVBW_PARENT");

    for (int fd = 0; fd < 256; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            const size_t used = strlen(fds);

            snprintf(fds + used, sizeof fds - used, "%d,", fd);
        }
    }
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigaction(SIGPIPE, NULL, &pipe_action);
    snprintf(out, size, "fds=%s mask=%d pipe=%s group=%s devices=%s parent=%s",
        fds, sigismember(&mask, SIGINT),
        pipe_action.sa_handler == SIG_DFL ? "default" : "other",
        getpgrp() == getpid() ? "own" : "shared",
        devices != NULL ? devices : "-",
        parent != NULL && strtol(parent, NULL, 10) == getppid() ? "ok" : "bad");
}

static void settle_cell(const struct script *script,
    const struct task_frame *task, uint32_t cell, uint32_t state)
{
    char text[512];
    double samples[] = { (double)getpid(), (double)task->settled_count,
        (double)script->tasks };
    struct cell_place place;
    struct record record;

    record_init(&record);
    unit_cell_at(&task->unit, cell, &place);
    record.metric = task->unit.shapes[place.shape].metric;
    record.row = place.row;
    record.col = place.col;
    record.state = state;
    record.samples = samples;
    record.samples_count = 3;
    if (is(script, "report")) {
        describe_self(text, sizeof text);
        record.message = text;
    }
    send_frame(FRAME_CELL, &record);
}

static void finish_cell(
    const struct script *script, const struct task_frame *task, uint32_t cell)
{
    if (is(script, "silent")) {
        return;
    }
    if (is(script, "badstate")) {
        settle_cell(script, task, cell, STATE_PASS);
        return;
    }
    if (is(script, "unwanted")) {
        settle_cell(script, task, 0, STATE_MEASURED);
        return;
    }
    if (is(script, "poisoned")) {
        settle_cell(script, task, cell, STATE_ERROR);
        end("poisoned");
    }
    if (is(script, "session")) {
        leave_child(1);
    } else if (is(script, "flood")) {
        flood();
    } else if (is(script, "logs")) {
        flood_frames();
    }
    settle_cell(script, task, cell, STATE_MEASURED);
    if (is(script, "twice")) {
        settle_cell(script, task, cell, STATE_MEASURED);
    }
}

static void run_cells(struct script *script, const struct task_frame *task)
{
    const struct done_frame done = { .status = NVBW_OK };

    if (is(script, "early")) {
        crash();
    }
    for (uint32_t i = 0; i < task->wanted_count && !cancelled; i++) {
        const uint32_t cell = task->wanted[i];

        begin_cell(cell);
        if (cell == script->cell || is(script, "always")) {
            if (is(script, "always")) {
                crash();
            }
            die_of(script);
            finish_cell(script, task, cell);
        } else {
            settle_cell(script, task, cell, STATE_MEASURED);
        }
    }
    send_frame(FRAME_DONE, &done);
    if (is(script, "leaver")) {
        end("poisoned");
    }
}

/* ---- the other roles ---- */

static void describe(const struct script *script)
{
    struct metric_schema metric = { .name = "rate",
        .unit = NVBW_UNIT_BYTES_PER_SECOND,
        .better = NVBW_HIGHER };
    struct testcase_schema testcase = {
        .name = "test", .summary = "x", .metrics = &metric, .metrics_count = 1
    };
    const struct plugin_schema schema = { .name = script->what,
        .version = "1",
        .summary = "x",
        .abi_minor = NVBW_ABI_MINOR,
        .testcases = &testcase,
        .testcases_count = is(script, "bare") ? 0 : 1 };
    const struct done_frame done = { .status = NVBW_OK };
    const struct done_frame refused = { .status = NVBW_E_INVALID,
        .state = STATE_ERROR,
        .reason = "refused",
        .message = "it exports no nvbw_plugin_v1" };

    if (is(script, "refused")) {
        send_frame(FRAME_DONE, &refused);
        return;
    }
    die_of(script);
    if (!is(script, "silent")) {
        send_frame(FRAME_PLUGIN, &schema);
    }
    send_frame(FRAME_DONE, &done);
}

static void record_run(const struct script *script)
{
    const char *names[] = { "left", "right" };
    const struct labels_frame labels = {
        .metric = "rate", .names = names, .names_count = 2
    };
    const struct done_frame done = { .status = NVBW_OK };

    if (is(script, "unrecorded")) {
        crash();
    }
    send_frame(FRAME_LABELS, &labels);
    send_frame(FRAME_DONE, &done);
}

/* The simulated profile says what the machine is like. */
static void tell_facts(void)
{
    const char *const profile = getenv("NVBW_SIM_PROFILE");
    const struct facts facts = { .host = "fake", .imex_channel = -1 };
    const struct done_frame done = { .status = NVBW_OK };

    if (profile != NULL && strcmp(profile, "crash") == 0) {
        crash();
    }
    if (profile != NULL && strcmp(profile, "hang") == 0) {
        hang_politely();
    }
    send_frame(FRAME_FACTS, &facts);
    send_frame(FRAME_DONE, &done);
}

/* The GPU with this UUID alone is sick. */
static void tell_health(void)
{
    const char *const devices = getenv("CUDA_VISIBLE_DEVICES");
    const int is_sick = devices != NULL && strcmp(devices, "GPU-sick") == 0;
    const struct done_frame done = {
        .status = is_sick ? NVBW_E_CUDA : NVBW_OK,
        .message = is_sick ? "it does not answer" : NULL,
    };

    send_frame(FRAME_DONE, &done);
}

static void do_task(struct script *script, const struct task_frame *task)
{
    script->tasks++;
    read_script(task->plugin_file, script);
    switch (task->role) {
    case TASK_DESCRIBE:
        describe(script);
        return;
    case TASK_RECORD:
        record_run(script);
        return;
    case TASK_FACTS:
        tell_facts();
        return;
    case TASK_HEALTH:
        tell_health();
        return;
    default:
        run_cells(script, task);
        return;
    }
}

int main(void)
{
    const struct hello_frame hello = {
        .build = getenv("NVBW_FAKE_BUILD") != NULL ? "another" : BUILD,
        .pid = (int32_t)getpid()
    };
    const struct sigaction action = { .sa_handler = on_term };
    struct script script = { .tasks = 0 };
    struct arena arena;
    uint32_t type = 0;
    void *object = NULL;

    sigaction(SIGTERM, &action, NULL);
    arena_init(&arena, (size_t)64 << 20);
    send_frame(FRAME_HELLO, &hello);
    while (wire_receive(WIRE_IN_FD, &arena, &type, &object, NULL) == 1) {
        if (type == FRAME_QUIT) {
            end("finished");
        }
        if (type == FRAME_TASK) {
            do_task(&script, object);
        }
    }
    _exit(1);
}
