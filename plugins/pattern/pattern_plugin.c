/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* pattern: flows written in the plan. What it makes of them is in
 * pattern_flows.h; here are its descriptors and the measurements. */
#include "pattern_flows.h"

#include <stdlib.h>

/* ---- Parameters --------------------------------------------------------- */

#define KEY(symbol, type_, name_, help_, ...)                                  \
    static const struct nvbw_param symbol = { .size = sizeof symbol,           \
        .type = (type_),                                                       \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        __VA_ARGS__ };

#define MEMORY_CHOICES                                                         \
    .default_text = "auto", .choices = (const char *const[])                   \
    {                                                                          \
        "auto", "device on a GPU, pinned on a host, pageable by cpu.",         \
            "pinned", "Page-locked host memory.", "pageable",                  \
            "Host memory from malloc.", "write_combined",                      \
            "Page-locked, not cached by CPUs.", "huge_page",                   \
            "Pageable, in huge pages.", "managed",                             \
            "Moves between host and GPU by itself.", "device",                 \
            "A GPU's memory.", "vmm", "A GPU's, that others can map.",         \
            "fabric", "A GPU's, shareable over the fabric.", NULL              \
    }

KEY(name_key, NVBW_TYPE_TEXT, "name",
    "What it is called in reports and messages; each flow has its own name.",
    .flags = 0)
KEY(group_key, NVBW_TYPE_TEXT, "group",
    "Flows of one group start together; groups run one after another. Left "
    "out, the flow is a group by itself.",
    .default_text = "")
KEY(order_key, NVBW_TYPE_ENUM, "order",
    "What becomes of a flow that stands for several; alike in a group.",
    .default_text = "together",
    .choices = (const char *const[]){ "together", "All at once.", "in_turn",
        "One at a time: the first of each flow of the group, then the second.",
        NULL })
KEY(from_key, NVBW_TYPE_TEXT, "from",
    "Where bytes come from, of a copy or a read: gpu:N, gpu:* (each), host:N "
    "(NUMA node), host:* (each) or host:gpu:N (the node nearest to that GPU); "
    "or, seen from the GPU at the other end, gpu:+N and gpu:-N (so many "
    "further, around), gpu:+half, gpu:same, host (its nearest node), host:far "
    "(every other node). gpu:* at both ends are all pairs.",
    .default_text = "")
KEY(to_key, NVBW_TYPE_TEXT, "to",
    "Where bytes go, of a copy or a write; places as in from.",
    .default_text = "")
KEY(on_key, NVBW_TYPE_TEXT, "on",
    "Who moves them. Of a copy: from, to or gpu:N; left out, the GPU that they "
    "come from, or else go to. Of a read or write: the place of the GPU or "
    "CPU that does it; left out, where the memory is.",
    .default_text = "")
KEY(by_key, NVBW_TYPE_ENUM, "by", "What moves the bytes.", .default_text = "ce",
    .choices = (const char *const[]){ "ce", "The driver's copies.", "sm",
        "A kernel.", "tma", "A kernel of bulk copies.", "cpu",
        "Threads of the host, between its own memories.", NULL })
KEY(op_key, NVBW_TYPE_ENUM, "op", "What is done to them.",
    .default_text = "copy",
    .choices = (const char *const[]){ "copy", "From one place to another.",
        "read", "Read where they are.", "write", "Written where they are.",
        NULL })
KEY(from_memory_key, NVBW_TYPE_ENUM, "from_memory",
    "Kind of memory that they come from.", MEMORY_CHOICES)
KEY(to_memory_key, NVBW_TYPE_ENUM, "to_memory",
    "Kind of memory that they go to.", MEMORY_CHOICES)
KEY(size_key, NVBW_TYPE_SIZE, "size",
    "Bytes of one copy; 0 B leaves it to buffer_size.", .default_text = "0 B",
    .max_text = "1 TiB")
