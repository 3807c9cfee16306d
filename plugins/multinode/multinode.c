/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* multinode: between the GPUs of MPI ranks, on one host or on several within
 * an NVLink domain. */
#include "at_once.h"
#include "chase_footprint.h"
#include "chase_loaded.h"
#include "mpi_team.h"
#include "peer_traffic.h"
#include "rank_count.h"
#include "sampled.h"

/* ---- Metrics ------------------------------------------------------------ */

#define RANK_METRIC(symbol, flags_, name_, help_, rows_, cols_)                \
    static const struct nvbw_metric symbol = { .size = sizeof symbol,          \
        .flags = (flags_),                                                     \
        .unit = NVBW_UNIT_BYTES_PER_SECOND,                                    \
        .better = NVBW_HIGHER,                                                 \
        .name = (name_),                                                       \
        .help = (help_),                                                       \
        .rows = (rows_),                                                       \
        .cols = (cols_) }

RANK_METRIC(metric_pair, NVBW_METRIC_PAIRS, "bandwidth",
    "Payload between the rank of the row, which moves it, and that of the "
    "column.",
    "rank", "rank");
RANK_METRIC(metric_forward, NVBW_METRIC_PAIRS, "forward",
    "Payload from the rank of the row to that of the column.", "rank", "rank");
RANK_METRIC(metric_reverse, NVBW_METRIC_PAIRS, "reverse",
    "Payload from the rank of the column to that of the row, at the same time.",
    "rank", "rank");
RANK_METRIC(metric_total, NVBW_METRIC_PAIRS, "total",
    "The sum of both ranks' rates.", "rank", "rank");
RANK_METRIC(metric_team, 0, "bandwidth",
    "Payload between this rank and all others: the sum of the rates of those "
    "that move it.",
    NULL, "rank");

RANK_METRIC(metric_rank, 0, "bandwidth",
    "Payload that this rank moves while all others do the same.", "rank", NULL);

static const struct nvbw_metric *const metrics_rank[] = { &metric_rank, NULL };
static const struct nvbw_metric *const metrics_pair[] = { &metric_pair, NULL };
static const struct nvbw_metric *const metrics_both_ways[] = { &metric_forward,
    &metric_reverse, &metric_total, NULL };
static const struct nvbw_metric *const metrics_team[] = { &metric_team, NULL };

/* ---- Testcases ---------------------------------------------------------- */

static const struct nvbw_needs needs_ranks = { .size = sizeof needs_ranks,
    .features = NVBW_NEED_MPI,
    .min_gpus = 1,
    .min_ranks = 2 };

/* A row of the table below. */
struct rank_traffic {
    struct peer_traffic traffic;
    uint32_t initiator;
};

static int32_t run_peers(struct nvbw_ctx *ctx)
{
    const struct rank_traffic *const own = ctx->testcase->user;
    const struct peer_mover mover = { own->initiator, 0, "rank" };

    return peer_traffic_run(ctx, &own->traffic, &mover);
}

static const char *const tags_ce[] = { "multinode", "ce", "bandwidth", NULL };
static const char *const tags_sm[] = { "multinode", "sm", "bandwidth", NULL };

#define HELP_PAIR                                                              \
    "The rank of the row acts on the memory of the rank of the column, which " \
    "its owner shares by a fabric handle or, on one host, by a descriptor."
#define HELP_BOTH_WAYS                                                         \
    "Both ranks of a pair act on each other at once; forward is what goes "    \
    "from row to column, and total is the sum of both ranks' rates."
#define HELP_TEAM                                                              \
    "All other ranks at once; the figure is the sum of their rates."

