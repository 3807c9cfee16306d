/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The states of a cell, the reasons beside them, and the names of the
 * contract's numbers: the vocabulary of frames, journal and reports. */
#ifndef NVBW_STATE_H
#define NVBW_STATE_H

#include <stdint.h>

#include "fields.h"

/* X(NAME, number, "name"). Evidence (what a run leaves) uses the first group;
 * a verdict turns MEASURED into one of the last four and keeps the others. */
#define STATE_LIST(X)                                                          \
    X(NONE, 0, "none")                                                         \
    X(MEASURED, 1, "measured")                                                 \
    X(SKIP, 2, "skip")                                                         \
    X(ERROR, 3, "error")                                                       \
    X(MISMATCH, 4, "mismatch")                                                 \
    X(INVALID, 5, "invalid")                                                   \
    X(CRASH, 6, "crash")                                                       \
    X(TIMEOUT, 7, "timeout")                                                   \
    X(CANCELLED, 8, "cancelled")                                               \
    X(NOT_RUN, 9, "not_run")                                                   \
    X(BLOCKED, 10, "blocked")                                                  \
    X(PASS, 11, "pass")                                                        \
    X(WARN, 12, "warn")                                                        \
    X(FAIL, 13, "fail")                                                        \
    X(UNCHECKED, 14, "unchecked")

#define STATE_ENUM(name, number, text) STATE_##name = number,
enum { STATE_LIST(STATE_ENUM) STATE_COUNT };

extern const struct name state_names[];
extern const struct name status_names[];
extern const struct name unit_names[];   /* NVBW_UNIT_* */
extern const struct name better_names[]; /* NVBW_HIGHER, NVBW_LOWER */
extern const struct name type_names[];   /* NVBW_TYPE_* */
extern const struct name initiator_names[];
extern const struct name operation_names[];
extern const struct name memory_names[]; /* NVBW_MEM_* */
extern const struct name skip_names[];   /* NVBW_SKIP_*: codes */

/* Why a cell is in its state, as a code such as "no_device", "gate_timeout"
 * or "contract". */
enum reason_kind {
    REASON_TOPOLOGY = 1, /* skip: of the machine's topology or the build */
    REASON_SETUP = 2,    /* skip: of driver, memory, permission, ... */
    REASON_CONTRACT = 3, /* error: the plugin broke the contract */
    REASON_OTHER = 4
};
struct reason {
    const char *code;
    uint32_t state; /* STATE_* that it goes with */
    enum reason_kind kind;
    const char *text; /* one sentence: what it means */
};
/* Ends with a NULL code. */
extern const struct reason reason_table[];
const struct reason *reason_find(uint32_t state, const char *code);

#endif
