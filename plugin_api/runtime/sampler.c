/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sampler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "state.h"
#include "stats.h"
#include "wire.h"

#define SAMPLE_SECONDS 0.004 /* below, fixed costs show in the figure */
#define PILOT_AGREE    0.01
#define BACKGROUND_UP  1.5
#define DRIFT_FLAGGED  0.01

enum {
    PILOTS = 5,  /* until two agree */
    SIZINGS = 3, /* a cold first sample makes the count too small */
    PLACEMENTS = 3,
    UNCOVERED_MOST = 3, /* times that the background is raised */
    UNWATCHED_MOST = 5,
    THROTTLED_MOST = 2 /* looks in a row whose samples do not count */
};

/* One run of the sampler. */
struct sampling {
    struct session *session;
    uint64_t copies;
    double background;
    double sized_seconds; /* of a sample of the final size, or NaN */
    struct sample sample;
    uint32_t discarded;
    uint32_t bad_in_a_row[SAMPLE_SERIALISED + 1];
    uint32_t samples_room;
    uint32_t is_read;   /* 1: the sample to come is to be read while it runs */
    uint32_t throttled; /* 1: clocks were held down since the last look */
    uint32_t throttled_looks;
    char throttled_text[256];
};

uint32_t sampler_next_look(uint32_t count, uint32_t least, uint32_t most)
{
    const uint32_t looks[] = { 8, 12, 15, most };

    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        uint32_t look = looks[i] < least ? least : looks[i];

        look = look > most ? most : look;
        if (look > count) {
            return look;
        }
    }
    return 0;
}

uint64_t sampler_copies(
    double seconds, uint64_t copies, uint64_t least, uint64_t limit)
{
    const double each = seconds / (double)copies;
    const double wanted =
        each > 0.0 ? ceil(SAMPLE_SECONDS / each) : (double)limit;

    if (wanted >= (double)limit) {
        return limit;
    }
    return wanted <= (double)least ? least : (uint64_t)wanted;
}

double sampler_value(uint32_t unit, const struct sample_figure *figure)
{
    if (unit == NVBW_UNIT_NANOSECONDS) {
        return figure->seconds * 1e9 / figure->amount;
    }
    return figure->amount / figure->seconds;
}

static int all_settled(const struct session *session)
{
    for (uint32_t i = 0; i < session->targets_count; i++) {
        if (session->targets[i].record->state == STATE_NONE) {
            return 0;
        }
    }
    return 1;
}

static void read_gpus(struct sampling *run, uint32_t kind)
{
    const struct measure_request *const request = run->session->request;

    if (request->read != NULL) {
        request->read(request->user, kind);
    }
}

/* No timed interval begins before what was asked for has been read. */
static void await_reading(struct sampling *run)
{
    const struct measure_request *const request = run->session->request;

    if (request->await_reading != NULL &&
        request->await_reading(
            request->user, run->throttled_text, sizeof run->throttled_text)) {
        run->throttled = 1;
    }
}

static int is_cancelled(const struct session *session)
{
    const struct measure_request *const request = session->request;

    return request->cancelled != NULL && request->cancelled(request->user);
}

/* With less memory than wished a sample has fewer copies; the flag `short`
 * tells where that shows. */
static int32_t prepare(struct sampling *run, struct error *err)
{
    struct session *const session = run->session;
    int32_t status =
        session->backend->prepare(session, run->copies, run->background, err);

    while (status == NVBW_E_SKIPPED && err->code == NVBW_SKIP_MEMORY &&
           run->copies > 1 && !session->params.fixed) {
        run->copies /= 2;
        session->copies_limit = run->copies;
        status = session->backend->prepare(
            session, run->copies, run->background, err);
    }
    return status;
}

/* What a sample that cannot count leads to: how many of them in a row end the
 * measurement, and how. */
