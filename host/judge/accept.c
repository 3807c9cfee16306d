/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "accept.h"

#include <ctype.h>
#include <string.h>

#include "limit.h"

enum { DAY_LENGTH = 10, WORD_BYTES = 64 };

/* One entry at work on the verdicts. */
struct applying {
    const struct judging *judging;
    struct verdicts *out;
    struct acceptance *acceptance;
    uint8_t *has_cause;   /* per GPU: a covered finding is about it */
    int is_whole_machine; /* 1: a covered finding is about no one GPU */
};

/* Of its findings. No cause is looked for in them: they repeat reasons. */
static const char ended_id[] = "accept_ended";

static int has_ended(const struct plan_accept *accept, const char *day)
{
    return accept->until != NULL && day != NULL &&
           strncmp(day, accept->until, DAY_LENGTH) > 0;
}

/* ---- findings ---- */

/* 1 if the text goes on to the left or right of a word: letters and digits do,
 * and a point within a figure. */
static int is_within(const char *text, const char *at, size_t length)
{
    const char *const end = at + length;
    const int left =
        at > text &&
        (isalnum((unsigned char)at[-1]) ||
            (at[-1] == '.' && at - 1 > text && isdigit((unsigned char)at[-2])));
    const int right = isalnum((unsigned char)end[0]) ||
                      (end[0] == '.' && isdigit((unsigned char)end[1]));

    return left || right;
}

/* A number must stand by itself: "GPU 1" is neither GPU 10 nor x16. Letters may
 * be part of a longer word. */
static int has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    const int is_number = strcspn(word, "0123456789") < length;
    const char *at = strcasestr(text, word);

    while (at != NULL && is_number && is_within(text, at, length)) {
        at = strcasestr(at + 1, word);
    }
    return at != NULL;
}

/* "pcie width" is in "expected pcie_width 16, GPU 5 has 8": every word. */
static int has_words(const char *text, const char *words)
{
    while (*words != '\0') {
        const size_t length = strcspn(words, " ");
        char word[WORD_BYTES];

        if (length >= sizeof word) {
            return 0;
        }
        memcpy(word, words, length);
        word[length] = '\0';
        if (!has_word(text, word)) {
            return 0;
        }
        words += length + (words[length] == ' ');
    }
    return 1;
}

/* A pair is written in the machine's numbers. */
static int is_of_finding(const struct plan_accept *accept,
    const struct facts *facts, const struct finding *finding)
{
    const int32_t at[2] = { finding->gpu, finding->peer };
    int32_t devices[2] = { -1, -1 };
    uint32_t count = 0;
    int is_device = accept->device == NULL;

    for (int i = 0; i < 2; i++) {
        if (at[i] >= 0 && (uint32_t)at[i] < facts->gpus_count) {
            devices[count++] = facts->gpus[at[i]].index;
            is_device |= accept->device != NULL &&
                         facts_find_gpu(facts, accept->device) == at[i];
        }
    }
    return is_device && limit_matches_pair(accept->pair, devices, count);
}

static int covers_finding(const struct plan_accept *accept,
    const struct facts *facts, const struct finding *finding)
{
    return accept->cause != NULL && finding->what != NULL &&
           strcmp(finding->id, ended_id) != 0 &&
           (strcmp(accept->cause, finding->id) == 0 ||
               has_words(finding->what, accept->cause)) &&
           is_of_finding(accept, facts, finding);
}

const struct plan_accept *accept_find(const struct plan *plan,
    const struct facts *facts, const char *day, const struct finding *finding)
{
    for (uint32_t i = 0; i < plan->accepts_count; i++) {
        const struct plan_accept *const accept = &plan->accepts[i];

        if (!has_ended(accept, day) && covers_finding(accept, facts, finding)) {
            return accept;
        }
    }
    return NULL;
}

/* ---- cells ---- */

static int has_device(const struct facts *facts, const char *device,
    const int32_t *devices, uint32_t count)
{
    const int32_t at = facts_find_gpu(facts, device);

    for (uint32_t i = 0; at >= 0 && i < count; i++) {
        if (devices[i] == facts->gpus[at].index) {
            return 1;
        }
    }
    return 0;
}

/* A cause that names a link speaks of cells that cross it: a GPU in a narrow
 * slot is no excuse for its NVLinks. */
static int is_of_link(const struct facts *facts,
    const struct plan_accept *accept, const struct record *record)
{
    struct traffic traffic = { 0 };
    int is_named = 0;

    if (accept->cause == NULL || record == NULL) {
        return 1;
    }
    traffic_of_record(facts, record, &traffic);
    for (const struct name *link = link_names; link->name != NULL; link++) {
        if (link->number != LINK_NONE &&
            strcasestr(accept->cause, link->name) != NULL) {
            is_named = 1;
            if (link->number == traffic.link) {
                return 1;
            }
        }
    }
    return !is_named;
}

/* An entry that only has a cause speaks of findings. */
static int speaks_of_cells(const struct plan_accept *accept)
{
    return accept->match != NULL || accept->device != NULL ||
           accept->pair != NULL;
}

/* With a cause only cells of what the cause was found on: the same limit missed
 * elsewhere is news. */
