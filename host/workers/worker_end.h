/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How a worker ended, and what that says about the cells it had in hand.
 * Pure. */
#ifndef NVBW_WORKER_END_H
#define NVBW_WORKER_END_H

#include <stddef.h>
#include <stdint.h>

enum worker_fault {
    FAULT_NONE = 0,
    FAULT_PROTOCOL, /* sent what no worker may send */
    FAULT_BUILD,    /* is not of the host's build */
    FAULT_FACTS     /* saw another machine than was planned for */
};

struct worker_end {
    int32_t exit_code, signal_number; /* as struct death */
    uint32_t expired;                 /* 1: a deadline passed */
    uint64_t limit_ns;                /* which was so long */
    uint32_t stopped;                 /* 1: the host told it to end */
    uint32_t abandoned;               /* 1: not even SIGKILL ended it */
    enum worker_fault fault;
    char fault_text[1024];
    uint32_t has_bye;
    char bye_why[32];
    char bye_text[512];
};

/* A cell's state, reason and sentence. */
struct cause {
    uint32_t state;
    const char *reason; /* constant, or NULL */
    char text[1280];
};

/* What cells in flight get. role: of the worker, for the sentence. */
void worker_end_cause(
    const struct worker_end *end, const char *role, struct cause *out);

#endif
