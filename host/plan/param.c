/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *mode_choices[] = { "adaptive", "fixed" };
static const char *mode_help[] = {
    "a pilot sizes the copies, sampling stops at the wanted precision",
    "buffer_size, copies, samples and warmup as given, like nvbandwidth",
};
static const char *chase_choices[] = { "stride", "random" };
static const char *chase_help[] = {
    "steps of 128 bytes over 2 MiB, mean over all SMs, as nvbandwidth does",
    "a random cycle that caches and prefetchers cannot guess",
};
static const char *concurrency_choices[] = { "alone", "disjoint" };
static const char *concurrency_help[] = {
    "one pair of GPUs at a time",
    "pairs that share no GPU at once: as many measurements as there are GPUs, "
    "not as there are pairs",
};
static const char *p2p_choices[] = { "on", "off", "both" };
static const char *p2p_help[] = {
    "with peer access",
    "without it, staged through the host",
    "one after the other",
};

#define CHOICES(prefix)                                                        \
    .choices = prefix##_choices, .choices_count = COUNT(prefix##_choices),     \
    .choices_help = prefix##_help, .choices_help_count = COUNT(prefix##_help)

const struct param_schema standard_params[] = {
    {
        .name = "mode",
        .help = "how a cell is sampled",
        .type = NVBW_TYPE_ENUM,
        .default_text = "adaptive",
        CHOICES(mode),
    },
    {
        .name = "buffer_size",
        .help = "bytes of one copy; 0 B leaves it to the path (128 MiB over "
                "PCIe, 512 MiB over a coherent link, 1 GiB over NVLink, 4 GiB "
                "within a GPU, 200 times its L2 for reads and writes there; "
                "for CPUs four times their cache, 1536 MiB where that is not "
                "known, 512 MiB at least), or is 512 MiB in fixed mode",
        .type = NVBW_TYPE_SIZE,
        .default_text = "0 B",
        .min_text = "0 B",
        .max_text = "1 TiB",
    },
    {
        .name = "copies",
        .help = "copies per sample in fixed mode",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "16",
        .min_text = "1",
        .max_text = "200",
    },
    {
        .name = "samples",
        .help = "samples per cell in fixed mode",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "3",
        .min_text = "1",
        .max_text = "10000",
    },
    {
        .name = "min_samples",
        .help = "fewest samples per cell in adaptive mode",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "8",
        .min_text = "6",
        .max_text = "1000",
    },
    {
        .name = "max_samples",
        .help = "most samples per cell in adaptive mode",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "15",
        .min_text = "6",
        .max_text = "1000",
    },
    {
        .name = "precision",
        .help = "half-width of the median's interval, relative to the median, "
                "at which sampling of a quiet cell stops",
        .type = NVBW_TYPE_REAL,
        .unit = NVBW_UNIT_RATIO,
        .default_text = "0.5 %",
        .min_text = "0.01 %",
        .max_text = "50 %",
    },
    {
        .name = "precision_contended",
        .help = "the same for cells with interfering traffic",
        .type = NVBW_TYPE_REAL,
        .unit = NVBW_UNIT_RATIO,
        .default_text = "2 %",
        .min_text = "0.01 %",
        .max_text = "50 %",
    },
    {
        .name = "warmup",
        .help = "untimed copies before each sample in fixed mode",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "4",
        .min_text = "0",
        .max_text = "200",
    },
    {
        .name = "verify",
        .help = "compare every counted byte with what was sent",
        .type = NVBW_TYPE_BOOL,
        .default_text = "true",
    },
    {
        .name = "devices",
        .help = "GPUs to use: indices, ranges, UUIDs or PCI addresses, or all",
        .type = NVBW_TYPE_TEXT,
        .flags = NVBW_PARAM_LIST,
        .default_text = "all",
    },
    {
        .name = "affinity",
        .help = "run host threads on the CPUs nearest to the GPU",
        .type = NVBW_TYPE_BOOL,
        .default_text = "true",
    },
    {
        .name = "timeout",
        .help = "longest time that one cell may take",
        .type = NVBW_TYPE_DURATION,
        .default_text = "60 s",
        .min_text = "10 ms",
        .max_text = "7 d",
    },
    {
        .name = "seed",
        .help = "seed of the data that is copied and of random choices",
        .type = NVBW_TYPE_INT,
        .default_text = "1",
        .min_text = "0",
    },
    {
        .name = "gate",
        .help = "hold work back on the GPU until all of it is enqueued; off "
                "for profilers and checkers",
        .type = NVBW_TYPE_BOOL,
        .default_text = "true",
    },
    {
        .name = "chase",
        .help = "the order in which latency is measured over memory",
        .type = NVBW_TYPE_ENUM,
        .default_text = "stride",
        CHOICES(chase),
    },
    {
        .name = "sizes",
        .help = "sizes of a ladder: quick (32 MiB), shmoo (1 KiB to 64 MiB, "
                "doubling), a list of sizes, or start/end/step",
        .type = NVBW_TYPE_TEXT,
        .flags = NVBW_PARAM_LIST,
        .default_text = "quick",
    },
    {
        .name = "concurrency",
        .help = "which bandwidths between pairs of GPUs are measured at the "
                "same time",
        .type = NVBW_TYPE_ENUM,
        .default_text = "alone",
        CHOICES(concurrency),
    },
    {
        .name = "p2p",
        .help = "whether GPUs address each other's memory directly",
        .type = NVBW_TYPE_ENUM,
        .default_text = "on",
        CHOICES(p2p),
    },
    {
        .name = "threads",
        .help = "threads of a flow on the CPU; 0: one per core of its node",
        .type = NVBW_TYPE_INT,
        .unit = NVBW_UNIT_COUNT,
        .default_text = "0",
        .min_text = "0",
        .max_text = "4096",
    },
    { .name = NULL },
};

const struct param_schema *standard_param(const char *name)
{
    for (const struct param_schema *at = standard_params; at->name != NULL;
         at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}
