/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A machine to record against where the real one lacks GPUs: conformance of a
 * plugin can be checked on a laptop. */
#ifndef NVBW_REHEARSAL_FACTS_H
#define NVBW_REHEARSAL_FACTS_H

#include "facts.h"

/* Replaces the GPUs of *facts by two made-up ones with peer access, if there
 * are fewer than two. */
int32_t rehearsal_facts(
    struct arena *arena, struct facts *facts, struct error *err);

#endif
