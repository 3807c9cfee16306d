/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_end.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

static void set_cause(struct cause *out, uint32_t state, const char *reason,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void set_cause(struct cause *out, uint32_t state, const char *reason,
    const char *format, ...)
{
    va_list args;

    out->state = state;
    out->reason = reason;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

static void fault_cause(
    const struct worker_end *end, const char *role, struct cause *out)
{
    static const char *const reasons[] = {
        [FAULT_PROTOCOL] = "protocol",
        [FAULT_BUILD] = "system",
        [FAULT_FACTS] = "facts_changed",
    };

    set_cause(out, STATE_ERROR, reasons[end->fault], "%s worker: %s", role,
        end->fault_text);
}

static void expired_cause(
    const struct worker_end *end, const char *role, struct cause *out)
{
    set_cause(out, STATE_TIMEOUT, NULL,
        "%s worker said nothing for %.3g s and was ended%s", role,
        (double)end->limit_ns * 1e-9,
        end->abandoned ? "; not even SIGKILL ended it, it was left behind"
                       : "");
}

struct farewell {
    const char *why;
    uint32_t state;
    const char *reason, *text;
};
static const struct farewell farewells[] = {
    { "finished", STATE_ERROR, "protocol",
        "worker ended before its task was done" },
    { "poisoned", STATE_ERROR, "poisoned",
        "worker lost its GPU through a CUDA error" },
    { "team", STATE_ERROR, "rank_lost", "worker lost the other ranks" },
    { "contract", STATE_ERROR, "contract",
        "worker ended because the plugin broke the contract" },
    { "cancelled", STATE_CANCELLED, NULL,
        "worker was told to end by a signal from outside" },
    { NULL, STATE_ERROR, "protocol", "worker gave an unknown reason to end" },
};

static void bye_cause(
    const struct worker_end *end, const char *role, struct cause *out)
{
    const struct farewell *farewell = farewells;

    while (farewell->why != NULL && strcmp(farewell->why, end->bye_why) != 0) {
        farewell++;
    }
    set_cause(out, farewell->state, farewell->reason, "%s %s%s%s", role,
        farewell->text, end->bye_text[0] != '\0' ? ": " : "", end->bye_text);
}

static void signal_cause(
    const struct worker_end *end, const char *role, struct cause *out)
{
    char words[64];

    snprintf(words, sizeof words, "%s", strsignal(end->signal_number));
    if (islower((unsigned char)words[1])) {
        words[0] = (char)tolower((unsigned char)words[0]);
    }
    set_cause(out, STATE_CRASH, NULL, "%s worker died of signal %d (%s)%s",
        role, end->signal_number, words,
        end->signal_number == SIGKILL
            ? ", which nvbw-host did not send; see the kernel log for a lack "
              "of memory"
            : "");
}

void worker_end_cause(
    const struct worker_end *end, const char *role, struct cause *out)
{
    if (end->fault != FAULT_NONE) {
        fault_cause(end, role, out);
    } else if (end->expired) {
        expired_cause(end, role, out);
    } else if (end->stopped) {
        set_cause(out, STATE_CANCELLED, NULL, "the run was stopped");
    } else if (end->has_bye) {
        bye_cause(end, role, out);
    } else if (end->signal_number != 0) {
        signal_cause(end, role, out);
    } else {
        set_cause(out, STATE_CRASH, NULL,
            "%s worker exited with status %d without a word", role,
            end->exit_code);
    }
}
