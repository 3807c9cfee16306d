/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "suspects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic_class.h"

enum { CLASS_LEAST = 3 };

/* One figure that can be compared. */
struct seen {
    const struct verdict *verdict;
    const char *testcase;
    struct traffic traffic;
    enum aspect aspect;
    int32_t from, to; /* GPUs, -1: the host */
    const char *path; /* of a PCIe peer */
    const char *model;
};

struct search {
    const struct judging *judging;
    const struct facts *facts;
    struct suspects *out;
    struct seen *seen; /* in order of cells, so a unit's stand together */
    uint32_t count;
    uint8_t *is_done; /* per seen: its class was looked at */
    uint32_t *members;
    double *figures;
};

/* ---- which figures count ---- */

/* Huge pages are pageable memory, which the driver copies by a CPU; CPUs
 * themselves have in them the steadiest there is. */
static int is_steady_memory(uint32_t memory, const struct flow_path *path)
{
    return memory == NVBW_MEM_NONE || memory == NVBW_MEM_PINNED ||
           memory == NVBW_MEM_DEVICE || memory == NVBW_MEM_VMM ||
           memory == NVBW_MEM_FABRIC ||
           (memory == NVBW_MEM_HUGE_PAGE && path->direction == FLOW_HOST);
}

/* A processor's cache is no slower than the link behind it, so only what a
 * GPU's cache answered is left away. */