static const struct bad_sample {
    uint32_t most;
    uint32_t state;
    const char *code, *text;
    uint32_t tells_gap; /* 1: clock_gap_ns is added to the text */
} bad_samples[] = {
    [SAMPLE_GATE_TIMEOUT] = { 2, STATE_ERROR, "gate_timeout",
        "the gate opened by its own timeout, twice in a row: work behind it "
        "took too long to queue or a stream did not advance" },
    [SAMPLE_UNCOVERED] = { UNCOVERED_MOST + 1, STATE_INVALID,
        "interference_missing",
        "the background traffic ended or stood still while the measured "
        "traffic ran, also after it was raised three times" },
    [SAMPLE_CLOCK] = { 2, STATE_INVALID, "clock",
        "host clock and GPU clock disagree on how long a sample took, twice "
        "in a row",
        1 },
    [SAMPLE_UNWATCHED] = { UNWATCHED_MOST, STATE_INVALID, "clock",
        "the host lost its CPU while it should have timed a sample, five times "
        "in a row: give it a CPU of its own, or see who takes it (steal time "
        "of a virtual machine)",
        1 },
    [SAMPLE_SERIALISED] = { 2, STATE_INVALID, "serialised",
        "flows that should run together ran one after another, twice in a "
        "row" },
};

static void settle_bad(
    struct session *session, const struct bad_sample *bad, double gap_ns)
{
    struct error err = { 0 };

    snprintf(err.text, sizeof err.text, "%s", bad->text);
    if (bad->tells_gap) {
        snprintf(err.text, sizeof err.text, "%s (by %.0f us)", bad->text,
            gap_ns / 1e3);
    }
    settle_session(session, bad->state, bad->code, &err);
}

/* One sample that counts, repeating those that do not; where the targets are
 * settled afterwards there is none. */
static int32_t take(struct sampling *run, struct error *err)
{
    struct session *const session = run->session;
    struct sample *const sample = &run->sample;

    memset(run->bad_in_a_row, 0, sizeof run->bad_in_a_row);
    for (;;) {
        FAIL_IF(is_cancelled(session), err, NVBW_E_CANCELLED,
            "the host asked to stop");
        sample->state = SAMPLE_GOOD;
        sample->seconds = 0.0;
        sample->clock_gap_ns = NAN;
        sample->cover_margin = NAN;
        if (!run->is_read) {
            await_reading(run);
        }
        TRY(session->backend->sample(session, sample, err));
        if (sample->state == SAMPLE_GOOD) {
            return NVBW_OK;
        }

        const struct bad_sample *const bad = &bad_samples[sample->state];

        run->discarded++;
        if (++run->bad_in_a_row[sample->state] >= bad->most) {
            settle_bad(session, bad, sample->clock_gap_ns);
            return NVBW_OK;
        }
        if (sample->state == SAMPLE_UNCOVERED) {
            run->background *= BACKGROUND_UP;
            TRY(prepare(run, err));
        }
    }
}

/* Sizes the sample: the least copies first, then as many as last long
 * enough. */
static int32_t size_sample(struct sampling *run, struct error *err)
{
    struct session *const session = run->session;

    run->copies = session->copies_least;
    for (uint32_t i = 0; i < SIZINGS; i++) {
        TRY(prepare(run, err));
        TRY(take(run, err));
        if (all_settled(session)) {
            return NVBW_OK;
        }

        const uint64_t copies = sampler_copies(run->sample.seconds, run->copies,
            session->copies_least, session->copies_limit);

        if (copies <= run->copies) {
            run->sized_seconds = run->sample.seconds;
            return NVBW_OK;
        }
        run->copies = copies;
    }
    return prepare(run, err);
}

static void set_pilot_spread(struct session *session, double spread)
{
    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        record->pilot_spread = spread;
        if (!(spread <= PILOT_AGREE)) {
            settle_flag(session->arena, record, "unsettled");
        }
    }
}

/* Repeats the sized sample until clocks and links are awake. */
static int32_t settle_clocks(struct sampling *run, struct error *err)
{
    double last = run->sized_seconds;
    double spread = NAN;

    for (uint32_t i = 0; i < PILOTS; i++) {
        if (i == 0) {
            read_gpus(run, READ_LOAD);
            run->is_read = 1;
        }

        const int32_t status = take(run, err);

        run->is_read = 0;
        TRY(status);
        if (all_settled(run->session)) {
            return NVBW_OK;
        }

        const double seconds = run->sample.seconds;

        spread = fabs(seconds - last) / fmax(seconds, last);
        if (spread <= PILOT_AGREE) {
            break;
        }
        last = seconds;
    }
    set_pilot_spread(run->session, spread);
    return NVBW_OK;
}

