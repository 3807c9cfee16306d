/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Suspects: where in the matrices figures are low. Only figures of pinned host
 * and of device memory in copies of SUSPECT_COPY_BYTES and more count, and for
 * all aspects but ASPECT_CROWD only quiet cells: nothing else moved bytes. What
 * other flows contend for scatters on healthy machines. Pure. */
#ifndef NVBW_SUSPECTS_H
#define NVBW_SUSPECTS_H

#include "cells.h"

#define SUSPECT_COPY_BYTES (UINT64_C(1) << 20)

/* Quiet cells of healthy siblings differ by 1 % at most. */
#define SUSPECT_QUIET 0.95
/* Figures of simultaneous flows: healthy machines scatter by 20 %. */
#define SUSPECT_CROWD 0.70
/* Of the link's payload: below, a link is not what it should be. */
#define SUSPECT_TRIAGE 0.30
/* From here on a figure is usual for PCIe. */
#define SUSPECT_USUAL 0.70

enum aspect {
    ASPECT_HOST = 0, /* host and GPU, by copy engine */
    ASPECT_HOST_SM,  /* the same by kernels */
    ASPECT_PEER,     /* GPU and GPU, by copy engine */
    ASPECT_PEER_SM,
    ASPECT_LOCAL, /* within the GPU's memory */
    ASPECT_CROWD, /* host and GPU, by copy engine, all at once */
    ASPECT_COUNT
};

/* One figure of a GPU, or a pair, in one aspect. */
struct sight {
    double ratio;       /* figure / reference; NaN: no three to compare with */
    double figure;      /* bytes/s; NaN: nothing was measured */
    double reference;   /* what its siblings reach: their upper quartile */
    double utilisation; /* of the link that should be there; NaN */
    const char *testcase;
};

/* Of each the worst against its siblings, and the one that uses least of its
 * link, which may be of another testcase. */
struct suspects {
    struct sight *gpus, *least_gpus;   /* gpus_count x ASPECT_COUNT */
    struct sight *pairs, *least_pairs; /* gpus_count x gpus_count by copy
                                          engine, from GPU to GPU */
    uint32_t *explained; /* per GPU: bits of aspects that a rule explained */
    uint8_t *explained_pairs; /* gpus_count x gpus_count: 1 if one explained
                                 what this GPU has with that one */
    uint32_t gpus_count;
};

/* Looks through all measured cells. */
int32_t suspects_find(const struct judging *judging,
    const struct verdicts *verdicts, struct suspects *out);

const struct sight *suspects_of(
    const struct suspects *suspects, uint32_t gpu, enum aspect aspect);
const struct sight *suspects_pair(
    const struct suspects *suspects, uint32_t from, uint32_t to);
/* The same by utilisation. */
const struct sight *suspects_least(
    const struct suspects *suspects, uint32_t gpu, enum aspect aspect);
const struct sight *suspects_least_pair(
    const struct suspects *suspects, uint32_t from, uint32_t to);
/* 1 if this is below `least` of its siblings and nothing explains it yet. */
int suspects_is_low(const struct suspects *suspects, uint32_t gpu,
    enum aspect aspect, double least);
/* Takes these aspects, bits, off all later rules for this GPU. */
void suspects_explain(struct suspects *suspects, uint32_t gpu, uint32_t bits);
/* The same of one pair, whichever way. */
void suspects_explain_pair(
    struct suspects *suspects, uint32_t one, uint32_t other);
int suspects_pair_is_explained(
    const struct suspects *suspects, uint32_t one, uint32_t other);

#endif