static int is_of_cause(
    const struct applying *applying, const int32_t *devices, uint32_t count)
{
    const struct facts *const facts = &applying->judging->evidence->facts;

    if (applying->acceptance->entry->cause == NULL ||
        applying->is_whole_machine) {
        return 1;
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        for (uint32_t j = 0; applying->has_cause[i] && j < count; j++) {
            if (devices[j] == facts->gpus[i].index) {
                return 1;
            }
        }
    }
    return 0;
}

static int covers_cell(
    const struct applying *applying, const struct verdict *verdict)
{
    const struct plan_accept *const accept = applying->acceptance->entry;
    const struct evidence *const evidence = applying->judging->evidence;
    const struct facts *const facts = &evidence->facts;
    const struct unit *const unit = &evidence->units[verdict->unit];
    struct cell_place place = { 0 };
    int32_t devices[2] = { 0 };

    if (!speaks_of_cells(accept) ||
        !unit_cell_at(unit, verdict->cell, &place) ||
        !limit_matches_name(accept->match, unit->testcase, verdict->metric)) {
        return 0;
    }

    const uint32_t count = cell_devices(
        facts, unit, &unit->shapes[place.shape], place.row, place.col, devices);

    return (accept->device == NULL ||
               has_device(facts, accept->device, devices, count)) &&
           limit_matches_pair(accept->pair, devices, count) &&
           is_of_cause(applying, devices, count) &&
           is_of_link(facts, accept, verdict->record);
}

/* ---- all ---- */

static void mark_cause(
    const struct applying *applying, const struct finding *finding)
{
    const uint32_t count = applying->judging->evidence->facts.gpus_count;
    const int32_t at[2] = { finding->gpu, finding->peer };

    for (int i = 0; i < 2; i++) {
        if (at[i] >= 0 && (uint32_t)at[i] < count) {
            applying->has_cause[at[i]] = 1;
        }
    }
}

static void mark_findings(struct applying *applying)
{
    const struct facts *const facts = &applying->judging->evidence->facts;
    struct acceptance *const acceptance = applying->acceptance;

    memset(applying->has_cause, 0, facts->gpus_count);
    applying->is_whole_machine = 0;
    for (uint32_t i = 0; i < applying->out->findings_count; i++) {
        struct finding *const finding = &applying->out->findings[i];

        if (!covers_finding(acceptance->entry, facts, finding)) {
            continue;
        }
        acceptance->findings++;
        mark_cause(applying, finding);
        applying->is_whole_machine |= finding->gpu < 0;
        if (!acceptance->ended) {
            finding->accepted = 1;
            finding->exit_code = EXIT_PASSED;
        }
    }
}

static void mark_cells(const struct applying *applying)
{
    struct acceptance *const acceptance = applying->acceptance;
    struct verdicts *const out = applying->out;

    for (uint32_t i = 0; i < out->count; i++) {
        struct verdict *const verdict = &out->list[i];

        if (verdict->state != STATE_FAIL || verdict->accept != NULL ||
            !covers_cell(applying, verdict)) {
            continue;
        }
        acceptance->cells++;
        if (!acceptance->ended) {
            verdict->accept = acceptance->entry;
            verdict->exit_code = EXIT_PASSED;
            out->accepted_count++;
        }
    }
}

/* An acceptance that has ended asks for nothing itself: what it covered does
 * again. */
static int32_t tell_end(const struct judging *judging, struct verdicts *out,
    const struct acceptance *acceptance)
{
    const struct plan_accept *const entry = acceptance->entry;
    struct finding *const list = arena_append(
        judging->arena, out->findings, &out->findings_count, sizeof *list);
    const char *const what =
        arena_format(judging->arena, "the acceptance at %s:%u ended on %s: %s",
            entry->origin.file == NULL ? "?" : entry->origin.file,
            (unsigned)entry->origin.line, entry->until,
            entry->why == NULL ? "" : entry->why);

    FAIL_IF(list == NULL || what == NULL, judging->err, NVBW_E_SYSTEM,
        "no memory to judge");
    out->findings = list;
    list[out->findings_count - 1] = (struct finding){ .id = ended_id,
        .gpu = -1,
        .peer = -1,
        .what = what,
        .action = "mend the defect, or write a later day and why" };
    return NVBW_OK;
}

int32_t accept_apply(const struct judging *judging, struct verdicts *out)
{
    const struct evidence *const evidence = judging->evidence;
    const uint32_t count = evidence->plan.accepts_count;
    struct acceptance *const list =
        arena_alloc(judging->arena, (size_t)count + 1, sizeof *list);
    struct applying applying = { .judging = judging, .out = out };

    applying.has_cause =
        arena_alloc(judging->arena, (size_t)evidence->facts.gpus_count + 1, 1);
    FAIL_IF(list == NULL || applying.has_cause == NULL, judging->err,
        NVBW_E_SYSTEM, "no memory to judge");
    out->acceptances = list;
    out->acceptances_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct acceptance *const acceptance = &list[i];

        acceptance->entry = &evidence->plan.accepts[i];
        acceptance->ended =
            (uint32_t)has_ended(acceptance->entry, evidence->header.started);
        applying.acceptance = acceptance;
        mark_findings(&applying);
        mark_cells(&applying);
        if (acceptance->ended) {
            TRY(tell_end(judging, out, acceptance));
        }
    }
    return NVBW_OK;
}
