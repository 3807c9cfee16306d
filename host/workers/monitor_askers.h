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
 * asks and asks does not live for ever. The question remembers what was lent:
 * one question of an asker at a time. */
void monitor_lend_time(
    struct monitor *monitor, struct monitor_question *question);
/* What was lent and not used, if anything was. */
void monitor_take_time_back(
    struct monitor *monitor, struct monitor_question *question);
/* Takes that back and answers. */
void monitor_answer_question(struct monitor *monitor,
    struct monitor_question *question, const char *throttled);

#endif
