/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Segment: what several processes know of one simulated machine. With
 * NVBW_SIM_SEGMENT=FILE it is that file, made by the first of them; otherwise
 * each process is a machine of its own. Members are used atomically. */
#ifndef SIM_SEGMENT_H
#define SIM_SEGMENT_H

#include <stdint.h>

enum { SEGMENT_GPUS = 1024, SEGMENT_CALLS = 256 };

struct segment_gpu {
    uint64_t operations;
    uint32_t lost;
};

struct segment {
    uint64_t magic;
    uint64_t now_ns; /* the latest that any process has seen */
    uint64_t copies, kernels, operations;
    uint64_t calls[SEGMENT_CALLS], nvml_calls[SEGMENT_CALLS];
    struct segment_gpu gpus[SEGMENT_GPUS];
};

/* NULL: the file cannot be used or is of another kind. */
struct segment *segment_open(void);
/* One more; how many there are. */
uint64_t segment_count(uint64_t *counter);
/* Notes a moment, and says which the latest is. */
uint64_t segment_pass(struct segment *segment, uint64_t now_ns);

#endif
