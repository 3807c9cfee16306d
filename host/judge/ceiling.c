/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "ceiling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GENERATIONS = 7 };

/* ---- PCIe ---- */

struct coding {
    double transfers; /* GT/s per lane */
    uint32_t payload, line;
};

static const struct coding codings[GENERATIONS] = {
    [1] = { 2.5, 8, 10 },
    [2] = { 5.0, 8, 10 },
    [3] = { 8.0, 128, 130 },
    [4] = { 16.0, 128, 130 },
    [5] = { 32.0, 128, 130 },
    [6] = { 64.0, 236, 256 },
};

double ceiling_pcie(uint32_t generation, uint32_t width)
{
    if (generation == 0 || generation >= GENERATIONS || width == 0) {
        return NAN;
    }

    const struct coding *const coding = &codings[generation];

    return coding->transfers * 1e9 * width * coding->payload / coding->line /
           8.0;
}

static void pcie_of_gpu(
    const struct gpu_facts *gpu, enum ceiling_kind kind, struct ceiling *out)
{
    const struct pcie_facts *const pcie = &gpu->pcie;
    const int now = kind == CEILING_NOW;
    const uint32_t generation = now ? pcie->generation : pcie->max_generation;
    const uint32_t width = now ? pcie->width : pcie->max_width;

    if (gpu->coherent_link == 1) {
        return;
    }
    out->rate = ceiling_pcie(generation, width);
    if (isnan(out->rate)) {
        return;
    }
    snprintf(out->formula, sizeof out->formula,
        "PCIe Gen%u x%u: %g GT/s x %u lanes x %u/%u / 8 = %.1f GB/s",
        generation, width, codings[generation].transfers, width,
        codings[generation].payload, codings[generation].line, out->rate / 1e9);
}

/* ---- NVLink ---- */

/* Raw rates that NVML reports, per link and direction, and the payload that
 * their coding leaves. */
static const struct {
    double raw, payload;
} nvlink_rates[] = {
    { 25.78125e9, 25e9 },
    { 26.5625e9, 25e9 },
    { 53.125e9, 50e9 },
};

double ceiling_nvlink_payload(double raw_rate)
{
    for (size_t i = 0; i < sizeof nvlink_rates / sizeof nvlink_rates[0]; i++) {
        if (fabs(raw_rate / nvlink_rates[i].raw - 1.0) < 0.001) {
            return nvlink_rates[i].payload;
        }
    }
    return raw_rate;
}

static void nvlinks(uint32_t links, double raw_rate, enum ceiling_kind kind,
    struct ceiling *out)
{
    const double rate =
        kind == CEILING_PHYSICAL ? raw_rate : ceiling_nvlink_payload(raw_rate);

    if (links == 0 || raw_rate <= 0.0) {
        return;
    }
    out->rate = links * rate;
    snprintf(out->formula, sizeof out->formula,
        "NVLink: %u links x %g GB/s = %.1f GB/s", links, rate / 1e9,
        out->rate / 1e9);
}

static uint32_t links_of(const struct gpu_facts *gpu, enum ceiling_kind kind)
{
    return kind == CEILING_NOW ? gpu->nvlinks_active : gpu->nvlinks;
}

/* ---- memory ---- */

double ceiling_memory(const struct gpu_facts *gpu)
{
    if (gpu->memory_clock_hz == 0 || gpu->memory_bus_bits == 0) {
        return NAN;
    }
    return (double)gpu->memory_clock_hz * 2.0 * gpu->memory_bus_bits / 8.0;
}

static void memory_of_gpu(const struct gpu_facts *gpu, struct ceiling *out)
{
    out->rate = ceiling_memory(gpu);
    if (!isnan(out->rate)) {
        snprintf(out->formula, sizeof out->formula,
            "memory: %g MHz x 2 x %u bit / 8 = %.0f GB/s",
            (double)gpu->memory_clock_hz / 1e6, gpu->memory_bus_bits,
            out->rate / 1e9);
    }
}

void ceiling_of_gpu(const struct gpu_facts *gpu, enum ceiling_link link,
    enum ceiling_kind kind, struct ceiling *out)
{
    *out = (struct ceiling){ .rate = NAN, .link = link };
    switch (link) {
    case LINK_PCIE:
        pcie_of_gpu(gpu, kind, out);
        break;
    case LINK_NVLINK:
        nvlinks(links_of(gpu, kind), (double)gpu->nvlink_rate, kind, out);
        break;
    case LINK_MEMORY:
        memory_of_gpu(gpu, out);
        break;
    case LINK_NONE:
        break;
    }
}

/* ---- flows ---- */

static int is_on_gpu(uint32_t memory)
{
    return memory == NVBW_MEM_DEVICE || memory == NVBW_MEM_VMM ||
           memory == NVBW_MEM_FABRIC;
}

