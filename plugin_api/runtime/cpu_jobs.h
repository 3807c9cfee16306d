/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the members of a team do in a measurement by CPUs: fill, poison, carry
 * a sample out, check it. For backend_cpu.c. */
#ifndef NVBW_CPU_JOBS_H
#define NVBW_CPU_JOBS_H

#include "cpu_flow.h"
#include "cpu_team.h"

struct cpu_member {
    struct cpu_flow *flow;
    uint32_t number; /* in the flow */
    uint64_t start_ns, end_ns;
    uint64_t sum;       /* over the sample's copies */
    uint64_t rank_from; /* of a chase */
    uint64_t progress;  /* background: bytes while counted members ran */
    uint64_t faults;    /* of the last check */
    struct pattern_fault first;
};

struct cpu_session {
    struct session *session;
    struct cpu_flow *flows;
    struct cpu_member *members;
    struct cpu_team *team;
    uint32_t members_count, counted_count; /* counted_count: of members */
    _Atomic uint32_t running;              /* background members */
    _Atomic uint32_t started, finished;    /* counted members */
};

/* Sources and destinations of all slices. */
void cpu_jobs_fill(struct cpu_session *cpu);
/* Destinations only, so that what a sample leaves out shows. */
void cpu_jobs_poison(struct cpu_session *cpu);
/* One sample: stamps, sums and progress of every member. */
void cpu_jobs_run(struct cpu_session *cpu);
/* Faults of every member in what the last sample left. */
void cpu_jobs_check(struct cpu_session *cpu);

#endif
