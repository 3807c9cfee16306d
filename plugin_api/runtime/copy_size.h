/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* How many bytes one copy has, and how many copies a sample. Pure.
 *
 * A buffer_size in the plan is obeyed, in either mode. Its default of 0 B
 * leaves the size to the path in adaptive mode: 128 MiB over PCIe (each way),
 * 512 MiB over a coherent link, 1 GiB over NVLink, 4 GiB within a GPU, and 200
 * times its L2 for reads and writes there; at most a 24th of the GPU's memory,
 * of reads and writes a 16th. For CPUs it is four times the node's cache (384
 * MiB of cache are assumed where it is not told), 512 MiB at least, and beyond
 * that at most a 12th of the node's memory. In fixed mode it means 512 MiB. */
#ifndef NVBW_COPY_SIZE_H
#define NVBW_COPY_SIZE_H

#include "engine.h"

/* Copies of a sample, at least. */
enum { COPY_SIZE_COPIES = 2 };

/* For a flow with resolved places whose plugin gave no bytes. */
uint64_t copy_size(const struct facts *facts, const struct flow_record *flow,
    const struct measure_params *params);

/* Of how many slices of its size a flow with the memory of a host goes through,
 * sample by sample, so that no cache answers; 0 for all others. */
uint64_t copy_slices_least(
    const struct facts *facts, const struct flow_record *flow);

/* How many copies of this size a sample has at least and at most, so that no
 * GPU's cache answers and no buffer outgrows its machine. */
uint64_t copy_count_least(
    const struct facts *facts, const struct flow_record *flow);
uint64_t copy_count_most(
    const struct facts *facts, const struct flow_record *flow, uint64_t limit);

#endif
