/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Readings of the GPUs in flight: the host has them made. */
#include "service.h"

#include <poll.h>
#include <stdio.h>

#include "clock.h"

enum { ANSWER_ARENA_BYTES = 1 << 20 };
#define NS_PER_MS UINT64_C(1000000)
static const uint64_t WAIT_NS = 20 * NS_PER_MS;
/* The first answer comes when the watch worker has opened NVML: a run of a few
 * cells would be over before. How long that may take is the host's decision. */
static const uint64_t WAIT_FIRST_NS = 10000 * NS_PER_MS;
static const uint64_t POLL_NS = 500 * NS_PER_MS;

void service_read(void *user, uint32_t kind)
{
    struct service *const service = user;
    struct task_run *const run = service->run;
    struct task_reads *const reads = &run->reads;
    const uint64_t now_ns = clock_machine_ns();
    struct read_frame read = { .number = now_ns, .kind = kind };

    if (!run->task->watched || reads->gpus_count == 0 ||
        (kind == READ_POLL && now_ns - reads->asked_ns < POLL_NS)) {
        return;
    }
    if (kind == READ_POLL) {
        read.kind = READ_LOOK;
    }
    if (kind == READ_BEGIN) {
        reads->looks_from = UINT64_MAX;
    } else if (read.kind == READ_LOOK && reads->looks_from == UINT64_MAX) {
        reads->looks_from = now_ns;
    }
    read.gpus = reads->gpus;
    read.gpus_count = reads->gpus_count;
    reads->number = now_ns;
    reads->asked_ns = now_ns;
    service_send(service, FRAME_READ, &read);
}

/* 1 if something came by the time that there is for an answer: what is there
 * already is taken whatever the time. */
static int has_answer(const struct service *service)
{
    const struct task_run *const run = service->run;
    /* Waiting takes no time of a simulated machine: there a slow host need not
     * make a reading late. */
    const uint64_t wait_ns = service->has_reading && !run->facts->simulated
                                 ? WAIT_NS
                                 : WAIT_FIRST_NS;
    const uint64_t passed_ns = clock_machine_ns() - run->reads.asked_ns;
    const uint64_t left_ns = passed_ns < wait_ns ? wait_ns - passed_ns : 0;
    struct pollfd from_host = { .fd = WIRE_IN_FD, .events = POLLIN };

    return poll(&from_host, 1, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS)) ==
           1;
}

/* One answer. What comes to an earlier question is late, but that the GPU was
 * held down since the first sample is told only once. */
static int take_answer(
    struct task_reads *reads, struct arena *arena, char *out_text, size_t size)
{
    struct read_done_frame *done = NULL;
    void *object = NULL;
    uint32_t type = 0;

    if (wire_receive(WIRE_IN_FD, arena, &type, &object, NULL) <= 0) {
        reads->number = 0;
        return 0;
    }
    done = object;
    if (type != FRAME_READ_DONE) {
        return 0;
    }
    if (done->number == reads->number) {
        reads->number = 0;
    }
    if (!done->throttled || done->number < reads->looks_from) {
        return 0;
    }
    snprintf(out_text, size, "%s",
        done->message != NULL ? done->message : "the GPU was throttled");
    return 1;
}

int service_await_reading(void *user, char *out_text, size_t size)
{
    struct service *const service = user;
    struct task_reads *const reads = &service->run->reads;
    struct arena arena;
    int is_throttled = 0;

    if (reads->number == 0) {
        return 0;
    }
    arena_init(&arena, ANSWER_ARENA_BYTES);
    while (reads->number != 0 && has_answer(service)) {
        is_throttled |= take_answer(reads, &arena, out_text, size);
    }
    reads->number = 0;
    service->has_reading = 1;
    arena_clear(&arena);
    return is_throttled;
}
