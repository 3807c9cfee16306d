/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The testcases between GPUs, in nvbandwidth's names and meaning: one table
 * for everybody who moves the bytes. A plugin says how it moves them,
 *
 *   #define PEER_MOVED " Bytes are moved by ..."  the end of every help
 *   static int32_t run_peers(struct nvbw_ctx *ctx);
 *   static const char *const peer_tags[];
 *   static const struct nvbw_needs needs_peers;
 *
 * expands PEER_PAIRS, and PEER_TEAMS where it has them, with PEER_DEFINE and
 * the last word of the names, and lists them with PEER_LIST. */
#ifndef NVBW_PEER_TESTCASES_H
#define NVBW_PEER_TESTCASES_H

#include "peer_traffic.h"

/* X(name, shape, reads, metrics, help, summary) */
#define PEER_PAIRS(X, by)                                                      \
    X(device_to_device_memcpy_read_##by, PEER_PAIR, 1, peer_metrics_pair,      \
        "The GPU of the row reads from the GPU of the column.",                \
        "Each GPU reads from each other one in turn.")                         \
    X(device_to_device_memcpy_write_##by, PEER_PAIR, 0, peer_metrics_pair,     \
        "The GPU of the row writes to the GPU of the column.",                 \
        "Each GPU writes to each other one in turn.")                          \
    X(device_to_device_bidirectional_memcpy_read_##by, PEER_BOTH_WAYS, 1,      \
        peer_metrics_both_ways, PEER_HELP_BOTH_WAYS,                           \
        "The two GPUs of each pair read from each other at once.")             \
    X(device_to_device_bidirectional_memcpy_write_##by, PEER_BOTH_WAYS, 0,     \
        peer_metrics_both_ways, PEER_HELP_BOTH_WAYS,                           \
        "The two GPUs of each pair write to each other at once.")

#define PEER_TEAMS(X, by)                                                      \
    X(all_to_one_write_##by, PEER_ALL_TO_ONE, 0, peer_metrics_team,            \
        PEER_HELP_TEAM, "All other GPUs write to each GPU in turn.")           \
    X(all_to_one_read_##by, PEER_ALL_TO_ONE, 1, peer_metrics_team,             \
        PEER_HELP_TEAM, "All other GPUs read from each GPU in turn.")          \
    X(one_to_all_write_##by, PEER_ONE_TO_ALL, 0, peer_metrics_team,            \
        PEER_HELP_TEAM, "Each GPU in turn writes to all others.")              \
    X(one_to_all_read_##by, PEER_ONE_TO_ALL, 1, peer_metrics_team,             \
        PEER_HELP_TEAM, "Each GPU in turn reads from all others.")

#define PEER_HELP_BOTH_WAYS                                                    \
    "Both GPUs of a pair act on each other at once; forward is what goes "     \
    "from row to column."
#define PEER_HELP_TEAM                                                         \
    "All flows of one GPU with all others at once; the figure is the sum. A "  \
    "GPU that cannot address all others is skipped."

#define PEER_DEFINE(name_, shape_, reads_, metrics_, help_, summary_)          \
    static const struct peer_traffic traffic_##name_ = { shape_, reads_ };     \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_ PEER_MOVED,                                              \
        .tags = peer_tags,                                                     \
        .needs = &needs_peers,                                                 \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run_peers };

#define PEER_LIST(name_, shape_, reads_, metrics_, help_, summary_) &name_,

#endif