static int32_t pilot(struct sampling *run, struct error *err)
{
    struct session *const session = run->session;

    if (session->params.fixed) {
        run->copies = session->params.copies;
        return prepare(run, err);
    }
    TRY(size_sample(run, err));
    if (all_settled(session)) {
        return NVBW_OK;
    }
    return settle_clocks(run, err);
}

static double worse(double one, double other)
{
    return isnan(one) ? other : fmax(one, other);
}

static void keep(struct sampling *run)
{
    struct session *const session = run->session;
    const struct sample *const sample = &run->sample;

    for (uint32_t i = 0; i < session->targets_count; i++) {
        const struct target *const target = &session->targets[i];
        struct record *const record = target->record;

        if (record->state != STATE_NONE ||
            record->samples_count >= run->samples_room) {
            continue;
        }
        record->samples[record->samples_count++] =
            sampler_value(target->unit, &sample->figures[i]);
        record->clock_gap_ns =
            worse(record->clock_gap_ns, sample->clock_gap_ns);
        record->cover_margin =
            isnan(record->cover_margin)
                ? sample->cover_margin
                : fmin(record->cover_margin, sample->cover_margin);
        if (sample->seconds < SAMPLE_SECONDS) {
            settle_flag(session->arena, record, "short");
        }
    }
}

static void settle_mismatches(struct session *session)
{
    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;
        const char *const ranks = session->targets[i].found_by;
        struct error err = { 0 };

        if (record->mismatches == 0) {
            continue;
        }
        snprintf(err.text, sizeof err.text,
            "%llu wrong words%s%s, the first at byte %llu of its copy: "
            "expected %#018llx, found %#018llx",
            (unsigned long long)record->mismatches,
            ranks != NULL ? " in the memory of rank " : "",
            ranks != NULL ? ranks : "",
            (unsigned long long)record->mismatch_offset,
            (unsigned long long)record->mismatch_expected,
            (unsigned long long)record->mismatch_actual);
        settle_record(
            session->arena, record, STATE_MISMATCH, "wrong_data", &err);
    }
}

static double precision_of(const struct session *session)
{
    return session->contended ? session->params.precision_contended
                              : session->params.precision;
}

static int is_precise(const struct session *session)
{
    const double precision = precision_of(session);

    for (uint32_t i = 0; i < session->targets_count; i++) {
        const struct record *const record = session->targets[i].record;
        struct stats stats;

        if (record->state != STATE_NONE) {
            continue;
        }
        stats_of(record->samples, record->samples_count, &stats);
        if (!(stats_half_width(&stats) <= precision)) {
            return 0;
        }
    }
    return 1;
}

/* Samples wanted at least and at most. Interference scatters, and more
 * samples of it do not make it calmer: such cells stop at the least count. */
static void bounds(
    const struct session *session, uint32_t *out_least, uint32_t *out_most)
{
    const struct measure_params *const params = &session->params;
    const uint32_t least = params->min_samples > 0 ? params->min_samples : 1;
    const uint32_t most =
        params->max_samples < least ? least : params->max_samples;

    *out_least = least;
    *out_most = most;
    if (params->fixed) {
        *out_least = *out_most = params->samples > 0 ? params->samples : 1;
    } else if (session->contended) {
        *out_most = least > 8 ? least : (most < 8 ? most : 8);
    }
}

static int32_t make_room(struct sampling *run, uint32_t most, struct error *err)
{
    struct session *const session = run->session;

    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        record->samples =
            arena_alloc(session->arena, most, sizeof *record->samples);
        FAIL_IF(record->samples == NULL, err, NVBW_E_SYSTEM,
            "no memory for %u samples", most);
        record->precision = session->params.fixed ? NAN : precision_of(session);
    }
    run->samples_room = most;
    run->sample.figures = arena_alloc(session->arena,
        session->targets_count + 1, sizeof *run->sample.figures);
    FAIL_IF(run->sample.figures == NULL, err, NVBW_E_SYSTEM,
        "no memory for the figures of a sample");
    return NVBW_OK;
}

/* The samples that are sure to be taken are spread over three placements. */
static void move(struct session *session, uint32_t count, uint32_t least)
{
    const uint32_t each = least / PLACEMENTS > 0 ? least / PLACEMENTS : 1;

    if (session->backend->move != NULL && count > 0 && count % each == 0) {
        session->backend->move(session);
    }
}

