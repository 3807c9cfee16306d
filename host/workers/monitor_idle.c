/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* expect = { idle = true; }: others get some time to leave the GPUs, before
 * anything is measured. */
#include "monitor_idle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "host_clock.h"
#include "quantity.h"

enum { IDLE_BYTES = 192 };
/* The worker may have a hard time to open NVML; then the facts must do. */
static const uint64_t OPEN_NS = UINT64_C(15000000000);

static int is_expected(const struct plan *plan)
{
    int yes = 0;

    for (uint32_t i = 0; i < plan->expect_count; i++) {
        const struct plan_value *const value = &plan->expect[i];

        if (strcmp(value->name, "idle") == 0 && value->texts_count > 0 &&
            quantity_bool(value->texts[0], &yes, NULL) < 0) {
            yes = 0;
        }
    }
    return yes;
}

/* 1 and why, by the last reading of a GPU. */
static int is_busy(const struct monitor *monitor, uint32_t position, char *out)
{
    const struct monitored *const gpu = &monitor->gpus[position];
    const int32_t index =
        monitor->request->evidence->facts.gpus[position].index;

    if (gpu->now_others_count > 0) {
        snprintf(out, IDLE_BYTES, "expected idle GPUs, GPU %d is used by %s%s",
            index, gpu->now_others[0],
            gpu->now_others_count > 1 ? " and others" : "");
        return 1;
    }
    if (gpu->last.busy_percent > monitor->rules.idle_percent) {
        snprintf(out, IDLE_BYTES,
            "expected idle GPUs, GPU %d is busy for %.0f %% of the time", index,
            gpu->last.busy_percent);
        return 1;
    }
    return 0;
}

static uint32_t count_busy(const struct monitor *monitor)
{
    char why[IDLE_BYTES];
    uint32_t busy = 0;

    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        busy += (uint32_t)is_busy(monitor, i, why);
    }
    return busy;
}

static int is_accepted(struct monitor *monitor, uint32_t gpu, const char *why)
{
    const struct evidence *const evidence = monitor->request->evidence;
    const struct finding finding = {
        .id = "expect", .gpu = (int32_t)gpu, .peer = -1, .what = why
    };

    return accept_find(&evidence->plan, &evidence->facts,
               evidence->header.started, &finding) != NULL;
}

static int32_t tell(
    struct monitor *monitor, char *out_unfit, size_t size, struct error *err)
{
    char why[IDLE_BYTES];

    for (uint32_t i = 0; i < monitor->gpus_count; i++) {
        const struct event event = {
            .what = "busy", .unit = -1, .gpu = (int32_t)i, .text = why
        };

        if (!is_busy(monitor, i, why)) {
            continue;
        }
        TRY(ledger_event(monitor->ledger, &event, err));
        if (out_unfit[0] == '\0' && !is_accepted(monitor, i, why)) {
            snprintf(out_unfit, size, "%s", why);
        }
    }
    return NVBW_OK;
}

/* Until the GPUs are idle, or the time is over that others get from the first
 * reading on. */
static int32_t wait_until_idle(struct monitor *monitor, struct error *err)
{
    const uint64_t began_ns = host_clock_ns();
    uint64_t end_ns = host_clock_after(began_ns, OPEN_NS);
    int has_begun = 0;

    while (
        monitor->is_wanted && !monitor->ended && monitor->crew->signals == 0) {
        uint64_t due_ns = 0;

        if (!has_begun && monitor_has_readings(monitor)) {
            has_begun = 1;
            end_ns =
                host_clock_after(host_clock_ns(), monitor->rules.settle_ns);
        }
        if ((has_begun && count_busy(monitor) == 0) ||
            host_clock_ns() >= end_ns) {
            break;
        }
        TRY(monitor_tick(monitor, &due_ns, err));
        TRY(crew_step(monitor->crew, due_ns < end_ns ? due_ns : end_ns, err));
    }
    return NVBW_OK;
}

int32_t monitor_expect_idle(
    struct monitor *monitor, char *out_unfit, size_t size, struct error *err)
{
    out_unfit[0] = '\0';
    if (!is_expected(&monitor->request->evidence->plan) ||
        !monitor->is_wanted) {
        return NVBW_OK;
    }
    TRY(wait_until_idle(monitor, err));
    return tell(monitor, out_unfit, size, err);
}