/* X(name, shape, reads, initiator, tags, metrics, help, summary) */
#define PEER_TESTCASES(X)                                                      \
    X(multinode_device_to_device_memcpy_read_ce, PEER_PAIR, 1, NVBW_BY_CE,     \
        tags_ce, metrics_pair, HELP_PAIR,                                      \
        "Each rank reads from each other one in turn.")                        \
    X(multinode_device_to_device_memcpy_write_ce, PEER_PAIR, 0, NVBW_BY_CE,    \
        tags_ce, metrics_pair, HELP_PAIR,                                      \
        "Each rank writes to each other one in turn.")                         \
    X(multinode_device_to_device_bidirectional_memcpy_read_ce, PEER_BOTH_WAYS, \
        1, NVBW_BY_CE, tags_ce, metrics_both_ways, HELP_BOTH_WAYS,             \
        "The two ranks of each pair read from each other at once.")            \
    X(multinode_device_to_device_bidirectional_memcpy_write_ce,                \
        PEER_BOTH_WAYS, 0, NVBW_BY_CE, tags_ce, metrics_both_ways,             \
        HELP_BOTH_WAYS,                                                        \
        "The two ranks of each pair write to each other at once.")             \
    X(multinode_device_to_device_memcpy_read_sm, PEER_PAIR, 1, NVBW_BY_SM,     \
        tags_sm, metrics_pair, HELP_PAIR,                                      \
        "Each rank reads from each other one in turn.")                        \
    X(multinode_device_to_device_memcpy_write_sm, PEER_PAIR, 0, NVBW_BY_SM,    \
        tags_sm, metrics_pair, HELP_PAIR,                                      \
        "Each rank writes to each other one in turn.")                         \
    X(multinode_device_to_device_bidirectional_memcpy_read_sm, PEER_BOTH_WAYS, \
        1, NVBW_BY_SM, tags_sm, metrics_both_ways, HELP_BOTH_WAYS,             \
        "The two ranks of each pair read from each other at once.")            \
    X(multinode_device_to_device_bidirectional_memcpy_write_sm,                \
        PEER_BOTH_WAYS, 0, NVBW_BY_SM, tags_sm, metrics_both_ways,             \
        HELP_BOTH_WAYS,                                                        \
        "The two ranks of each pair write to each other at once.")             \
    X(multinode_device_to_device_all_to_one_write_sm, PEER_ALL_TO_ONE, 0,      \
        NVBW_BY_SM, tags_sm, metrics_team, HELP_TEAM,                          \
        "All other ranks write to each rank in turn.")                         \
    X(multinode_device_to_device_all_from_one_read_sm, PEER_ALL_TO_ONE, 1,     \
        NVBW_BY_SM, tags_sm, metrics_team, HELP_TEAM,                          \
        "All other ranks read from each rank in turn.")

#define DEFINE_PEER(                                                           \
    name_, shape_, reads_, initiator_, tags_, metrics_, help_, summary_)       \
    static const struct rank_traffic traffic_##name_ = { { shape_, reads_ },   \
        initiator_ };                                                          \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags_,                                                         \
        .needs = &needs_ranks,                                                 \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run_peers };

#define LIST_PEER(name_, ...) &name_,

PEER_TESTCASES(DEFINE_PEER)

/* ---- Of all at once, and sampled ---------------------------------------- */

static int32_t run_bisect(struct nvbw_ctx *ctx)
{
    const uint32_t ranks = rank_count(ctx);

    return at_once_measure(ctx, ctx->testcase->user, ranks, ranks / 2, 0);
}

#define HELP_BISECT                                                            \
    "Rank i acts on rank i + R/2 of R, all at once, so that every byte "       \
    "crosses the middle of the fabric. One measurement, however many ranks "   \
    "there are; the slow rank is seen by its figure."
#define HELP_GPU_TO_RACK                                                       \
    "Each rank acts alone on `peers` others that `seed` chooses, none twice "  \
    "before all have had their turn; columns count the draws. The median of "  \
    "a rank counts each partner once. It is low where the rank is slow, a "    \
    "single figure where its partner is. The time grows with the number of "   \
    "ranks, not its square."
#define HELP_RACK_TO_RACK                                                      \
    "All ranks of a rack act at once on those of another, or each on its "     \
    "neighbour within the rack; the figure is the sum of their rates. A rack " \
    "is `rack_ranks` ranks in a row."
#define HELP_STRESS                                                            \
    "All ranks act at once, each on another, `rounds` times with partners "    \
    "that `seed` chooses. As many measurements as rounds, however many ranks " \
    "there are."

static const struct nvbw_param param_peers = { .size = sizeof param_peers,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "peers",
    .help = "Partners of each rank.",
    .default_text = "4",
    .min_text = "1",
    .max_text = "64" };
static const struct nvbw_param param_rounds = { .size = sizeof param_rounds,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "rounds",
    .help = "Times that all ranks act at once, with other partners each time.",
    .default_text = "8",
    .min_text = "1",
    .max_text = "1000" };
