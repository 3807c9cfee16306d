/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rules to parts, parts to steps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern_flows.h"

enum {
    PARTS_LIMIT = 9999,   /* a list of labels has no more */
    TOGETHER_LIMIT = 4096 /* flows of one measurement */
};

/* Copies of one end's list while the other's is gone through. */
struct expanding {
    struct pattern *pattern;
    int32_t *anchors, *others; /* room for all places and one more each */
};

/* ---- Parts -------------------------------------------------------------- */

/* Returns NULL without memory, or where there are too many. */
static struct part *add_part(struct pattern *pattern, struct rule *rule)
{
    const uint32_t count = pattern->parts_count;

    if (count == PARTS_LIMIT) {
        return NULL;
    }
    /* Grows at powers of two. */
    if ((count & (count - 1)) == 0) {
        struct part *const grown = realloc(pattern->parts,
            (count == 0 ? 1 : 2 * (size_t)count) * sizeof *grown);

        if (grown == NULL) {
            return NULL;
        }
        pattern->parts = grown;
    }

    struct part *const part = &pattern->parts[pattern->parts_count++];

    *part = (struct part){ .rule = rule,
        .turn = rule->parts++,
        .row = rule->background ? -1 : (int32_t)pattern->rows++ };
    return part;
}

static void set_trouble(char *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_trouble(char *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(out, TEXT_BYTES, format, args);
    va_end(args);
}

static void set_label(const struct machine *machine, struct part *part)
{
    const struct rule *const rule = part->rule;
    char from[24];
    char to[24];

    place_label(machine, rule->ends[0].kind, part->at[0], from, sizeof from);
    place_label(machine, rule->ends[1].kind, part->at[1], to, sizeof to);
    snprintf(part->ends, sizeof part->ends, "%s%s%s", from,
        strcmp(from, to) == 0 ? "" : ">", strcmp(from, to) == 0 ? "" : to);
    snprintf(
        part->label, sizeof part->label, "%.40s %s", rule->name, part->ends);
}

static void set_executor(const struct machine *machine, struct part *part)
{
    const struct rule *const rule = part->rule;
    const struct place_rule gpu = { PLACE_GPU, PICK_ONE, rule->on_gpu };

    if (rule->on_end >= 0) {
        part->executor = part->at[rule->on_end];
        return;
    }
    if (place_list(machine, &gpu, PLACE_NONE, 0, &part->executor) == 0) {
        set_trouble(part->trouble,
            "flow \"%.40s\" (%.200s): GPU %d, which is to move it, is not "
            "among the selected",
            rule->name, rule->where, rule->on_gpu);
    }
}

/* "*" at both ends are pairs of different GPUs. */
static int is_left_out(const struct rule *rule, const int32_t *at)
{
    return rule->ends[0].kind == PLACE_GPU && rule->ends[1].kind == PLACE_GPU &&
           rule->ends[0].pick == PICK_ALL && rule->ends[1].pick == PICK_ALL &&
           at[0] == at[1];
}

static int add_end(
    struct pattern *pattern, struct rule *rule, const int32_t *at)
{
    if (is_left_out(rule, at)) {
        return 1;
    }

    struct part *const part = add_part(pattern, rule);

    if (part == NULL) {
        return 0;
    }
    part->at[0] = at[0];
    part->at[1] = at[1];
    set_executor(&pattern->machine, part);
    set_label(&pattern->machine, part);
    return 1;
}

/* The end that depends on no other; to of two that do not. */
static int anchor_end(const struct rule *rule)
{
    return place_is_relative(&rule->ends[0]) ? 1 : 0;
}

static int add_ends(const struct expanding *expanding, struct rule *rule)
{
    struct pattern *const pattern = expanding->pattern;
    const int end = anchor_end(rule);
    const struct place_rule *const anchor = &rule->ends[end];
    const uint32_t anchors = place_list(
        &pattern->machine, anchor, PLACE_NONE, 0, expanding->anchors);

    for (uint32_t i = 0; i < anchors; i++) {
        const uint32_t others = place_list(&pattern->machine, &rule->ends[!end],
            anchor->kind, expanding->anchors[i], expanding->others);

        for (uint32_t k = 0; k < others; k++) {
            int32_t at[2];

            at[end] = expanding->anchors[i];
            at[!end] = expanding->others[k];
            if (!add_end(pattern, rule, at)) {
                return 0;
            }
        }
    }
    return 1;
}

/* A rule always has a part, so that its row can say what is missing. */
static int add_rule(const struct expanding *expanding, struct rule *rule)
{
    struct pattern *const pattern = expanding->pattern;
    const uint32_t before = pattern->parts_count;

    if (!add_ends(expanding, rule)) {
        return 0;
    }
    if (pattern->parts_count > before) {
        return 1;
    }

    struct part *const part = add_part(pattern, rule);

    if (part == NULL) {
        return 0;
    }
    snprintf(part->label, sizeof part->label, "%.40s", rule->name);
    set_trouble(part->trouble,
        "flow \"%.40s\" (%.200s): these places are not here: %u GPU%s selected "
        "and %u NUMA node%s",
        rule->name, rule->where, pattern->machine.gpus_count,
        pattern->machine.gpus_count == 1 ? " is" : "s are",
        pattern->machine.nodes_count,
        pattern->machine.nodes_count == 1 ? " is there" : "s are there");
    return 1;
}

static int add_parts(struct pattern *pattern)
{
    const size_t room =
        (size_t)pattern->machine.gpus_count + pattern->machine.nodes_count + 1;
    struct expanding expanding = { pattern,
        calloc(room, sizeof *expanding.anchors),
        calloc(room, sizeof *expanding.others) };
    int is_right = expanding.anchors != NULL && expanding.others != NULL;

    for (uint32_t i = 0; i < pattern->rules_count && is_right; i++) {
        is_right = add_rule(&expanding, &pattern->rules[i]);
    }
    free(expanding.anchors);
    free(expanding.others);
    return is_right;
}

/* ---- Steps -------------------------------------------------------------- */

/* Each group's steps stand one after another, from its first rule's on. */
static uint32_t leader_of(const struct pattern *pattern, uint32_t rule)
{
    uint32_t first = 0;

    while (
        strcmp(pattern->rules[first].group, pattern->rules[rule].group) != 0) {
        first++;
    }
    return first;
}

/* How many steps the groups take, and which is each one's first. */
static void lay_out(struct pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->rules_count; i++) {
        struct rule *const rule = &pattern->rules[i];
        struct rule *const leader = &pattern->rules[leader_of(pattern, i)];
        const uint32_t turns = rule->in_turn ? rule->parts : 1;

        rule->leader = leader;
        leader->odd |= leader->turns != 0 && turns != leader->turns;
        leader->turns = turns > leader->turns ? turns : leader->turns;
    }
    for (uint32_t i = 0; i < pattern->rules_count; i++) {
        pattern->rules[i].first_step = pattern->steps_count;
        pattern->steps_count += pattern->rules[i].turns;
    }
}

