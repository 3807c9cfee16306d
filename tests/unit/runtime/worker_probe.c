/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_probe.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA_BYTES = 64 << 20, HIGH_FD = 64 };

static void become_worker(const char *file, int in_fd, int out_fd)
{
    const int high_in = fcntl(in_fd, F_DUPFD, HIGH_FD);
    const int high_out = fcntl(out_fd, F_DUPFD, HIGH_FD);

    dup2(high_in, WIRE_IN_FD);
    dup2(high_out, WIRE_OUT_FD);
    for (int fd = WIRE_OUT_FD + 1; fd < 2 * HIGH_FD; fd++) {
        close(fd);
    }
    execl(file, file, "test", (char *)NULL);
    _exit(127);
}

void probe_start(struct worker_probe *probe, const char *worker_file)
{
    int to[2];
    int from[2];
    char parent[32];

    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    setenv("NVBW_PARENT", parent, 1);
    probe->pid = fork();
    if (probe->pid == 0) {
        become_worker(worker_file, to[0], from[1]);
    }
    assert_true(probe->pid > 0);
    close(to[0]);
    close(from[1]);
    probe->to_fd = to[1];
    probe->from_fd = from[0];
    arena_init(&probe->arena, ARENA_BYTES);

    const struct hello_frame *const hello = probe_expect(probe, FRAME_HELLO);

    assert_int_equal(hello->pid, probe->pid);
}

void probe_send(struct worker_probe *probe, uint32_t type, const void *object)
{
    assert_int_equal(wire_send(probe->to_fd, type, object, NULL), NVBW_OK);
}

uint32_t probe_receive(struct worker_probe *probe, void **out_object)
{
    uint32_t type = FRAME_LOG;
    struct error err = { 0 };

    while (type == FRAME_LOG) {
        const int32_t got = wire_receive(
            probe->from_fd, &probe->arena, &type, out_object, &err);

        if (got < 0) {
            fail_msg("%s", err.text);
        }
        if (got == 0) {
            return 0;
        }
    }
    return type;
}

void *probe_expect(struct worker_probe *probe, uint32_t type)
{
    void *object = NULL;

    assert_int_equal(probe_receive(probe, &object), type);
    return object;
}

int probe_end(struct worker_probe *probe)
{
    int status = 0;

    close(probe->to_fd);
    close(probe->from_fd);
    assert_int_equal(waitpid(probe->pid, &status, 0), probe->pid);
    arena_clear(&probe->arena);
    return status;
}

void probe_facts(struct facts *out)
{
    static struct node_facts node = {
        .number = 0, .cpus = "0", .cpu_count = 1, .memory_bytes = 1 << 30
    };

    *out = (struct facts){ .host = "test",
        .memory_bytes = UINT64_C(1) << 30,
        .nodes = &node,
        .nodes_count = 1 };
}