static const struct nvbw_param param_rack = { .size = sizeof param_rack,
    .type = NVBW_TYPE_INT,
    .unit = NVBW_UNIT_COUNT,
    .name = "rack_ranks",
    .help = "Ranks in a row that make a rack.",
    .default_text = "72",
    .min_text = "1",
    .max_text = "100000" };
static const struct nvbw_param *const params_none[] = { NULL };
static const struct nvbw_param *const params_peers[] = { &param_peers, NULL };
static const struct nvbw_param *const params_rounds[] = { &param_rounds, NULL };
static const struct nvbw_param *const params_rack[] = { &param_rack, NULL };

RANK_METRIC(metric_partner, 0, "bandwidth",
    "Payload between this rank and its partner of that number.", "rank",
    "#peers");
RANK_METRIC(metric_median, NVBW_METRIC_DERIVED, "median",
    "The median of this rank's partners.", "rank", NULL);
RANK_METRIC(metric_racks, 0, "bandwidth",
    "The sum of the rates of all ranks of the row's rack.", "text", "text");
RANK_METRIC(metric_round, 0, "bandwidth",
    "Payload that this rank moves in that round.", "rank", "#rounds");

static const struct nvbw_metric *const metrics_rack[] = { &metric_partner,
    &metric_median, NULL };
static const struct nvbw_metric *const metrics_racks[] = { &metric_racks,
    NULL };
static const struct nvbw_metric *const metrics_rounds[] = { &metric_round,
    NULL };