/* The GPU that holds this side; -1 for host memory, -2 for a side without
 * memory or whose place moves (managed, multicast). */
static int32_t side(const struct facts *facts, uint32_t memory, int32_t place)
{
    if (memory == NVBW_MEM_NONE || memory == NVBW_MEM_MANAGED ||
        memory == NVBW_MEM_MULTICAST) {
        return -2;
    }
    if (!is_on_gpu(memory)) {
        return -1;
    }
    return place >= 0 && (uint32_t)place < facts->gpus_count ? place : -2;
}

static enum ceiling_link peer_link(const struct facts *facts,
    const struct flow_record *flow, int32_t from, int32_t to)
{
    const struct pair_facts *const pair =
        facts_pair(facts, (uint32_t)from, (uint32_t)to);

    if (pair == NULL || (pair->path != NULL && strcmp(pair->path, "?") == 0)) {
        return LINK_NONE;
    }
    return pair->nvlinks > 0 && (flow->flags & NVBW_FLOW_STAGED) == 0
               ? LINK_NVLINK
               : LINK_PCIE;
}

/* A flow with memory on one side only: the executor is the other end. */
static int32_t other_end(
    const struct facts *facts, const struct flow_record *flow)
{
    if (flow->initiator == NVBW_BY_CPU) {
        return -1;
    }
    return flow->executor >= 0 && (uint32_t)flow->executor < facts->gpus_count
               ? flow->executor
               : -2;
}

struct flow_path flow_path_of(
    const struct facts *facts, const struct flow_record *flow)
{
    struct flow_path path = { .from = -1, .to = -1 };
    const int has_src = flow->src_memory != NVBW_MEM_NONE;
    const int has_dst = flow->dst_memory != NVBW_MEM_NONE;

    if (!has_src && !has_dst) {
        return path;
    }

    const int32_t from = has_src
                             ? side(facts, flow->src_memory, flow->src_place)
                             : other_end(facts, flow);
    const int32_t to = has_dst ? side(facts, flow->dst_memory, flow->dst_place)
                               : other_end(facts, flow);

    if (from == -2 || to == -2) {
        return path;
    }
    path.from = from;
    path.to = to;
    if (from < 0 && to < 0) {
        path.direction = FLOW_HOST;
    } else if (from == to) {
        path.direction = FLOW_LOCAL;
        path.link = LINK_MEMORY;
    } else if (from < 0 || to < 0) {
        path.direction = from < 0 ? FLOW_H2D : FLOW_D2H;
        path.link = LINK_PCIE;
    } else {
        path.direction = FLOW_PEER;
        path.link = peer_link(facts, flow, from, to);
    }
    return path;
}

/* ---- cells ---- */

enum { GPUS_LIMIT = 4096, PAIRS_LIMIT = 64 };

/* A way to cut all counted flows, and what it carries: the least of three
 * ways is the ceiling. Each flow is cut at its source's link, at its
 * destination's or between its pair; a link that several flows share counts
 * once. */
enum cut_at { CUT_FROM = 0, CUT_TO, CUT_PAIR };

struct cut {
    const struct facts *facts;
    const struct record *record;
    enum ceiling_kind kind;
    enum cut_at at;
    uint32_t ends;
    int is_mixed, is_unknown;
    struct ceiling first; /* of the first end, for the formula */
    double rate;
    uint64_t seen[2][GPUS_LIMIT / 64]; /* ends that are in: out of, into */
};

/* 1 if this end was in already. */
static int mark(struct cut *cut, int32_t gpu, int into)
{
    const uint64_t bit = UINT64_C(1) << (gpu % 64);
    uint64_t *const word = &cut->seen[into][gpu / 64];
    const int was_seen = (*word & bit) != 0;

    *word |= bit;
    return was_seen;
}

static void add_ceiling(struct cut *cut, const struct ceiling *ceiling)
{
    if (isnan(ceiling->rate)) {
        cut->is_unknown = 1;
        return;
    }
    if (cut->ends == 0) {
        cut->first = *ceiling;
    } else if (ceiling->rate != cut->first.rate) {
        cut->is_mixed = 1;
    }
    cut->ends++;
    cut->rate += ceiling->rate;
}

/* A copy within a GPU reads and writes the same memory, so its payload has
 * half of it; traffic counts both. */
static int is_halved(
    const struct record *record, const struct flow_record *flow)
{
    return flow->operation == NVBW_OP_COPY &&
           (record->metric == NULL || strcmp(record->metric, "traffic") != 0);
}

static void halve(struct ceiling *ceiling)
{
    const size_t used = strlen(ceiling->formula);

    ceiling->rate /= 2.0;
    if (!isnan(ceiling->rate)) {
        snprintf(ceiling->formula + used, sizeof ceiling->formula - used,
            ", half of it for a copy = %.0f GB/s", ceiling->rate / 1e9);
    }
}

