/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether a testcase can run on a machine, and the sentence why not. */
#ifndef NVBW_NEEDS_H
#define NVBW_NEEDS_H

#include "facts.h"
#include "schema.h"

struct needs_answer {
    uint32_t state; /* STATE_NONE: it can run; STATE_SKIP */
    const char *reason;
    const char *message;
};
/* What the plan says of all its suites. */
struct needs_rules {
    uint32_t mpi;             /* 1: MPI mode */
    uint32_t allow_multicast; /* 1: objects of NVLink multicast may be made */
};
/* gpus: positions in facts->gpus that the plan selects.
 * Precedence of reasons: excluded, no_device, not_built, the rest. */
int32_t needs_check(const struct testcase_schema *testcase,
    const struct facts *facts, const uint32_t *gpus, uint32_t gpus_count,
    struct needs_rules rules, struct arena *arena, struct needs_answer *out,
    struct error *err);

#endif
