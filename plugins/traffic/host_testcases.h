/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The testcases between host and GPUs, in nvbandwidth's names and meaning: one
 * table for everybody who moves the bytes. A plugin says how it moves them,
 *
 *   #define HOST_MOVED " Bytes are moved by ..."  the end of every help
 *   #define HOST_HELP_BOTH "..."                  what both ways means for it
 *   static int32_t run_hosts(struct nvbw_ctx *ctx);
 *   static const char *const host_tags[];
 *
 * expands HOST_TESTCASES with HOST_DEFINE and the last word of the names, and
 * lists them with HOST_LIST. */
#ifndef NVBW_HOST_TESTCASES_H
#define NVBW_HOST_TESTCASES_H

#include "host_traffic.h"

/* X(name, to_gpu, both_ways, all_gpus, metrics, help, summary) */
#define HOST_TESTCASES(X, by)                                                  \
    X(host_to_device_memcpy_##by, 1, 0, 0, host_metrics_alone, "",             \
        "Host to each GPU in turn.")                                           \
    X(device_to_host_memcpy_##by, 0, 0, 0, host_metrics_alone, "",             \
        "Each GPU in turn to the host.")                                       \
    X(host_to_device_bidirectional_memcpy_##by, 1, 1, 0,                       \
        host_metrics_together, HOST_HELP_BOTH,                                 \
        "Host to each GPU in turn while it copies back.")                      \
    X(device_to_host_bidirectional_memcpy_##by, 0, 1, 0,                       \
        host_metrics_together, HOST_HELP_BOTH,                                 \
        "Each GPU in turn to the host while the host copies back.")            \
    X(all_to_host_memcpy_##by, 0, 0, 1, host_metrics_together, HOST_HELP_ALL,  \
        "Each GPU to the host while all others do the same.")                  \
    X(all_to_host_bidirectional_memcpy_##by, 0, 1, 1, host_metrics_together,   \
        HOST_HELP_BOTH HOST_HELP_ALL,                                          \
        "Each GPU to the host while all GPUs copy both ways.")                 \
    X(host_to_all_memcpy_##by, 1, 0, 1, host_metrics_together, HOST_HELP_ALL,  \
        "The host to each GPU while it copies to all others.")                 \
    X(host_to_all_bidirectional_memcpy_##by, 1, 1, 1, host_metrics_together,   \
        HOST_HELP_BOTH HOST_HELP_ALL,                                          \
        "The host to each GPU while all GPUs copy both ways.")

#define HOST_HELP_ALL                                                          \
    "One GPU is measured while the same runs behind it on all others for as "  \
    "long; it is proved that it did. "

#define HOST_HELP_MEMORY                                                       \
    "The host's memory is page-locked and on the NUMA node nearest to each "   \
    "GPU."

#define HOST_DEFINE(name_, to_gpu_, both_, all_, metrics_, help_, summary_)    \
    static const struct host_traffic traffic_##name_ = { to_gpu_, both_,       \
        all_ };                                                                \
    static const struct nvbw_testcase name_ = { .size = sizeof name_,          \
        .name = #name_,                                                        \
        .summary = summary_,                                                   \
        .help = help_ HOST_HELP_MEMORY HOST_MOVED,                             \
        .tags = host_tags,                                                     \
        .needs = &host_needs,                                                  \
        .metrics = metrics_,                                                   \
        .user = &traffic_##name_,                                              \
        .run = run_hosts };

#define HOST_LIST(name_, to_gpu_, both_, all_, metrics_, help_, summary_)      \
    &name_,

#endif