static struct step *step_of(
    const struct pattern *pattern, const struct part *part)
{
    const struct rule *const leader = part->rule->leader;

    return &pattern->steps[leader->first_step +
                           (leader->in_turn ? part->turn : 0)];
}

static void fill_steps(struct pattern *pattern)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < pattern->parts_count; i++) {
        step_of(pattern, &pattern->parts[i])->count++;
    }
    for (uint32_t i = 0; i < pattern->steps_count; i++) {
        pattern->steps[i].first = first;
        first += pattern->steps[i].count;
        pattern->steps[i].count = 0;
    }
    for (uint32_t i = 0; i < pattern->parts_count; i++) {
        struct step *const step = step_of(pattern, &pattern->parts[i]);

        pattern->steps_parts[step->first + step->count++] = i;
    }
}

/* What keeps a step from being measured. */
static void find_trouble(const struct pattern *pattern, struct step *step)
{
    const struct part *const head =
        &pattern->parts[pattern->steps_parts[step->first]];
    const struct rule *const leader = head->rule->leader;

    snprintf(step->label, sizeof step->label, "%.40s%s%s", leader->group,
        leader->in_turn ? " " : "", leader->in_turn ? head->ends : "");
    for (uint32_t i = 0; i < step->count && step->trouble[0] == '\0'; i++) {
        memcpy(step->trouble,
            pattern->parts[pattern->steps_parts[step->first + i]].trouble,
            sizeof step->trouble);
    }
    if (step->trouble[0] != '\0') {
        return;
    }
    if (leader->odd) {
        set_trouble(step->trouble,
            "flow \"%.40s\" (%.200s): the flows of its group \"%.40s\" have "
            "different numbers of places here and cannot take turns",
            leader->name, leader->where, leader->group);
    } else if (step->count > TOGETHER_LIMIT) {
        set_trouble(step->trouble,
            "flow \"%.40s\" (%.200s): its group has %u flows here, %d can "
            "start together",
            leader->name, leader->where, step->count, TOGETHER_LIMIT);
    }
}

