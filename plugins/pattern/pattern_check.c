/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What can be said of all flows without a machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern_flows.h"

static void refuse(
    struct nvbw_ctx *ctx, const char *key, uint32_t i, const char *text)
{
    ctx->host->refuse(ctx, key, i, text);
}

/* The first of the group to which rule i belongs. */
static uint32_t first_of_group(const struct rule *rules, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(rules[k].group, rules[i].group) == 0) {
            return k;
        }
    }
    return i;
}

static void check_alone(
    struct nvbw_ctx *ctx, const struct rule *rules, uint32_t i)
{
    char text[TEXT_BYTES];

    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(rules[k].name, rules[i].name) == 0) {
            snprintf(text, sizeof text,
                "flow \"%.40s\": another flow has this name, at %.200s",
                rules[i].name, rules[k].where);
            refuse(ctx, "flows.name", i, text);
            return;
        }
    }
}

static void check_with_first(
    struct nvbw_ctx *ctx, const struct rule *rules, uint32_t i)
{
    const struct rule *const rule = &rules[i];
    const struct rule *const first = &rules[first_of_group(rules, i)];
    char text[TEXT_BYTES];

    if (rule->in_turn != first->in_turn) {
        snprintf(text, sizeof text,
            "flow \"%.40s\": its group \"%.40s\" has another order, at %.200s",
            rule->name, rule->group, first->where);
        refuse(ctx, "flows.order", i, text);
    }
    if ((rule->initiator == NVBW_BY_CPU) != (first->initiator == NVBW_BY_CPU)) {
        snprintf(text, sizeof text,
            "flow \"%.40s\": flows by the CPU and by others cannot start "
            "together; see \"%.40s\" of the same group, at %.200s",
            rule->name, first->name, first->where);
        refuse(ctx, "flows.by", i, text);
    }
}

/* A group in which nothing is counted has no figure. */
static void check_counted(
    struct nvbw_ctx *ctx, const struct rule *rules, uint32_t count, uint32_t i)
{
    char text[TEXT_BYTES];

    if (first_of_group(rules, i) != i) {
        return;
    }
    for (uint32_t k = i; k < count; k++) {
        if (!rules[k].background &&
            strcmp(rules[k].group, rules[i].group) == 0) {
            return;
        }
    }
    snprintf(text, sizeof text,
        "flow \"%.40s\": nothing but background in group \"%.40s\"; give it a "
        "flow that is measured",
        rules[i].name, rules[i].group);
    refuse(ctx, "flows.background", i, text);
}

static void check_rules(
    struct nvbw_ctx *ctx, struct rule *rules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rule_read(ctx, i, refuse, &rules[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        check_alone(ctx, rules, i);
        check_with_first(ctx, rules, i);
        check_counted(ctx, rules, count, i);
    }
}

int32_t pattern_check(struct nvbw_ctx *ctx)
{
    const uint32_t count = ctx->host->param_count(ctx, "flows");

    if (count == 0) {
        refuse(ctx, "flows", 0,
            "plugin pattern has no flows; write params = { flows = ( { name = "
            "\"ring\"; from = \"gpu:*\"; to = \"gpu:+1\"; } ); }");
        return NVBW_OK;
    }

    struct rule *const rules = calloc(count, sizeof *rules);

    if (rules == NULL) {
        return NVBW_E_SYSTEM;
    }
    check_rules(ctx, rules, count);
    free(rules);
    return NVBW_OK;
}
