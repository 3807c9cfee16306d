/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "doubts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ceiling.h"
#include "diagnosis.h"
#include "nearest.h"
#include "quantity.h"

/* ---- Causes ------------------------------------------------------------- */

enum { CAUSE_BYTES = 64, SLIPS_MOST = 2 };

/* Of findings that no rule of a diagnosis makes. */
static const char *const other_ids[] = { "driver", "expect", "gpu_unusable",
    "plugin_refused" };

/* What is known of a cause that may be an id. */
struct cause {
    char name[CAUSE_BYTES]; /* as ids are written */
    uint32_t words;
    const char *nearest;
    uint32_t slips;
};

static uint32_t count_words(const char *id)
{
    uint32_t words = 1;

    for (; *id != '\0'; id++) {
        words += *id == '_';
    }
    return words;
}

/* Of as many words, since more of them are words of a sentence. */
static void offer(struct cause *cause, const char *id)
{
    const uint32_t slips = nearest_distance(cause->name, id);

    if (count_words(id) == cause->words && slips < cause->slips) {
        cause->slips = slips;
        cause->nearest = id;
    }
}

static void offer_all(struct cause *cause)
{
    for (size_t i = 0; diagnosis_families[i] != NULL; i++) {
        for (uint32_t j = 0; j < diagnosis_families[i]->count; j++) {
            offer(cause, diagnosis_families[i]->rules[j].id);
        }
    }
    for (size_t i = 0; i < sizeof other_ids / sizeof *other_ids; i++) {
        offer(cause, other_ids[i]);
    }
}

static void doubt_cause(const struct plan_accept *accept, struct problems *out)
{
    struct cause cause = { .slips = UINT32_MAX };
    const size_t length = strlen(accept->cause);

    if (length >= sizeof cause.name) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        const char letter = (char)tolower((unsigned char)accept->cause[i]);

        cause.name[i] = letter;
        if (letter == ' ') {
            cause.name[i] = '_';
        }
    }
    cause.words = count_words(cause.name);
    offer_all(&cause);
    if (cause.nearest != NULL && cause.slips > 0 && cause.slips <= SLIPS_MOST) {
        problem_add(out, accept->origin, 1,
            "\"cause\": no finding is called \"%s\", did you mean \"%s\"",
            accept->cause, cause.nearest);
    }
}

void doubt_causes(const struct plan *plan, struct problems *out)
{
    for (uint32_t i = 0; i < plan->accepts_count; i++) {
        if (plan->accepts[i].cause != NULL) {
            doubt_cause(&plan->accepts[i], out);
        }
    }
}

/* ---- Devices ------------------------------------------------------------ */

static void doubt_number(const struct facts *facts, const char *what,
    const char *number, struct origin origin, struct problems *out)
{
    if (*number != '\0' && number[strspn(number, "0123456789")] == '\0' &&
        facts_find_gpu(facts, number) < 0) {
        problem_add(out, origin, 1,
            "%s: there is no GPU %s here, this machine has %u", what, number,
            (unsigned)facts->gpus_count);
    }
}

static void doubt_pair(const struct facts *facts,
    const struct plan_accept *accept, struct problems *out)
{
    const size_t first = strcspn(accept->pair, "-");
    char one[16];

    if (first >= sizeof one || accept->pair[first] == '\0') {
        return;
    }
    memcpy(one, accept->pair, first);
    one[first] = '\0';
    doubt_number(facts, "\"pair\"", one, accept->origin, out);
    doubt_number(
        facts, "\"pair\"", accept->pair + first + 1, accept->origin, out);
}

void doubt_devices(
    const struct plan *plan, const struct facts *facts, struct problems *out)
{
    for (uint32_t i = 0; facts->gpus_count > 0 && i < plan->accepts_count;
         i++) {
        const struct plan_accept *const accept = &plan->accepts[i];

        if (accept->device != NULL) {
            doubt_number(
                facts, "\"device\"", accept->device, accept->origin, out);
        }
        if (accept->pair != NULL) {
            doubt_pair(facts, accept, out);
        }
    }
}

/* ---- Limits ------------------------------------------------------------- */

/* As of limits in percent of the link. */
static const double least_plausible = 0.2;
static const double most_plausible = 1.0;

/* An absolute limit, and the narrowest link of the cells that it binds. */
struct bound_limit {
    const struct verdict *verdict; /* the first of them */
    struct ceiling link;
};

static int is_absolute(const struct verdict *verdict)
{
    enum limit_base base = LIMIT_ABSOLUTE;
    double value = 0;
    uint32_t unit = 0;

    return verdict->limit_text != NULL && !isnan(verdict->limit) &&
           !verdict->limit_is_max && verdict->record != NULL &&
           quantity_limit(verdict->limit_text, &base, &value, &unit, NULL) >=
               0 &&
           base == LIMIT_ABSOLUTE && unit == NVBW_UNIT_BYTES_PER_SECOND;
}

static int is_same_limit(const struct verdict *one, const struct verdict *other)
{
    return one->limit_origin.line == other->limit_origin.line &&
           one->limit == other->limit && one->limit_origin.file != NULL &&
           other->limit_origin.file != NULL &&
           strcmp(one->limit_origin.file, other->limit_origin.file) == 0;
}

static struct bound_limit *find_limit(
    struct bound_limit *list, uint32_t count, const struct verdict *verdict)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_same_limit(list[i].verdict, verdict)) {
            return &list[i];
        }
    }
    return NULL;
}

static int32_t add_limit(struct arena *arena, struct bound_limit **list,
    uint32_t *count, const struct verdict *verdict,
    const struct ceiling *ceiling, struct error *err)
{
    struct bound_limit *const known = find_limit(*list, *count, verdict);

    if (known == NULL) {
        *list = arena_append(arena, *list, count, sizeof **list);
        FAIL_IF(*list == NULL, err, NVBW_E_SYSTEM, "no memory for limits");
        (*list)[*count - 1] = (struct bound_limit){ verdict, *ceiling };
    } else if (ceiling->rate < known->link.rate) {
        known->link = *ceiling;
    }
    return NVBW_OK;
}

/* Low is what is low for the narrowest: of many kinds of cells that one limit
 * binds the fastest may have it easy. */
static void doubt_limit(const struct bound_limit *limit, struct problems *out)
{
    const struct verdict *const verdict = limit->verdict;
    const struct ceiling *const link = &limit->link;
    const int is_high = verdict->limit > most_plausible * link->rate;
    const int is_low = verdict->limit < least_plausible * link->rate;

    if (is_high || is_low) {
        problem_add(out, verdict->limit_origin, 1,
            "limit \"%s\" is not plausible, it is %.3g %% of the link: %s; %s",
            verdict->limit_text, 100.0 * verdict->limit / link->rate,
            link->formula,
            is_high ? "no link carries more than it can"
                    : "a link at that speed needs triage");
    }
}

int32_t doubt_limits(const struct evidence *evidence,
    const struct verdicts *verdicts, struct problems *out, struct error *err)
{
    struct bound_limit *list = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < verdicts->count; i++) {
        const struct verdict *const verdict = &verdicts->list[i];
        struct ceiling ceiling;

        if (!is_absolute(verdict)) {
            continue;
        }
        ceiling_of_record(
            &evidence->facts, verdict->record, CEILING_EXPECTED, &ceiling);
        if (!isnan(ceiling.rate) && ceiling.rate > 0) {
            TRY(add_limit(out->arena, &list, &count, verdict, &ceiling, err));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        doubt_limit(&list[i], out);
    }
    return NVBW_OK;
}