/* The links between two GPUs. Behind switches a GPU's links all serve any
 * pair, so what is fitted is what should be there; where links go straight
 * from GPU to GPU only the pair's own count. */
static void pair_ceiling(
    const struct cut *cut, const struct flow_path *path, struct ceiling *out)
{
    const struct gpu_facts *const from = &cut->facts->gpus[path->from];
    const struct gpu_facts *const to = &cut->facts->gpus[path->to];
    const struct pair_facts *const pair =
        facts_pair(cut->facts, (uint32_t)path->from, (uint32_t)path->to);
    const uint32_t active = from->nvlinks_active < to->nvlinks_active
                                ? from->nvlinks_active
                                : to->nvlinks_active;
    const uint32_t fitted =
        from->nvlinks < to->nvlinks ? from->nvlinks : to->nvlinks;
    const uint32_t links = cut->kind == CEILING_NOW || pair->nvlinks < active
                               ? pair->nvlinks
                               : fitted;

    *out = (struct ceiling){ .rate = NAN, .link = LINK_NVLINK };
    nvlinks(links,
        (double)(from->nvlink_rate < to->nvlink_rate ? from->nvlink_rate
                                                     : to->nvlink_rate),
        cut->kind, out);
}

static void add_local(struct cut *cut, const struct flow_record *flow,
    const struct flow_path *path)
{
    struct ceiling ceiling;

    if (mark(cut, path->from, 0)) {
        return;
    }
    ceiling_of_gpu(
        &cut->facts->gpus[path->from], LINK_MEMORY, cut->kind, &ceiling);
    if (is_halved(cut->record, flow)) {
        halve(&ceiling);
    }
    add_ceiling(cut, &ceiling);
}

/* In the cut between pairs a pair would count twice if two flows went the
 * same way; then the other cuts are the lower ones anyway. */
static void add_flow(struct cut *cut, const struct flow_record *flow)
{
    const struct flow_path path = flow_path_of(cut->facts, flow);
    const int into = path.from < 0 || (cut->at == CUT_TO && path.to >= 0);
    const int32_t gpu = into ? path.to : path.from;
    struct ceiling ceiling;

    if (path.link == LINK_NONE || gpu < 0 || gpu >= GPUS_LIMIT) {
        cut->is_unknown |= path.direction != FLOW_NONE;
        return;
    }
    if (path.direction == FLOW_LOCAL) {
        add_local(cut, flow, &path);
        return;
    }
    if (cut->at == CUT_PAIR && path.link == LINK_NVLINK) {
        pair_ceiling(cut, &path, &ceiling);
    } else if (mark(cut, gpu, into)) {
        return;
    } else {
        ceiling_of_gpu(&cut->facts->gpus[gpu], path.link, cut->kind, &ceiling);
    }
    add_ceiling(cut, &ceiling);
}

/* Half the warps of a split flow copy back: its total has the link's both
 * directions. */
static int is_doubled(const struct record *record)
{
    return record->flows[0].operation == NVBW_OP_SPLIT &&
           record->metric != NULL && strcmp(record->metric, "total") == 0;
}

static void finish(const struct cut *cut, struct ceiling *out)
{
    const uint32_t times = is_doubled(cut->record) ? 2 : 1;

    *out = cut->first;
    out->rate = cut->rate * times;
    if (cut->is_mixed) {
        snprintf(out->formula, sizeof out->formula,
            "sum over %u links = %.1f GB/s", cut->ends * times,
            out->rate / 1e9);
    } else if (cut->ends * times > 1) {
        snprintf(out->formula, sizeof out->formula, "%u x (%.180s) = %.1f GB/s",
            cut->ends * times, cut->first.formula, out->rate / 1e9);
    }
}

static void cut_flows(struct cut *cut)
{
    for (uint32_t i = 0; i < cut->record->flows_count; i++) {
        if (cut->record->flows[i].counted) {
            add_flow(cut, &cut->record->flows[i]);
        }
    }
}

void ceiling_of_record(const struct facts *facts, const struct record *record,
    enum ceiling_kind kind, struct ceiling *out)
{
    *out = (struct ceiling){ .rate = NAN };
    for (int at = CUT_FROM; at <= CUT_PAIR; at++) {
        struct cut cut = { .facts = facts,
            .record = record,
            .kind = kind,
            .at = (enum cut_at)at };

        if (at == CUT_PAIR && record->flows_count > PAIRS_LIMIT) {
            return;
        }
        cut_flows(&cut);
        if (cut.is_unknown || cut.ends == 0) {
            *out = (struct ceiling){ .rate = NAN };
            return;
        }
        if (isnan(out->rate) ||
            cut.rate * (is_doubled(record) ? 2 : 1) < out->rate) {
            finish(&cut, out);
        }
    }
}