KEY(repeats_key, NVBW_TYPE_INT, "repeats",
    "Copies of a sample; 0 leaves it to the mode.", .unit = NVBW_UNIT_COUNT,
    .default_text = "0", .min_text = "0", .max_text = "1000000")
KEY(background_key, NVBW_TYPE_BOOL, "background",
    "It has no row of bandwidth and outlasts what is measured; what it moves "
    "in that time counts for the total.",
    .default_text = "false")

static const struct nvbw_param flows_param = {
    .size = sizeof flows_param,
    .flags = NVBW_PARAM_LIST,
    .type = NVBW_TYPE_GROUP,
    .name = "flows",
    .help = "The flows, each a group of these keys.",
    .members =
        (const struct nvbw_param *const[]){ &name_key, &group_key, &order_key,
            &from_key, &to_key, &on_key, &by_key, &op_key, &from_memory_key,
            &to_memory_key, &size_key, &repeats_key, &background_key, NULL },
};

/* ---- Metrics ------------------------------------------------------------ */

static const struct nvbw_metric total_metric = {
    .size = sizeof total_metric,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "total",
    .help = "Payload of all flows that start together, background included, "
            "over first start to last end of those that are measured.",
    .rows = "text",
};
static const struct nvbw_metric bandwidth_metric = {
    .size = sizeof bandwidth_metric,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload of each flow, in company of those of its group.",
    .rows = "text",
};

/* ---- Measuring ---------------------------------------------------------- */

/* A step's measurement and what it points to. */
struct scene {
    struct nvbw_cell *cells;
    struct nvbw_flow *flows;
    const struct nvbw_flow **list;
};

static void scene_free(struct scene *scene)
{
    free(scene->cells);
    free(scene->flows);
    free(scene->list);
}

static int scene_open(struct scene *scene, uint32_t count)
{
    scene->cells = calloc(count, sizeof *scene->cells);
    scene->flows = calloc(count, sizeof *scene->flows);
    scene->list = calloc((size_t)count + 1, sizeof *scene->list);
    return scene->cells != NULL && scene->flows != NULL && scene->list != NULL;
}

static void fill_flow(
    const struct part *part, struct nvbw_cell *cell, struct nvbw_flow *out)
{
    const struct rule *const rule = part->rule;

    *out = (struct nvbw_flow){ .size = sizeof *out,
        .flags = rule->background ? NVBW_FLOW_BACKGROUND : 0,
        .initiator = rule->initiator,
        .operation = rule->operation,
        .src_memory = rule->memory[0],
        .dst_memory = rule->memory[1],
        .src_place = part->at[0],
        .dst_place = part->at[1],
        .executor = part->executor,
        .bytes = rule->bytes,
        .repeats = rule->repeats };
    if (part->row >= 0) {
        *cell =
            (struct nvbw_cell)NVBW_CELL("bandwidth", (uint32_t)part->row, 0);
        out->cell = cell;
    }
}

static int32_t measure_step(
    struct nvbw_ctx *ctx, const struct pattern *pattern, uint32_t at)
{
    const struct step *const step = &pattern->steps[at];
    const struct nvbw_cell total = NVBW_CELL("total", at, 0);
    struct scene scene;
    int32_t status = NVBW_OK;

    if (!scene_open(&scene, step->count)) {
        status = ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
    } else {
        for (uint32_t i = 0; i < step->count; i++) {
            fill_flow(&pattern->parts[pattern->steps_parts[step->first + i]],
                &scene.cells[i], &scene.flows[i]);
            scene.list[i] = &scene.flows[i];
        }

        const struct nvbw_measurement measurement = {
            .size = sizeof measurement, .flows = scene.list, .total = &total
        };

        status = ctx->host->measure(ctx, &measurement);
    }
    scene_free(&scene);
    return status;
}

