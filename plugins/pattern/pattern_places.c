/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <stdio.h>
#include <string.h>

#include "pattern_flows.h"

enum { NUMBER_DIGITS = 6 };

/* ---- Text --------------------------------------------------------------- */

/* Digits and nothing else. */
static int parse_number(const char *text, int32_t *out)
{
    const size_t length = strspn(text, "0123456789");
    int32_t number = 0;

    if (length == 0 || length > NUMBER_DIGITS || text[length] != '\0') {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        number = number * 10 + (text[i] - '0');
    }
    *out = number;
    return 1;
}

static int parse_step(const char *text, struct place_rule *out)
{
    const int sign = *text == '-' ? -1 : 1;

    if ((*text != '+' && *text != '-') ||
        !parse_number(text + 1, &out->number) || out->number == 0) {
        return 0;
    }
    out->pick = PICK_STEP;
    out->number *= sign;
    return 1;
}

static const struct word {
    const char *text;
    enum place_kind kind;
    enum place_pick pick;
} words[] = {
    { "gpu:*", PLACE_GPU, PICK_ALL },
    { "gpu:+half", PLACE_GPU, PICK_HALF },
    { "gpu:same", PLACE_GPU, PICK_SAME },
    { "host", PLACE_HOST, PICK_NEAR },
    { "host:*", PLACE_HOST, PICK_ALL },
    { "host:far", PLACE_HOST, PICK_FAR },
    { "host:same", PLACE_HOST, PICK_SAME },
};

/* What stands before a number. */
static const struct word prefixes[] = {
    { "gpu:", PLACE_GPU, PICK_ONE },
    { "host:gpu:", PLACE_HOST, PICK_NEAR_GPU },
    { "host:", PLACE_HOST, PICK_ONE },
};

int place_parse(const char *text, struct place_rule *out)
{
    *out = (struct place_rule){ PLACE_GPU, PICK_ONE, 0 };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].text) == 0) {
            *out = (struct place_rule){ words[i].kind, words[i].pick, 0 };
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const size_t length = strlen(prefixes[i].text);

        if (strncmp(text, prefixes[i].text, length) == 0 &&
            parse_number(text + length, &out->number)) {
            out->kind = prefixes[i].kind;
            out->pick = prefixes[i].pick;
            return 1;
        }
    }
    return strncmp(text, "gpu:", 4) == 0 && parse_step(text + 4, out);
}

int place_is_relative(const struct place_rule *rule)
{
    return rule->pick == PICK_STEP || rule->pick == PICK_HALF ||
           rule->pick == PICK_SAME || rule->pick == PICK_NEAR ||
           rule->pick == PICK_FAR;
}

/* ---- The machine -------------------------------------------------------- */

static uint32_t count_places(const struct nvbw_place *const *places)
{
    uint32_t count = 0;

    while (places[count] != NULL) {
        count++;
    }
    return count;
}

struct machine machine_read(struct nvbw_ctx *ctx)
{
    struct machine machine = { ctx->host->places(ctx, "gpu"),
        ctx->host->places(ctx, "numa"), 0, 0 };

    machine.gpus_count = count_places(machine.gpus);
    machine.nodes_count = count_places(machine.nodes);
    return machine;
}

static uint32_t find_number(const struct nvbw_place *const *places,
    uint32_t count, int32_t number, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (places[i]->number == number) {
            *out = (int32_t)i;
            return 1;
        }
    }
    return 0;
}

static uint32_t list_all(uint32_t count, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (int32_t)i;
    }
    return count;
}

/* As many GPUs further, past the last from the first on; the same GPU is none.
 */
static uint32_t list_further(
    const struct machine *machine, int32_t anchor, int32_t step, int32_t *out)
{
    const int32_t count = (int32_t)machine->gpus_count;

    if (count == 0 || step % count == 0) {
        return 0;
    }
    *out = ((anchor + step) % count + count) % count;
    return 1;
}

static uint32_t list_half(
    const struct machine *machine, int32_t anchor, int32_t *out)
{
    const int32_t count = (int32_t)machine->gpus_count;

    return count % 2 != 0 ? 0 : list_further(machine, anchor, count / 2, out);
}

static int32_t near_node(const struct machine *machine, int32_t gpu)
{
    const int32_t node = machine->gpus[gpu]->near_node;

    return node < 0 ? NVBW_NEAR : node;
}

/* Where it is not known which node is near none is known to be far. */
static uint32_t list_far(
    const struct machine *machine, int32_t gpu, int32_t *out)
{
    const int32_t near = near_node(machine, gpu);
    uint32_t count = 0;

    for (uint32_t i = 0; near != NVBW_NEAR && i < machine->nodes_count; i++) {
        if ((int32_t)i != near) {
            out[count++] = (int32_t)i;
        }
    }
    return count;
}

static uint32_t list_near_gpu(
    const struct machine *machine, int32_t number, int32_t *out)
{
    int32_t gpu = 0;

    if (!find_number(machine->gpus, machine->gpus_count, number, &gpu)) {
        return 0;
    }
    *out = near_node(machine, gpu);
    return 1;
}

static uint32_t list_near(
    const struct machine *machine, int32_t gpu, int32_t *out)
{
    *out = near_node(machine, gpu);
    return 1;
}

uint32_t place_list(const struct machine *machine,
    const struct place_rule *rule, enum place_kind anchor_kind, int32_t anchor,
    int32_t *out)
{
    const int is_gpu = rule->kind == PLACE_GPU;
    const uint32_t count = is_gpu ? machine->gpus_count : machine->nodes_count;

    switch (rule->pick) {
    case PICK_ONE:
        return find_number(
            is_gpu ? machine->gpus : machine->nodes, count, rule->number, out);
    case PICK_ALL:
        return list_all(count, out);
    case PICK_STEP:
        return list_further(machine, anchor, rule->number, out);
    case PICK_HALF:
        return list_half(machine, anchor, out);
    case PICK_SAME:
        *out = anchor;
        return anchor_kind == rule->kind;
    case PICK_NEAR:
        return list_near(machine, anchor, out);
    case PICK_FAR:
        return list_far(machine, anchor, out);
    case PICK_NEAR_GPU:
        return list_near_gpu(machine, rule->number, out);
    }
    return 0;
}

void place_label(const struct machine *machine, enum place_kind kind,
    int32_t position, char *out, size_t size)
{
    if (position < 0) {
        snprintf(out, size, "host");
        return;
    }
    snprintf(out, size, "%s%lld", kind == PLACE_GPU ? "gpu" : "host",
        (long long)(kind == PLACE_GPU ? machine->gpus
                                      : machine->nodes)[position]
            ->number);
}