static int add_steps(struct pattern *pattern)
{
    lay_out(pattern);
    pattern->steps = calloc(pattern->steps_count, sizeof *pattern->steps);
    pattern->steps_parts =
        calloc(pattern->parts_count, sizeof *pattern->steps_parts);
    if (pattern->steps == NULL || pattern->steps_parts == NULL) {
        return 0;
    }
    fill_steps(pattern);
    for (uint32_t i = 0; i < pattern->steps_count; i++) {
        find_trouble(pattern, &pattern->steps[i]);
    }
    return 1;
}

/* ---- The whole ---------------------------------------------------------- */

/* Rows for what comes before there are any. */
static int32_t name_no_rows(struct nvbw_ctx *ctx)
{
    static const char *const none[] = { "-", NULL };
    const int32_t status = ctx->host->labels(ctx, "total", 0, none);

    return status < 0 ? status : ctx->host->labels(ctx, "bandwidth", 0, none);
}

static int32_t refuse(struct nvbw_ctx *ctx, int32_t status, const char *text)
{
    const int32_t named = name_no_rows(ctx);

    return named < 0 ? named : ctx->host->fail(ctx, NULL, status, 0, text);
}

/* Only check-plugin, which tries defaults, comes without flows. */
static int32_t refuse_none(struct nvbw_ctx *ctx)
{
    const int32_t named = name_no_rows(ctx);

    return named < 0 ? named
                     : ctx->host->skip(ctx, NULL, NVBW_SKIP_EXCLUDED,
                           "the plan gives no flows");
}

static int32_t refuse_parts(struct nvbw_ctx *ctx, const struct pattern *pattern)
{
    return refuse(ctx, NVBW_E_SYSTEM,
        pattern->parts_count == PARTS_LIMIT
            ? "these flows are more than 9999 on this machine; name fewer "
              "places"
            : "no memory for the list of flows");
}

int32_t pattern_expand(struct nvbw_ctx *ctx, struct pattern *out)
{
    *out = (struct pattern){ .machine = machine_read(ctx),
        .rules_count = ctx->host->param_count(ctx, "flows") };
    out->rules = calloc(out->rules_count, sizeof *out->rules);
    if (out->rules_count == 0) {
        return refuse_none(ctx);
    }
    if (out->rules == NULL) {
        return refuse_parts(ctx, out);
    }
    for (uint32_t i = 0; i < out->rules_count; i++) {
        if (!rule_read(ctx, i, NULL, &out->rules[i])) {
            return refuse(
                ctx, NVBW_E_INVALID, "a flow is wrong that check() let pass");
        }
    }
    return add_parts(out) && add_steps(out) ? NVBW_OK : refuse_parts(ctx, out);
}

void pattern_free(struct pattern *pattern)
{
    free(pattern->rules);
    free(pattern->parts);
    free(pattern->steps);
    free(pattern->steps_parts);
}