static int has_noise(const struct record *record, const struct flow_path *path)
{
    const int is_host =
        path->direction == FLOW_H2D || path->direction == FLOW_D2H;
    static const char *const noises[] = { "unsettled", "imprecise", "staged",
        "half", "coarse", "cache_bound" };
    const size_t count = sizeof noises / sizeof noises[0] - (is_host ? 1 : 0);

    for (uint32_t i = 0; i < record->flags_count; i++) {
        /* What was measured beside it may share a bridge with it; an NVLink it
         * cannot share. */
        if (path->link != LINK_NVLINK &&
            strcmp(record->flags[i], "concurrent") == 0) {
            return 1;
        }
        for (size_t j = 0; j < count; j++) {
            if (strcmp(record->flags[i], noises[j]) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* The way of all counted flows, if they have one and the same. */
static int counted_path(const struct facts *facts, const struct record *record,
    struct flow_path *out)
{
    uint32_t counted = 0;

    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_record *const flow = &record->flows[i];
        const struct flow_path path = flow_path_of(facts, flow);

        if (!flow->counted) {
            continue;
        }
        if (!is_steady_memory(flow->src_memory, &path) ||
            !is_steady_memory(flow->dst_memory, &path) ||
            (flow->flags & NVBW_FLOW_STAGED) != 0 ||
            flow->operation == NVBW_OP_SPLIT ||
            (counted > 0 && (path.from != out->from || path.to != out->to))) {
            return 0;
        }
        *out = path;
        counted++;
    }
    return counted > 0;
}

static int aspect_of(const struct traffic *traffic,
    const struct flow_path *path, enum aspect *out)
{
    const int by_engine = traffic->initiator == NVBW_BY_CE;

    if (traffic->initiator == NVBW_BY_CPU) {
        return 0;
    }
    switch (path->direction) {
    case FLOW_H2D:
    case FLOW_D2H:
        *out = by_engine ? ASPECT_HOST : ASPECT_HOST_SM;
        if (traffic->load == LOAD_SHARED && by_engine) {
            *out = ASPECT_CROWD;
            return 1;
        }
        break;
    case FLOW_PEER:
        *out = by_engine ? ASPECT_PEER : ASPECT_PEER_SM;
        break;
    case FLOW_LOCAL:
        *out = ASPECT_LOCAL;
        break;
    default:
        return 0;
    }
    return traffic->load == LOAD_ALONE;
}

static const struct unit_shape *shape_of(
    const struct unit *unit, const char *metric)
{
    for (uint32_t i = 0; i < unit->shapes_count; i++) {
        if (metric != NULL && strcmp(unit->shapes[i].metric, metric) == 0) {
            return &unit->shapes[i];
        }
    }
    return NULL;
}

static int see(const struct search *search, const struct verdict *verdict,
    struct seen *out)
{
    const struct facts *const facts = search->facts;
    const struct unit *const unit =
        &search->judging->evidence->units[verdict->unit];
    const struct unit_shape *const shape = shape_of(unit, verdict->metric);
    const struct record *const record = verdict->record;
    struct flow_path path = { .from = -1, .to = -1 };

    if (record == NULL || shape == NULL || record->state != STATE_MEASURED ||
        !(verdict->figure > 0.0) || shape->derived ||
        shape->unit != NVBW_UNIT_BYTES_PER_SECOND ||
        record->copy_bytes < SUSPECT_COPY_BYTES ||
        !counted_path(facts, record, &path) || has_noise(record, &path)) {
        return 0;
    }
    *out = (struct seen){ .verdict = verdict,
        .testcase = unit->testcase,
        .from = path.from,
        .to = path.to };
    traffic_of_record(facts, record, &out->traffic);
    if (path.direction == FLOW_PEER && path.link == LINK_PCIE) {
        const struct pair_facts *const pair =
            facts_pair(facts, (uint32_t)path.from, (uint32_t)path.to);

        out->path = pair == NULL ? NULL : pair->path;
    }
    if (!aspect_of(&out->traffic, &path, &out->aspect)) {
        return 0;
    }
    out->model = facts->gpus[path.from >= 0 ? path.from : path.to].name;
    return 1;
}

static int32_t collect(struct search *search, const struct verdicts *verdicts)
{
    struct arena *const arena = search->judging->arena;

    search->seen = arena_alloc(arena, verdicts->count, sizeof *search->seen);
    search->is_done =
        arena_alloc(arena, verdicts->count, sizeof *search->is_done);
    search->members =
        arena_alloc(arena, verdicts->count, sizeof *search->members);
    search->figures =
        arena_alloc(arena, verdicts->count, sizeof *search->figures);
    FAIL_IF(search->seen == NULL || search->is_done == NULL ||
                search->members == NULL || search->figures == NULL,
        search->judging->err, NVBW_E_SYSTEM, "no memory to diagnose");
    for (uint32_t i = 0; i < verdicts->count; i++) {
        search->count +=
            see(search, &verdicts->list[i], &search->seen[search->count]) ? 1
                                                                          : 0;
    }
    return NVBW_OK;
}

/* ---- siblings ---- */

static int is_same(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static int is_sibling(const struct seen *one, const struct seen *other)
{
    return traffic_equal(&one->traffic, &other->traffic) &&
           is_same(one->verdict->metric, other->verdict->metric) &&
           is_same(one->path, other->path) && is_same(one->model, other->model);
}

static uint32_t gather(struct search *search, uint32_t first)
{
    const struct seen *const head = &search->seen[first];
    uint32_t count = 0;

    for (uint32_t i = first; i < search->count; i++) {
        const struct seen *const seen = &search->seen[i];

        if (seen->verdict->unit != head->verdict->unit) {
            break;
        }
        if (!search->is_done[i] && is_sibling(head, seen)) {
            search->is_done[i] = 1;
            search->members[count] = i;
            search->figures[count] = seen->verdict->figure;
            count++;
        }
    }
    return count;
}

/* ---- GPUs and pairs ---- */

/* Keeps the worse of two; a figure with siblings tells more than one
 * without. */
static void keep_worse(struct sight *sight, const struct sight *other)
{
    if (isnan(sight->figure) || other->ratio < sight->ratio ||
        (isnan(sight->ratio) && (!isnan(other->ratio) ||
                                    other->utilisation < sight->utilisation))) {
        *sight = *other;
    }
}

static void keep_least(struct sight *sight, const struct sight *other)
{
    if (isnan(sight->utilisation) || other->utilisation < sight->utilisation) {
        *sight = *other;
    }
}

static struct sight sight_of(const struct seen *seen, double reference)
{
    return (struct sight){ .ratio = seen->verdict->figure / reference,
        .figure = seen->verdict->figure,
        .reference = reference,
        .utilisation = seen->verdict->utilisation,
        .testcase = seen->testcase };
}

/* A GPU's figures one way in one class: low only if the best of them is. */
static int best_of(const struct search *search, uint32_t count, uint32_t gpu,
    int outwards, double reference, struct sight *out)
{
    uint32_t ends = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct seen *const seen = &search->seen[search->members[i]];
        const int is_pair = seen->from >= 0 && seen->to >= 0;
        const int32_t end = is_pair ? (outwards ? seen->from : seen->to)
                                    : (seen->from >= 0 ? seen->from : seen->to);

        if (end != (int32_t)gpu) {
            continue;
        }
        if (ends == 0 || seen->verdict->figure > out->figure) {
            *out = sight_of(seen, reference);
        }
        ends++;
    }
    return (int)ends;
}

static void look_at_gpu(const struct search *search, uint32_t count,
    enum aspect aspect, uint32_t gpu, double reference)
{
    const int is_peer = aspect == ASPECT_PEER || aspect == ASPECT_PEER_SM;
    const uint32_t place = gpu * ASPECT_COUNT + (uint32_t)aspect;

    for (int outwards = 0; outwards <= is_peer; outwards++) {
        struct sight best;
        const int ends =
            best_of(search, count, gpu, outwards, reference, &best);

        /* Of one pair it cannot be told which end is low. */
        if (is_peer && ends < 2) {
            best.ratio = NAN;
        }
        if (ends > 0) {
            keep_worse(&search->out->gpus[place], &best);
            keep_least(&search->out->least_gpus[place], &best);
        }
    }
}

static void look_at_pairs(
    const struct search *search, uint32_t count, double reference)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct seen *const seen = &search->seen[search->members[i]];
        const struct sight sight = sight_of(seen, reference);
        const uint32_t place =
            (uint32_t)seen->from * search->out->gpus_count + (uint32_t)seen->to;

        keep_worse(&search->out->pairs[place], &sight);
        keep_least(&search->out->least_pairs[place], &sight);
    }
}

static void look_at_class(struct search *search, uint32_t first)
{
    const enum aspect aspect = search->seen[first].aspect;
    const uint32_t count = gather(search, first);
    const double reference = count < CLASS_LEAST
                                 ? NAN
                                 : stats_quantile(search->figures, count, 0.75);

    for (uint32_t gpu = 0; gpu < search->out->gpus_count; gpu++) {
        look_at_gpu(search, count, aspect, gpu, reference);
    }
    if (aspect == ASPECT_PEER) {
        look_at_pairs(search, count, reference);
    }
}

/* ---- all ---- */

/* That many without a figure, or NULL. */
static struct sight *make_sights(struct arena *arena, size_t count)
{
    const struct sight none = { NAN, NAN, NAN, NAN, NULL };
    struct sight *const list = arena_alloc(arena, count, sizeof *list);

    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i] = none;
    }
    return list;
}

