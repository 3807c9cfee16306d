/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "conduct.h"

#include <stdio.h>
#include <time.h>

#include "conduct_unit.h"
#include "environment.h"
#include "host_clock.h"
#include "judge.h"
#include "monitor_idle.h"
#include "quantity.h"
#include "rounds.h"
#include "team.h"
#include "unit_frames.h"

#define MIB (1 << 20)

static const size_t JUDGE_ARENA_BYTES = (size_t)1 << 30;

static uint64_t cooldown_of(const struct plan *plan)
{
    const struct plan_value *const value = plan_option(plan, "cooldown");
    uint64_t ns = 0;

    /* plan_check has tried the value before. */
    if (value == NULL || value->texts_count == 0 ||
        quantity_duration(value->texts[0], &ns, NULL) < 0) {
        return 0;
    }
    return ns;
}

static int32_t cool_down(
    struct conductor *conductor, uint64_t span_ns, struct error *err)
{
    const uint64_t until_ns = host_clock_after(host_clock_ns(), span_ns);
    struct cause cut;

    while (host_clock_ns() < until_ns && !conductor_is_cut(conductor, &cut)) {
        TRY(conductor_wait(conductor,
            until_ns < conductor->budget_end_ns ? until_ns
                                                : conductor->budget_end_ns,
            err));
    }
    return NVBW_OK;
}

/* *worked: 1 if a worker ran for the unit before. */
static int32_t conduct_units(struct conductor *conductor,
    const struct verdicts *before, uint32_t *worked, struct error *err)
{
    const struct evidence *const now = &conductor->rounds.now;
    const uint64_t cooldown_ns = cooldown_of(&now->plan);

    for (uint32_t unit = 0; unit < now->units_count; unit++) {
        if (*worked && cooldown_ns > 0) {
            TRY(cool_down(conductor, cooldown_ns, err));
        }
        TRY(conduct_unit(conductor, unit, before, worked, err));
    }
    return NVBW_OK;
}

/* For another round as long as those before on the average, and one more. */
static int has_room_for_round(const struct conductor *conductor)
{
    const uint64_t room = conductor_journal_room(conductor);

    if (room == UINT64_MAX) {
        return 1;
    }

    const uint64_t rounds = (uint64_t)conductor->rounds.number + 1;

    return 2 * (journal_size(conductor->request->journal) / rounds) < room;
}

static int32_t say_no_room(struct conductor *conductor, struct error *err)
{
    struct event event = { .what = "warning", .unit = -1, .gpu = -1 };
    char text[256];

    snprintf(text, sizeof text,
        "the run ends before its duration: its journal has %.0f MiB of the "
        "%.0f MiB that resume and report read; begin a new run",
        (double)journal_size(conductor->request->journal) / MIB,
        (double)conductor->request->journal_most_bytes / MIB);
    event.text = text;
    return ledger_event(&conductor->ledger, &event, err);
}

static int32_t conduct_planned(struct conductor *conductor,
    const struct verdicts *before, uint32_t *worked, struct error *err)
{
    TRY(conduct_units(conductor, before, worked, err));
    while (rounds_has_next(&conductor->rounds)) {
        TRY(rounds_next(&conductor->rounds, err));
        TRY(conduct_units(conductor, before, worked, err));
    }
    return NVBW_OK;
}

/* A round in which nothing could be measured is not repeated. */
static int32_t conduct_rounds(struct conductor *conductor, struct error *err)
{
    const struct rounds_clock clock = {
        .boot_id = environment_boot_id(conductor->request->arena),
        .now_ns = host_clock_ns(),
        .now = time(NULL),
    };
    const uint64_t end_ns = rounds_end_ns(conductor->request->evidence, &clock);
    uint32_t worked = 0;
    struct cause cut;

    TRY(conduct_planned(conductor, NULL, &worked, err));
    while (host_clock_ns() < end_ns &&
           rounds_has_measured(&conductor->rounds) &&
           !conductor_is_cut(conductor, &cut)) {
        if (!has_room_for_round(conductor)) {
            return say_no_room(conductor, err);
        }
        TRY(rounds_next(&conductor->rounds, err));
        TRY(conduct_units(conductor, NULL, &worked, err));
    }
    return NVBW_OK;
}

