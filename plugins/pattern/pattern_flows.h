/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* pattern: from the flows of a plan to measurements.
 *
 *   flows = ( { name, group, from, to, ... }, ... )   as the plan has them
 *        |  rules_read: texts to numbers; check() refuses what is no rule
 *   struct rule    a flow of the plan; its ends name places, "gpu:*", "gpu:+1"
 *        |  expand: what these are on this machine
 *   struct part    one flow of the machine, with a row of "bandwidth"
 *        |  by group: all parts together, or the k-th of each rule in turn
 *   struct step    the parts that start together, with a row of "total"
 *
 * A rule that this machine cannot follow has one part, which says why; the
 * cells of its step are skipped with that sentence. */
#ifndef NVBW_PATTERN_FLOWS_H
#define NVBW_PATTERN_FLOWS_H

#include "nvbw/plugin.h"

enum { TEXT_BYTES = 512, LABEL_BYTES = 160, NAME_LIMIT = 40 };

/* ---- Places (pattern_places.c) ------------------------------------------ */

enum place_kind { PLACE_NONE, PLACE_GPU, PLACE_HOST };
enum place_pick {
    PICK_ONE,      /* "gpu:3", "host:1": by its number */
    PICK_ALL,      /* "gpu:*", "host:*" */
    PICK_STEP,     /* "gpu:+1", "gpu:-2": from the other end's GPU on */
    PICK_HALF,     /* "gpu:+half": half of all GPUs further */
    PICK_SAME,     /* "gpu:same", "host:same": where the other end is */
    PICK_NEAR,     /* "host": the node nearest to the other end's GPU */
    PICK_FAR,      /* "host:far": every other node */
    PICK_NEAR_GPU, /* "host:gpu:3": the node nearest to that GPU */
};
struct place_rule {
    enum place_kind kind;
    enum place_pick pick;
    int32_t number;
};

/* 0 where the text is no place. */
int place_parse(const char *text, struct place_rule *out);
/* 1 where it depends on the other end. */
int place_is_relative(const struct place_rule *rule);

/* The machine: what places() gives. */
struct machine {
    const struct nvbw_place *const *gpus;
    const struct nvbw_place *const *nodes;
    uint32_t gpus_count, nodes_count;
};
struct machine machine_read(struct nvbw_ctx *ctx);

/* The positions that a rule stands for when the other end is at anchor, of
 * which anchor_kind says what it is; NVBW_NEAR where the nearest node is
 * unknown. out has room for all GPUs and nodes and one more. Returns how many,
 * 0: none. */
uint32_t place_list(const struct machine *machine,
    const struct place_rule *rule, enum place_kind anchor_kind, int32_t anchor,
    int32_t *out);
/* "gpu3", "host1", "host". */
void place_label(const struct machine *machine, enum place_kind kind,
    int32_t position, char *out, size_t size);

/* ---- Rules (pattern_rules.c) -------------------------------------------- */

/* The two ends of a rule: of a copy from and to, of a read from and on, of a
 * write on and to. */
struct rule {
    const char *name, *group, *where; /* where: "plan.cfg:12" */
    uint32_t initiator, operation;
    struct place_rule ends[2];
    uint32_t memory[2]; /* NVBW_MEM_*; NONE on the side that has none */
    int32_t on_end;     /* the end that executes, -1: on_gpu does */
    int32_t on_gpu;     /* by its number */
    uint32_t in_turn, background;
    uint64_t bytes, repeats;
    /* On this machine. */
    uint32_t parts;            /* how many it has */
    const struct rule *leader; /* the first of its group, which has: */
    uint32_t turns, first_step;
    uint32_t odd; /* 1: rules of the group have different numbers of parts */
};

/* Is told that key of flow i is wrong, and why. */
typedef void rule_refuse_fn(
    struct nvbw_ctx *ctx, const char *key, uint32_t i, const char *text);

/* Reads flow i. What is wrong goes to refuse, with the flow's name; returns 0
 * then. refuse may be NULL. */
int rule_read(
    struct nvbw_ctx *ctx, uint32_t i, rule_refuse_fn *refuse, struct rule *out);

/* check() of the testcase. (pattern_check.c) */
int32_t pattern_check(struct nvbw_ctx *ctx);

/* ---- Parts and steps (pattern_expand.c) --------------------------------- */

struct part {
    const struct rule *rule;
    int32_t at[2];    /* positions of its ends */
    int32_t executor; /* position of the GPU or node */
    uint32_t turn;    /* which of its rule's */
    int32_t row;      /* of "bandwidth", -1: background */
    char ends[48], label[LABEL_BYTES];
    char trouble[TEXT_BYTES]; /* why this machine has not got it, or "" */
};
struct step {
    uint32_t first, count; /* of steps_parts */
    char label[LABEL_BYTES];
    char trouble[TEXT_BYTES];
};
struct pattern {
    struct machine machine;
    struct rule *rules;
    uint32_t rules_count;
    struct part *parts; /* rule by rule */
    uint32_t parts_count, rows;
    struct step *steps;
    uint32_t steps_count;
    uint32_t *steps_parts; /* positions in parts, step by step */
};

/* NVBW_OK, or what fail() or skip() gave: return it. pattern_free in any case.
 */
int32_t pattern_expand(struct nvbw_ctx *ctx, struct pattern *out);
void pattern_free(struct pattern *pattern);

#endif
