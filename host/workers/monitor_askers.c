/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "monitor_askers.h"

#include "host_clock.h"

/* What waiting may cost a cell of its own time. */
static const uint64_t UNLENT_NS = UINT64_C(20) * 1000 * 1000;

void monitor_answer(
    struct worker *asker, uint64_t number, const char *throttled)
{
    const struct read_done_frame done = {
        .number = number, .throttled = throttled != NULL, .message = throttled
    };
    struct error dropped = { 0 };

    if (asker->stage == WORKER_LIVE && !asker->end.has_bye) {
        (void)worker_send(asker, FRAME_READ_DONE, &done, &dropped);
    }
}

void monitor_lend_time(
    struct monitor *monitor, struct monitor_question *question)
{
    struct worker *const asker = question->asker;

    question->waits_until_ns = UINT64_MAX;
    if (asker->stage != WORKER_LIVE || asker->end.has_bye ||
        asker->deadline_ns == UINT64_MAX) {
        return;
    }
    question->waits_from_ns = host_clock_ns();
    question->lent_ns = monitor->patience_ns;
    question->waits_until_ns = host_clock_after(question->waits_from_ns,
        question->lent_ns > UNLENT_NS ? question->lent_ns : UNLENT_NS);
    asker->deadline_ns =
        host_clock_after(asker->deadline_ns, monitor->patience_ns);
    question->deadline_ns = asker->deadline_ns;
}

void monitor_take_time_back(
    struct monitor *monitor, struct monitor_question *question)
{
    if (question->lent_ns == 0) {
        return;
    }

    const uint64_t waited_ns = host_clock_ns() - question->waits_from_ns;
    const uint64_t used_ns =
        waited_ns < question->lent_ns ? waited_ns : question->lent_ns;

    monitor->patience_ns -=
        used_ns < monitor->patience_ns ? used_ns : monitor->patience_ns;
    /* Otherwise it went on, and was given another one since. */
    if (question->asker->deadline_ns == question->deadline_ns) {
        question->asker->deadline_ns -= question->lent_ns - used_ns;
    }
    question->lent_ns = 0;
}

void monitor_answer_question(struct monitor *monitor,
    struct monitor_question *question, const char *throttled)
{
    monitor_take_time_back(monitor, question);
    monitor_answer(question->asker, question->asker_number, throttled);
}

void monitor_release_overdue(struct monitor *monitor,
    struct monitor_question *question, uint64_t *due_ns)
{
    if (question->asker == NULL) {
        return;
    }
    if (host_clock_ns() < question->waits_until_ns) {
        *due_ns = question->waits_until_ns < *due_ns ? question->waits_until_ns
                                                     : *due_ns;
        return;
    }
    monitor_answer_question(monitor, question, NULL);
    question->asker = NULL;
}