/* What was measured since `clean` samples were there was measured with clocks
 * held down: it is measured again, and counts for nothing the second time. */
static uint32_t drop_throttled(
    struct sampling *run, uint32_t clean, uint32_t count)
{
    struct session *const session = run->session;
    struct error err = { 0 };

    run->throttled = 0;
    if (++run->throttled_looks >= THROTTLED_MOST) {
        snprintf(err.text, sizeof err.text, "%s", run->throttled_text);
        settle_session(session, STATE_INVALID, "throttled", &err);
        return count;
    }
    run->discarded += count - clean;
    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        if (record->state == STATE_NONE && record->samples_count > clean) {
            record->samples_count = clean;
        }
    }
    return clean;
}

/* One sample that is kept, with its bytes compared. */
static int32_t take_kept(struct sampling *run, uint32_t kind, struct error *err)
{
    struct session *const session = run->session;

    TRY(take(run, err));
    if (all_settled(session)) {
        return NVBW_OK;
    }
    keep(run);
    read_gpus(run, kind);
    if (session->params.verify) {
        TRY(session->backend->verify(session, err));
        settle_mismatches(session);
    }
    if (session->request->between_samples != NULL) {
        session->request->between_samples(session->request->user);
    }
    return NVBW_OK;
}

static int32_t measure(
    struct sampling *run, uint32_t least, uint32_t most, struct error *err)
{
    struct session *const session = run->session;
    uint32_t count = 0;
    uint32_t clean = 0; /* samples at the last look with free clocks */

    await_reading(run);
    run->throttled = 0;
    for (uint32_t look = sampler_next_look(0, least, most); look != 0;
         look = sampler_next_look(count, least, most)) {
        for (; count < look; count++) {
            move(session, count, least);
            TRY(take_kept(run, count + 1 == look ? READ_LOOK : READ_POLL, err));
            if (all_settled(session)) {
                return NVBW_OK;
            }
        }
        await_reading(run);
        if (run->throttled) {
            count = drop_throttled(run, clean, count);
            if (all_settled(session)) {
                return NVBW_OK;
            }
            continue;
        }
        clean = count;
        run->throttled_looks = 0;
        if (!session->params.fixed && is_precise(session)) {
            return NVBW_OK;
        }
    }
    return NVBW_OK;
}

static void flag_statistics(struct session *session, struct record *record)
{
    struct stats stats;

    stats_of(record->samples, record->samples_count, &stats);
    if (!session->params.fixed &&
        !(stats_half_width(&stats) <= precision_of(session))) {
        settle_flag(session->arena, record, "imprecise");
    }
    if (fabs(stats.drift) > fmax(DRIFT_FLAGGED, 2.0 * precision_of(session))) {
        settle_flag(session->arena, record, "drift");
    }
}

static void finish(struct sampling *run)
{
    struct session *const session = run->session;

    for (uint32_t i = 0; i < session->targets_count; i++) {
        struct record *const record = session->targets[i].record;

        record->discarded = run->discarded;
        if (record->state == STATE_NONE && record->samples_count > 0) {
            flag_statistics(session, record);
        }
    }
    settle_session(session, STATE_MEASURED, NULL, NULL);
}

static int32_t run_opened(struct sampling *run, struct error *err)
{
    uint32_t least;
    uint32_t most;

    bounds(run->session, &least, &most);
    TRY(make_room(run, most, err));
    TRY(pilot(run, err));
    if (!all_settled(run->session)) {
        TRY(measure(run, least, most, err));
    }
    finish(run);
    return NVBW_OK;
}

int32_t sampler_run(struct session *session, struct error *err)
{
    struct sampling run = {
        .session = session, .background = 1.0, .sized_seconds = NAN
    };
    struct error local = { 0 };
    struct error *const told = err != NULL ? err : &local;

    session->copies_least = 4;
    session->copies_limit = 200;

    int32_t status = session->backend->open(session, told);

    if (status >= 0) {
        status = run_opened(&run, told);
        session->backend->close(session);
    }
    if (status == NVBW_E_CANCELLED) {
        return status;
    }
    if (status < 0) {
        settle_failed(session, told);
    }
    return NVBW_OK;
}