/* X(name, run, params, metrics, help, summary, reads, initiator, tags) */
#define BY_ALL(X, name, ...)                                                   \
    X(name##_write_ce, __VA_ARGS__, 0, NVBW_BY_CE, tags_ce)                    \
    X(name##_read_ce, __VA_ARGS__, 1, NVBW_BY_CE, tags_ce)                     \
    X(name##_write_sm, __VA_ARGS__, 0, NVBW_BY_SM, tags_sm)                    \
    X(name##_read_sm, __VA_ARGS__, 1, NVBW_BY_SM, tags_sm)

#define OTHER_TESTCASES(X)                                                     \
    BY_ALL(X, multinode_bisect, run_bisect, params_none, metrics_rank,         \
        HELP_BISECT,                                                           \
        "All ranks at once, each with the one half of them away.")             \
    BY_ALL(X, multinode_gpu_to_rack, sampled_gpu_to_rack, params_peers,        \
        metrics_rack, HELP_GPU_TO_RACK,                                        \
        "Each rank with some others, one after another.")                      \
    BY_ALL(X, multinode_rack_to_rack, sampled_rack_to_rack, params_rack,       \
        metrics_racks, HELP_RACK_TO_RACK,                                      \
        "All ranks of a rack with those of another.")                          \
    BY_ALL(X, multinode_fabric_stress, sampled_fabric_stress, params_rounds,   \
        metrics_rounds, HELP_STRESS,                                           \
        "All ranks at once, again and again with other partners.")

#define DEFINE_OTHER(name_, run_, params_, metrics_, help_, summary_, reads_,  \
    initiator_, tags_)                                                         \
    static const struct rank_mover mover_##name_ = { initiator_, reads_ };     \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_,                                                         \
        .tags = tags_,                                                         \
        .needs = &needs_ranks,                                                 \
        .params = params_,                                                     \
        .metrics = metrics_,                                                   \
        .user = &mover_##name_,                                                \
        .run = run_ };

OTHER_TESTCASES(DEFINE_OTHER)

/* ---- Latency ------------------------------------------------------------ */

/* The GPU of rank `row` follows a chain over the memory of rank `col`. */
static int32_t measure_latency(struct nvbw_ctx *ctx,
    const struct nvbw_place *const *ranks, uint32_t row, uint32_t col)
{
    const uint32_t *const initiator = ctx->testcase->user;
    const enum chase_order order =
        (enum chase_order)ctx->host->param_int(ctx, "chase", 0);
    const struct nvbw_cell cell = NVBW_CELL("latency", row, col);
    const struct nvbw_flow flow = { .size = sizeof flow,
        .initiator = *initiator,
        .operation = NVBW_OP_CHASE,
        .src_memory = NVBW_MEM_FABRIC,
        .src_place = (int32_t)col,
        .executor = (int32_t)row,
        .stride = order == ORDER_STRIDE ? CHASE_STRIDE : 0,
        .bytes = chase_footprint(ctx, ON_PEER, order, ranks[row], ranks[col]),
        .cell = &cell };
    const struct nvbw_flow *const list[] = { &flow, NULL };
    const struct nvbw_measurement one = { .size = sizeof one, .flows = list };

    return ctx->host->measure(ctx, &one);
}

static int32_t run_latency(struct nvbw_ctx *ctx)
{
    const struct nvbw_place *const *const list = ctx->host->places(ctx, "rank");
    const uint32_t ranks = rank_count(ctx);

    for (uint32_t i = 0; i < ranks * ranks; i++) {
        const uint32_t row = i / ranks;
        const uint32_t col = i % ranks;
        const int32_t status =
            row == col ? NVBW_OK : measure_latency(ctx, list, row, col);

        if (status < 0) {
            return status;
        }
    }
    return NVBW_OK;
}

static const struct nvbw_metric metric_latency = { .size =
                                                       sizeof metric_latency,
    .flags = NVBW_METRIC_PAIRS,
    .unit = NVBW_UNIT_NANOSECONDS,
    .better = NVBW_LOWER,
    .name = "latency",
    .help = "Time of one load by the GPU of the row's rank from the memory of "
            "the column's.",
    .rows = "rank",
    .cols = "rank" };
static const struct nvbw_metric *const metrics_latency[] = { &metric_latency,
    NULL };
static const struct nvbw_param *const params_chase[] = { &chase_footprint_param,
    NULL };
static const char *const tags_latency[] = { "multinode", "latency", NULL };

static const uint32_t latency_by_sm = NVBW_BY_SM;
static const struct nvbw_testcase multinode_device_to_device_latency_sm = {
    .size = sizeof multinode_device_to_device_latency_sm,
    .name = "multinode_device_to_device_latency_sm",
    .summary = "The time of a load from each other rank's memory in turn.",
    .help =
        "One thread of one SM follows a chain of dependent loads through the "
        "other rank's memory.\n\n"
        "chase = \"stride\": 128-byte steps over 2 MiB, by every SM in turn, a "
        "launch each; the figure is the mean over the SMs, launches included. "
        "The memory is answered by its GPU's L2 cache (flag cache_bound).\n\n"
        "chase = \"random\": a random cycle over `footprint`, after its owner "
        "emptied that cache and one lap was taken by all SMs; the figure is "
        "the difference of three stretches and one on some of the SMs in turn, "
        "so launches drop out.\n\n"
        "buffer_size has no effect.",
    .tags = tags_latency,
    .needs = &needs_ranks,
    .params = params_chase,
    .metrics = metrics_latency,
    .user = &latency_by_sm,
    .run = run_latency
};

static const struct chase_loaded by_load = { ON_PEER, NVBW_MEM_FABRIC, "rank" };

static int32_t run_loaded(struct nvbw_ctx *ctx)
{
    return chase_loaded_run(ctx, ctx->testcase->user);
}

static const char *const tags_loaded[] = { "multinode", "latency", "loaded",
    NULL };
static const struct nvbw_testcase multinode_device_to_device_latency_loaded = {
    .size = sizeof multinode_device_to_device_latency_loaded,
    .name = "multinode_device_to_device_latency_loaded",
    .summary = "Latency of another rank's memory for loads by each rank, "
               "beside reads of it.",
    .help = CHASE_LOADED_ABOUT,
    .tags = tags_loaded,
    .needs = &needs_ranks,
    .params = chase_loaded_rank_params,
    .metrics = chase_loaded_rank_metrics,
    .user = &by_load,
    .run = run_loaded
};

static const struct nvbw_testcase *const testcases[] = {
    PEER_TESTCASES(LIST_PEER) OTHER_TESTCASES(LIST_PEER) &
        multinode_device_to_device_latency_sm,
    &multinode_device_to_device_latency_loaded, NULL
};

const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .flags = NVBW_PLUGIN_MPI,
    .magic = NVBW_MAGIC,
    .abi_minor = NVBW_ABI_MINOR,
    .name = "multinode",
    .version = "1.0.0",
    .summary = "Between the GPUs of MPI ranks.",
    .licence = "Apache-2.0",
    .testcases = testcases,
    .init = mpi_team_init,
    .fini = mpi_team_fini };