static int32_t skip_cell(
    struct nvbw_ctx *ctx, const struct nvbw_cell *cell, const char *text)
{
    return ctx->host->wanted(ctx, cell)
               ? ctx->host->skip(ctx, cell, NVBW_SKIP_TOO_FEW_DEVICES, text)
               : NVBW_OK;
}

static int32_t skip_step(
    struct nvbw_ctx *ctx, const struct pattern *pattern, uint32_t at)
{
    const struct step *const step = &pattern->steps[at];
    const struct nvbw_cell total = NVBW_CELL("total", at, 0);
    int32_t status = skip_cell(ctx, &total, step->trouble);

    for (uint32_t i = 0; i < step->count && status >= 0; i++) {
        const struct part *const part =
            &pattern->parts[pattern->steps_parts[step->first + i]];
        const struct nvbw_cell cell =
            NVBW_CELL("bandwidth", (uint32_t)part->row, 0);

        if (part->row >= 0) {
            status = skip_cell(ctx, &cell, step->trouble);
        }
    }
    return status;
}

static int32_t set_labels(struct nvbw_ctx *ctx, const struct pattern *pattern)
{
    const uint32_t most = pattern->parts_count;
    const char **const names = calloc((size_t)most + 1, sizeof *names);
    uint32_t count = 0;
    int32_t status = NVBW_OK;

    if (names == NULL) {
        return ctx->host->fail(
            ctx, NULL, NVBW_E_SYSTEM, 0, "no memory for the list of flows");
    }
    for (uint32_t i = 0; i < pattern->parts_count; i++) {
        if (pattern->parts[i].row >= 0) {
            names[count++] = pattern->parts[i].label;
        }
    }
    status = ctx->host->labels(ctx, "bandwidth", 0, names);
    for (uint32_t i = 0; i < pattern->steps_count; i++) {
        names[i] = pattern->steps[i].label;
    }
    names[pattern->steps_count] = NULL;
    if (status >= 0) {
        status = ctx->host->labels(ctx, "total", 0, names);
    }
    free(names);
    return status;
}

static int32_t run_steps(struct nvbw_ctx *ctx, const struct pattern *pattern)
{
    int32_t status = set_labels(ctx, pattern);

    for (uint32_t i = 0; i < pattern->steps_count && status >= 0; i++) {
        status = pattern->steps[i].trouble[0] != '\0'
                     ? skip_step(ctx, pattern, i)
                     : measure_step(ctx, pattern, i);
    }
    return status;
}

static int32_t run(struct nvbw_ctx *ctx)
{
    struct pattern pattern;
    int32_t status = pattern_expand(ctx, &pattern);

    if (status >= 0) {
        status = run_steps(ctx, &pattern);
    }
    pattern_free(&pattern);
    return status;
}

/* ---- The testcase ------------------------------------------------------- */

static const struct nvbw_testcase testcase = {
    .size = sizeof testcase,
    .name = "pattern",
    .summary = "Flows that the plan writes down.",
    .help =
        "Each flow of the plan says what moves from where to where, by what. "
        "Its places may stand for many: gpu:* for each GPU, gpu:+1 for the "
        "next one, so that one line is a ring, a bisection or all pairs. "
        "Flows of one group start together and their group has a row of "
        "total; each flow has a row of bandwidth. plans/pattern.cfg has the "
        "usual patterns. What the plan gets wrong is said with flow, file and "
        "line before anything runs; what this machine has not got is a skip "
        "with the same words. GPUs and nodes go by the numbers of reports.",
    .tags = (const char *const[]){ "pattern", "bandwidth", NULL },
    .params = (const struct nvbw_param *const[]){ &flows_param, NULL },
    .metrics = (const struct nvbw_metric *const[]){ &total_metric,
        &bandwidth_metric, NULL },
    .run = run,
    .check = pattern_check,
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "pattern",
    .version = "1.0.0",
    .summary = "Any flows, written in the plan.",
    .licence = "Apache-2.0",
    .testcases = (const struct nvbw_testcase *const[]){ &testcase, NULL } };
