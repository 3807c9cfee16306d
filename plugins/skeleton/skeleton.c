/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* skeleton: a whole plugin, to be copied and changed.
 *
 * It measures how fast the CPUs copy memory within a NUMA node and between
 * the nodes, so it runs on any machine. Read it together with nvbw/plugin.h,
 * which explains every member, and docs/writing-a-plugin.md.
 *
 * From top to bottom: what can be set (parameters), what is measured
 * (metrics), how it is measured (run), what can be named in a plan
 * (testcases), and the one symbol that the host looks for. */
#include "nvbw/plugin.h"

/* ---- What can be set ----------------------------------------------------
 *
 * buffer_size, samples, precision, verify and the like belong to every
 * testcase already. Here stands only what is special to this plugin. The host
 * parses and checks the plan's value; run() gets it ready to use. */
static const struct nvbw_param memory = {
    .size = sizeof memory,
    .type = NVBW_TYPE_ENUM,
    .name = "memory",
    .help = "Kind of host memory to copy from and to.",
    .default_text = "pageable",
    .choices = (const char *const[]){ "pageable", "As malloc gives it.",
        "huge_page", "In huge pages: fewer translations on the way.", NULL },
};
static const struct nvbw_param *const params[] = { &memory, NULL };

/* ---- What is measured ---------------------------------------------------
 *
 * The axes say which cells there are: one per node here, one per pair of
 * nodes there. The host knows all of them before anything runs. */
static const struct nvbw_metric per_node = {
    .size = sizeof per_node,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload copied within the node's memory by its own CPUs.",
    .cols = "numa",
};
static const struct nvbw_metric per_pair = {
    .size = sizeof per_pair,
    .unit = NVBW_UNIT_BYTES_PER_SECOND,
    .better = NVBW_HIGHER,
    .name = "bandwidth",
    .help = "Payload copied from the row's node to the column's node by the "
            "CPUs of the row's node.",
    .rows = "numa",
    .cols = "numa",
};

/* ---- How it is measured ------------------------------------------------- */

/* One measurement of one flow: bytes go from one node to another and the
 * figure goes to the cell. measure() does the rest: it allocates, warms up,
 * takes samples until the figure is precise enough, compares what arrived
 * with what was sent, and settles the cell. If the cell is not wanted it
 * returns at once, so there is no need to ask. */
static int32_t copy(struct nvbw_ctx *ctx, int32_t from, int32_t to,
    const struct nvbw_cell *cell)
{
    /* An ENUM parameter is read as the position among its choices. */
    static const uint32_t kinds[] = { NVBW_MEM_PAGEABLE, NVBW_MEM_HUGE_PAGE };
    const uint32_t kind = kinds[ctx->host->param_int(ctx, "memory", 0)];

    const struct nvbw_flow flow = {
        .size = sizeof flow,
        .initiator = NVBW_BY_CPU,
        .operation = NVBW_OP_COPY,
        .executor = from,
        .src_memory = kind,
        .src_place = from,
        .dst_memory = kind,
        .dst_place = to,
        .cell = cell,
    };
    /* Flows in one list run at the same time. A second one with the flag
     * NVBW_FLOW_BACKGROUND would disturb the first. */
    const struct nvbw_flow *const flows[] = { &flow, NULL };
    const struct nvbw_measurement measurement = {
        .size = sizeof measurement,
        .flows = flows,
    };
    return ctx->host->measure(ctx, &measurement);
}

/* Both testcases share this function; `user` tells them apart. It may be
 * called again, in another process, for the cells that are still wanted, so
 * it keeps nothing from one call to the next. */
static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *nodes = ctx->host->places(ctx, "numa");
    const int between = ctx->testcase->user != NULL;

    for (int32_t from = 0; nodes[from] != NULL; from++) {
        for (int32_t to = 0; nodes[to] != NULL; to++) {
            if (!between && from != to) {
                continue;
            }
            const struct nvbw_cell cell = NVBW_CELL(
                "bandwidth", between ? (uint32_t)from : 0, (uint32_t)to);
            /* Negative means that the testcase cannot go on, for whatever
             * reason; a cell that merely failed is settled and we go on. */
            const int32_t status = copy(ctx, from, to, &cell);
            if (status < 0) {
                return status;
            }
        }
    }
    return NVBW_OK;
}

/* ---- What can be named in a plan ---------------------------------------- */

static const char *const tags[] = { "host", "example", NULL };

/* No needs: CPUs and memory are everywhere. A testcase for GPUs would say
 * .needs = &(const struct nvbw_needs){ .size = ..., .min_gpus = 1 }, and the
 * host would word the skip where there is none. */
static const struct nvbw_testcase within = {
    .size = sizeof within,
    .name = "skeleton_copy",
    .summary = "Copies memory within each NUMA node.",
    .help = "The example of the plugin guide.",
    .tags = tags,
    .params = params,
    .metrics = (const struct nvbw_metric *const[]){ &per_node, NULL },
    .run = run,
};
static const struct nvbw_testcase between_nodes = {
    .size = sizeof between_nodes,
    .name = "skeleton_copy_between",
    .summary = "Copies memory from each NUMA node to each.",
    .help = "The example of the plugin guide, as a matrix.",
    .tags = tags,
    .params = params,
    .metrics = (const struct nvbw_metric *const[]){ &per_pair, NULL },
    .user = "between",
    .run = run,
};

/* ---- The one symbol that the host looks for ----------------------------- */

const struct nvbw_plugin nvbw_plugin_v1 = {
    .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "skeleton",
    .version = "1.0.0",
    .summary = "The example of the plugin guide: copies in host memory.",
    .licence = "Apache-2.0",
    .testcases =
        (const struct nvbw_testcase *const[]){ &within, &between_nodes, NULL },
};
