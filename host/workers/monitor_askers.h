/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Run workers that wait for readings: what they are answered, and the time that
 * they get for waiting. */
#ifndef NVBW_MONITOR_ASKERS_H
#define NVBW_MONITOR_ASKERS_H

#include "monitor.h"

/* READ_DONE; throttled: what held a GPU down, or NULL. What cannot be sent is
 * dropped: a worker that does not read, or is being ended, goes on without, and
 * ends at its deadline. */
void monitor_answer(
    struct worker *asker, uint64_t number, const char *throttled);

/* A cell's time is for measuring: its deadline waits with the asker, as long as
 * the monitor has patience; what is used of that is gone, so that a worker that
 * asks and asks does not live for ever, and waits 20 ms at most when all is.
 * The question remembers what was lent: one question of an asker at a time. */
void monitor_lend_time(
    struct monitor *monitor, struct monitor_question *question);
/* What was lent and not used, if anything was. */
void monitor_take_time_back(
    struct monitor *monitor, struct monitor_question *question);
/* Lets an asker go on that has waited for as long as it had time. *due_ns: no
 * later than when that will be. */
void monitor_release_overdue(struct monitor *monitor,
    struct monitor_question *question, uint64_t *due_ns);
/* Takes that back and answers. */
void monitor_answer_question(struct monitor *monitor,
    struct monitor_question *question, const char *throttled);

#endif
