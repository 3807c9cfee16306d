/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* One flow of the plan, read and refused by itself. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pattern_flows.h"

/* In the order of the choices of the parameters. */
static const uint32_t initiators[] = { NVBW_BY_CE, NVBW_BY_SM, NVBW_BY_TMA,
    NVBW_BY_CPU };
static const uint32_t operations[] = { NVBW_OP_COPY, NVBW_OP_READ,
    NVBW_OP_WRITE };
static const uint32_t memories[] = { NVBW_MEM_NONE, NVBW_MEM_PINNED,
    NVBW_MEM_PAGEABLE, NVBW_MEM_WRITE_COMBINED, NVBW_MEM_HUGE_PAGE,
    NVBW_MEM_MANAGED, NVBW_MEM_DEVICE, NVBW_MEM_VMM, NVBW_MEM_FABRIC };

/* A flow being read. */
struct reading {
    struct nvbw_ctx *ctx;
    uint32_t i;
    rule_refuse_fn *refuse;
    struct rule *rule;
    int is_right;
};

static void refuse(struct reading *reading, const char *key, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

static void refuse(
    struct reading *reading, const char *key, const char *format, ...)
{
    char words[TEXT_BYTES];
    char text[TEXT_BYTES + NAME_LIMIT + 16];
    va_list args;

    reading->is_right = 0;
    if (reading->refuse == NULL) {
        return;
    }
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(
        text, sizeof text, "flow \"%.40s\": %s", reading->rule->name, words);
    reading->refuse(reading->ctx, key, reading->i, text);
}

static const char *text_of(const struct reading *reading, const char *key)
{
    return reading->ctx->host->param_text(reading->ctx, key, reading->i);
}

static int64_t number_of(const struct reading *reading, const char *key)
{
    return reading->ctx->host->param_int(reading->ctx, key, reading->i);
}

/* ---- Ends --------------------------------------------------------------- */

#define PLACES                                                                 \
    "gpu:N, gpu:*, gpu:+N, gpu:-N, gpu:+half, gpu:same, host, host:N, "        \
    "host:*, host:far, host:same or host:gpu:N"

static void read_place(
    struct reading *reading, const char *key, struct place_rule *out)
{
    const char *const text = text_of(reading, key);

    if (place_parse(text, out)) {
        return;
    }
    *out = (struct place_rule){ PLACE_NONE, PICK_ONE, 0 };
    if (text[0] == '\0') {
        refuse(reading, key, "\"%s\" is missing", strchr(key, '.') + 1);
    } else {
        refuse(reading, key, "\"%.80s\" is no place; places are " PLACES, text);
    }
}

static void refuse_given(struct reading *reading, const char *key)
{
    if (text_of(reading, key)[0] != '\0') {
        refuse(reading, key, "\"%s\" has no meaning for this op; leave it out",
            strchr(key, '.') + 1);
    }
}

/* Who copies: one of both ends, or a GPU that is neither. */
static void read_copier(struct reading *reading)
{
    struct rule *const rule = reading->rule;
    const char *const on = text_of(reading, "flows.on");
    struct place_rule place;

    rule->on_end =
        rule->ends[0].kind != PLACE_GPU && rule->ends[1].kind == PLACE_GPU;
    if (strcmp(on, "from") == 0 || strcmp(on, "to") == 0) {
        rule->on_end = strcmp(on, "to") == 0;
    } else if (on[0] != '\0' && place_parse(on, &place) &&
               place.kind == PLACE_GPU && place.pick == PICK_ONE) {
        rule->on_end = -1;
        rule->on_gpu = place.number;
    } else if (on[0] != '\0') {
        refuse(reading, "flows.on",
            "\"%.80s\" cannot copy; \"on\" is from, to or gpu:N", on);
    }
}

static void read_toucher(struct reading *reading, int end)
{
    struct rule *const rule = reading->rule;
    const struct place_rule *const memory = &rule->ends[!end];

    rule->on_end = end;
    if (text_of(reading, "flows.on")[0] != '\0') {
        read_place(reading, "flows.on", &rule->ends[end]);
        return;
    }
    rule->ends[end] = (struct place_rule){ memory->kind, PICK_SAME, 0 };
    if (memory->kind == PLACE_HOST && rule->initiator != NVBW_BY_CPU) {
        refuse(reading, "flows.on",
            "\"on\" is missing: which GPU touches the host's memory");
    }
}

static void read_ends(struct reading *reading)
{
    struct rule *const rule = reading->rule;

    switch (rule->operation) {
    case NVBW_OP_COPY:
        read_place(reading, "flows.from", &rule->ends[0]);
        read_place(reading, "flows.to", &rule->ends[1]);
        read_copier(reading);
        return;
    case NVBW_OP_READ:
        read_place(reading, "flows.from", &rule->ends[0]);
        refuse_given(reading, "flows.to");
        read_toucher(reading, 1);
        return;
    default:
        read_place(reading, "flows.to", &rule->ends[1]);
        refuse_given(reading, "flows.from");
        read_toucher(reading, 0);
        return;
    }
}

static const char *key_of_end(const struct rule *rule, int end)
{
    if (rule->operation != NVBW_OP_COPY && rule->on_end == end) {
        return "flows.on";
    }
    return end == 0 ? "flows.from" : "flows.to";
}

/* A place that depends on the other end needs one that does not. */
static void check_relative(struct reading *reading, int end)
{
    const struct rule *const rule = reading->rule;
    const struct place_rule *const own = &rule->ends[end];
    const struct place_rule *const other = &rule->ends[!end];
    const char *const key = key_of_end(rule, end);

    if (!place_is_relative(own) || other->kind == PLACE_NONE) {
        return;
    }
    if (place_is_relative(other)) {
        if (end == 1) {
            refuse(reading, key,
                "both ends depend on each other; name a place "
                "such as gpu:* or gpu:0 for one");
        }
    } else if (own->pick == PICK_SAME && own->kind != other->kind) {
        refuse(reading, key, "\"%.80s\" where the other end is %s",
            text_of(reading, key),
            other->kind == PLACE_GPU ? "a GPU" : "a host");
    } else if (own->pick != PICK_SAME && other->kind != PLACE_GPU) {
        refuse(reading, key,
            "\"%.80s\" depends on the GPU of the other end, which is none",
            text_of(reading, key));
    }
}

static enum place_kind kind_of_executor(const struct rule *rule)
{
    return rule->on_end < 0 ? PLACE_GPU : rule->ends[rule->on_end].kind;
}

static void check_executor(struct reading *reading)
{
    const struct rule *const rule = reading->rule;
    const int by_cpu = rule->initiator == NVBW_BY_CPU;
    const enum place_kind kind = kind_of_executor(rule);

    if (by_cpu && (rule->ends[0].kind == PLACE_GPU ||
                      rule->ends[1].kind == PLACE_GPU || kind == PLACE_GPU)) {
        refuse(reading, "flows.by",
            "\"cpu\" moves bytes between host memories only");
    } else if (!by_cpu && kind == PLACE_HOST) {
        refuse(reading,
            text_of(reading, "flows.on")[0] != '\0' ? "flows.on" : "flows.by",
            "a host cannot do it by \"%s\": name a GPU, or by = \"cpu\"",
            text_of(reading, "flows.by"));
    }
}

/* ---- Memory ------------------------------------------------------------- */

static int is_device(uint32_t memory)
{
    return memory == NVBW_MEM_DEVICE || memory == NVBW_MEM_VMM ||
           memory == NVBW_MEM_FABRIC;
}

/* What "auto" stands for. */
static uint32_t usual_memory(const struct rule *rule, enum place_kind kind)
{
    if (kind == PLACE_GPU) {
        return NVBW_MEM_DEVICE;
    }
    return rule->initiator == NVBW_BY_CPU ? NVBW_MEM_PAGEABLE : NVBW_MEM_PINNED;
}

/* has: 1 where the end of this operation has memory. */
static void read_memory(
    struct reading *reading, int end, int has, const char *key)
{
    struct rule *const rule = reading->rule;
    const uint32_t given = memories[number_of(reading, key)];
    const enum place_kind kind = rule->ends[end].kind;

    if (!has) {
        if (given != NVBW_MEM_NONE) {
            refuse(reading, key, "this op has no memory there; leave it out");
        }
        return;
    }
    rule->memory[end] =
        given != NVBW_MEM_NONE ? given : usual_memory(rule, kind);
    if (rule->initiator == NVBW_BY_CPU && kind == PLACE_HOST &&
        rule->memory[end] != NVBW_MEM_PAGEABLE &&
        rule->memory[end] != NVBW_MEM_HUGE_PAGE) {
        refuse(reading, key,
            "what a CPU moves is pageable or in huge pages (pageable, "
            "huge_page)");
        return;
    }
    if (given != NVBW_MEM_NONE && kind != PLACE_NONE &&
        is_device(given) != (kind == PLACE_GPU)) {
        refuse(reading, key, "%s has no %s memory",
            kind == PLACE_GPU ? "a GPU" : "a host", text_of(reading, key));
    }
}

/* ---- The whole ---------------------------------------------------------- */

static void check_name(
    struct reading *reading, const char *key, const char *name)
{
    if (name[0] == '\0' || strlen(name) > NAME_LIMIT) {
        refuse(reading, key, "\"%s\" has from 1 to %d bytes",
            strchr(key, '.') + 1, NAME_LIMIT);
    }
}

static void check_operation(struct reading *reading)
{
    const struct rule *const rule = reading->rule;

    if (rule->initiator == NVBW_BY_CE && rule->operation != NVBW_OP_COPY) {
        refuse(reading, "flows.op",
            "copy engines copy, they do not %s; by sm, tma or cpu",
            text_of(reading, "flows.op"));
    }
}

int rule_read(struct nvbw_ctx *ctx, uint32_t i, rule_refuse_fn *refuse_fn,
    struct rule *out)
{
    struct reading reading = { ctx, i, refuse_fn, out, 1 };
    const char *const group = text_of(&reading, "flows.group");

    *out = (struct rule){ .name = text_of(&reading, "flows.name"),
        .where = text_of(&reading, "flows"),
        .initiator = initiators[number_of(&reading, "flows.by")],
        .operation = operations[number_of(&reading, "flows.op")],
        .in_turn = number_of(&reading, "flows.order") == 1,
        .background = number_of(&reading, "flows.background") != 0,
        .bytes = (uint64_t)number_of(&reading, "flows.size"),
        .repeats = (uint64_t)number_of(&reading, "flows.repeats") };
    out->group = group[0] != '\0' ? group : out->name;
    check_name(&reading, "flows.name", out->name);
    check_name(&reading, "flows.group", out->group);
    check_operation(&reading);
    read_ends(&reading);
    check_relative(&reading, 0);
    check_relative(&reading, 1);
    check_executor(&reading);
    read_memory(
        &reading, 0, out->operation != NVBW_OP_WRITE, "flows.from_memory");
    read_memory(&reading, 1, out->operation != NVBW_OP_READ, "flows.to_memory");
    return reading.is_right;
}
