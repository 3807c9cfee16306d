/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "monitor_words.h"

#include <stdio.h>

static int32_t say(struct monitor *monitor, const char *text, struct error *err)
{
    const struct event event = {
        .what = "telemetry", .unit = -1, .gpu = -1, .text = text
    };

    return ledger_event(monitor->ledger, &event, err);
}

int32_t monitor_say_lacking(
    struct monitor *monitor, const char *why, struct error *err)
{
    char text[1600];

    snprintf(text, sizeof text, "%s: %s",
        monitor_has_readings(monitor) ? "telemetry ends before the run does"
                                      : "measured without telemetry",
        why);
    return say(monitor, text, err);
}

int32_t monitor_say_end(struct monitor *monitor, struct error *err)
{
    if (!monitor->is_wanted || monitor->ended || !monitor->has_measured ||
        monitor->crew->signals > 0) {
        return NVBW_OK;
    }
    if (!monitor->is_open) {
        return monitor_say_lacking(monitor,
            monitor->starts > 1
                ? "the watch worker was replaced, and NVML was not open again "
                  "when the run ended"
                : "NVML was not open when the run ended",
            err);
    }
    if (monitor->asked.number == 0) {
        return NVBW_OK;
    }
    return !monitor_has_readings(monitor)
               ? monitor_say_lacking(
                     monitor, "NVML did not answer before the run ended", err)
               : say(monitor,
                     "the last readings are missing: NVML did not answer "
                     "within 2 s of the last measurement",
                     err);
}
