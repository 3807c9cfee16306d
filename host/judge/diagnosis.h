/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Diagnosis: what is most likely wrong with a machine, from its facts and from
 * where in its matrices figures are low. Pure.
 *
 * A rule is a row of its family's table. Families stand in the order of triage:
 * what an earlier rule explains is no later rule's business. A finding says
 * what to do and leaves the exit code to limits, unless it is of the machine's
 * health. */
#ifndef NVBW_DIAGNOSIS_H
#define NVBW_DIAGNOSIS_H

#include "cells.h"
#include "suspects.h"

struct diagnosis {
    const struct judging *judging;
    const struct facts *facts;
    struct verdicts *out;
    struct suspects suspects;
};

struct diagnosis_rule {
    const char *id;       /* of its findings */
    const char *looks_at; /* what must be there for it to speak, for people */
    int32_t (*look)(
        struct diagnosis *diagnosis, const struct diagnosis_rule *rule);
    const char *sentence; /* after the name of what is at fault */
    const char *of_two;   /* the same after two names; NULL: no different */
    const char *action;   /* one line: what to do */
    const char *next;     /* how to tell that it was this */
    int32_t exit_code;    /* of its findings: EXIT_HEALTH or 0 */
};

struct diagnosis_family {
    const char *name; /* "physical link" */
    const struct diagnosis_rule *rules;
    uint32_t count;
};

/* In order of triage, each in a file of its own; two may be parts of one
 * family. */
extern const struct diagnosis_family diagnose_link, diagnose_peers,
    diagnose_memory, diagnose_concurrency, diagnose_counters, diagnose_access,
    diagnose_throttle, diagnose_trend, diagnose_others;

/* All families in their order; ends with NULL. */
extern const struct diagnosis_family *const diagnosis_families[];

/* Adds what the rules find. After all cells are judged. */
int32_t diagnosis_add(const struct judging *judging, struct verdicts *out);

/* ---- For rules ---- */
/* Positions in facts->gpus, or -1: of the machine. `who` is what the sentence
 * begins with, NULL: the names of gpu and peer. `seen` is the evidence. */
int32_t diagnosis_report(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, int32_t gpu, int32_t peer,
    const char *who, const char *seen);
/* "27.75 GB/s where others have 55.50 GB/s (host_to_device_memcpy_ce)"; NULL
 * without a figure. */
const char *diagnosis_sight(
    const struct diagnosis *diagnosis, const struct sight *sight);
/* The text, with that of a GPU's figure in this aspect after it, if any. */
const char *diagnosis_with_sight(const struct diagnosis *diagnosis,
    const char *text, uint32_t gpu, enum aspect aspect);
int diagnosis_same_model(
    const struct gpu_facts *one, const struct gpu_facts *other);

#endif