static int32_t make(const struct judging *judging, struct suspects *out)
{
    struct arena *const arena = judging->arena;
    const uint32_t gpus = judging->evidence->facts.gpus_count;
    const size_t pairs = (size_t)gpus * gpus;

    out->gpus_count = gpus;
    out->gpus = make_sights(arena, (size_t)gpus * ASPECT_COUNT);
    out->least_gpus = make_sights(arena, (size_t)gpus * ASPECT_COUNT);
    out->pairs = make_sights(arena, pairs);
    out->least_pairs = make_sights(arena, pairs);
    out->explained = arena_alloc(arena, gpus, sizeof *out->explained);
    out->explained_pairs = arena_alloc(arena, pairs, 1);
    FAIL_IF(out->gpus == NULL || out->least_gpus == NULL ||
                out->pairs == NULL || out->least_pairs == NULL ||
                out->explained == NULL || out->explained_pairs == NULL,
        judging->err, NVBW_E_SYSTEM, "no memory to diagnose");
    return NVBW_OK;
}

int32_t suspects_find(const struct judging *judging,
    const struct verdicts *verdicts, struct suspects *out)
{
    struct search search = {
        .judging = judging, .facts = &judging->evidence->facts, .out = out
    };

    TRY(make(judging, out));
    TRY(collect(&search, verdicts));
    for (uint32_t i = 0; i < search.count; i++) {
        if (!search.is_done[i]) {
            look_at_class(&search, i);
        }
    }
    return NVBW_OK;
}

const struct sight *suspects_of(
    const struct suspects *suspects, uint32_t gpu, enum aspect aspect)
{
    return &suspects->gpus[gpu * ASPECT_COUNT + aspect];
}

const struct sight *suspects_pair(
    const struct suspects *suspects, uint32_t from, uint32_t to)
{
    return &suspects->pairs[from * suspects->gpus_count + to];
}

const struct sight *suspects_least(
    const struct suspects *suspects, uint32_t gpu, enum aspect aspect)
{
    return &suspects->least_gpus[gpu * ASPECT_COUNT + aspect];
}

const struct sight *suspects_least_pair(
    const struct suspects *suspects, uint32_t from, uint32_t to)
{
    return &suspects->least_pairs[from * suspects->gpus_count + to];
}

int suspects_is_low(const struct suspects *suspects, uint32_t gpu,
    enum aspect aspect, double least)
{
    return (suspects->explained[gpu] & (1u << aspect)) == 0 &&
           suspects_of(suspects, gpu, aspect)->ratio < least;
}

void suspects_explain(struct suspects *suspects, uint32_t gpu, uint32_t bits)
{
    suspects->explained[gpu] |= bits;
}

void suspects_explain_pair(
    struct suspects *suspects, uint32_t one, uint32_t other)
{
    const size_t gpus = suspects->gpus_count;

    suspects->explained_pairs[one * gpus + other] = 1;
    suspects->explained_pairs[other * gpus + one] = 1;
}

int suspects_pair_is_explained(
    const struct suspects *suspects, uint32_t one, uint32_t other)
{
    return suspects
        ->explained_pairs[one * (size_t)suspects->gpus_count + other];
}
