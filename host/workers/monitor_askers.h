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
 * the monitor has patience. The question remembers what was lent. */
void monitor_lend_time(
    struct monitor *monitor, struct monitor_question *question);
/* Answers, and takes back what was lent and not used. */
void monitor_answer_question(struct monitor *monitor,
    const struct monitor_question *question, const char *throttled);

#endif
