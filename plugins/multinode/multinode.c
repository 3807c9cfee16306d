/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* multinode: between the GPUs of MPI ranks, on one host or on several within
 * an NVLink domain. */
#include "at_once.h"
#include "mpi_team.h"
#include "peer_traffic.h"

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

/* ---- Bisection ---------------------------------------------------------- */

static int32_t run_bisect(struct nvbw_ctx *ctx)
{
    const uint32_t ranks = rank_count(ctx);

    return at_once_measure(ctx, ctx->testcase->user, ranks, ranks / 2, 0);
}

#define HELP_BISECT                                                            \
    "Rank i acts on rank i + R/2 of R, all at once, so that every byte "       \
    "crosses the middle of the fabric. One measurement, however many ranks "   \
    "there are; the slow rank is seen by its figure."

/* X(name, reads, initiator, tags, summary) */
#define BISECT_TESTCASES(X)                                                    \
    X(multinode_bisect_write_ce, 0, NVBW_BY_CE, tags_ce,                       \
        "All ranks at once write to the rank half of them away.")              \
    X(multinode_bisect_read_ce, 1, NVBW_BY_CE, tags_ce,                        \
        "All ranks at once read from the rank half of them away.")             \
    X(multinode_bisect_write_sm, 0, NVBW_BY_SM, tags_sm,                       \
        "All ranks at once write to the rank half of them away.")              \
    X(multinode_bisect_read_sm, 1, NVBW_BY_SM, tags_sm,                        \
        "All ranks at once read from the rank half of them away.")

#define DEFINE_BISECT(name_, reads_, initiator_, tags_, summary_)              \
    static const struct rank_mover mover_##name_ = { initiator_, reads_ };     \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = HELP_BISECT,                                                   \
        .tags = tags_,                                                         \
        .needs = &needs_ranks,                                                 \
        .metrics = metrics_rank,                                               \
        .user = &mover_##name_,                                                \
        .run = run_bisect };

BISECT_TESTCASES(DEFINE_BISECT)

static const struct nvbw_testcase *const testcases[] = { PEER_TESTCASES(
    LIST_PEER) BISECT_TESTCASES(LIST_PEER) NULL };

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