/* With rerun_failed the judge says what has to be measured again. */
static int32_t conduct_judged(struct conductor *conductor, struct error *err)
{
    struct arena arena;
    struct verdicts before;
    uint32_t worked = 0;

    if (!conductor->request->rerun_failed) {
        return conduct_rounds(conductor, err);
    }
    arena_init(&arena, JUDGE_ARENA_BYTES);

    int32_t status =
        judge_run(conductor->request->evidence, &arena, &before, err);

    if (status >= 0) {
        status = conduct_planned(conductor, &before, &worked, err);
    }
    arena_clear(&arena);
    return status;
}

static int32_t retire(struct conductor *conductor, struct error *err)
{
    TRY(monitor_last(&conductor->monitor, err));
    if (conductor->crew.signals > 0) {
        conductor_stop_worker(conductor);
    }
    TRY(runner_retire(
        &conductor->runner, &conductor->crew, &conductor->ledger, err));
    return monitor_stop(&conductor->monitor, err);
}

static int32_t write_end(struct conductor *conductor, struct error *err)
{
    const time_t now = time(NULL);
    char text[32];
    struct tm parts;
    const struct event stopped = { .what = "stopped",
        .unit = -1,
        .gpu = -1,
        .text = "the run was stopped by a signal" };
    const struct run_end end = { .ended = text,
        .ended_ns = host_clock_ns(),
        .interrupted = conductor->crew.signals > 0,
        .budget_used = conductor->budget_used };

    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end.interrupted) {
        TRY(ledger_event(&conductor->ledger, &stopped, err));
    }
    TRY(ledger_add(&conductor->ledger, LINE_END, &end, err));
    if (conductor->request->journal != NULL) {
        TRY(journal_flush(conductor->request->journal, err));
    }
    return NVBW_OK;
}

/* The worker that joined the team is the run's only one. */
static void take_team(struct conductor *conductor)
{
    const struct conduct_request *const request = conductor->request;

    team_hand_over(request->team, &conductor->crew, &conductor->runner.worker);
    conductor->crew.signal_fd = request->signal_fd;
    runner_adopt(&conductor->runner, request, unit_frames_take);
}

int32_t conduct_run(const struct conduct_request *request, struct error *err)
{
    struct conductor conductor = { .request = request,
        .budget_end_ns = host_clock_after(host_clock_ns(), request->budget_ns),
        .mpi = request->team != NULL };

    ledger_init(&conductor.ledger, request);
    if (request->team != NULL) {
        take_team(&conductor);
    } else {
        crew_open(&conductor.crew, request->signal_fd);
    }

    int32_t status =
        rounds_open(&conductor.rounds, request, &conductor.ledger, err);

    if (status >= 0) {
        status = monitor_open(&conductor.monitor, request, &conductor.crew,
            &conductor.ledger, err);
    }
    if (status >= 0) {
        status = monitor_start(&conductor.monitor, err);
    }
    if (status >= 0) {
        status = monitor_expect_idle(
            &conductor.monitor, conductor.unfit, sizeof conductor.unfit, err);
    }
    if (status >= 0) {
        status = conduct_judged(&conductor, err);
    }
    if (status >= 0) {
        status = retire(&conductor, err);
    }
    crew_close(&conductor.crew);
    monitor_close(&conductor.monitor);
    if (status >= 0) {
        status = write_end(&conductor, err);
    }

    const int32_t gathered =
        rounds_gather(&conductor.rounds, status < 0 ? NULL : err);

    rounds_close(&conductor.rounds);
    return status < 0 ? status : gathered;
}
