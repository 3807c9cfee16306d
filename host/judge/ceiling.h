/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Ceilings: what the hardware that a cell's flows cross can carry, derived
 * from facts. Pure. Nothing is guessed: a path through C2C or within host
 * memory has none. */
#ifndef NVBW_CEILING_H
#define NVBW_CEILING_H

#include "facts.h"
#include "record.h"
#include "traffic.h"

/* Where a flow's bytes go. */
enum flow_direction {
    FLOW_NONE = 0, /* moves no bytes, or nothing is known */
    FLOW_H2D,
    FLOW_D2H,
    FLOW_PEER,
    FLOW_LOCAL, /* within one GPU */
    FLOW_HOST   /* within host memory */
};

struct flow_path {
    enum flow_direction direction;
    enum ceiling_link link;
    int32_t from, to; /* GPUs, positions in facts->gpus; -1: host or none */
};
struct flow_path flow_path_of(
    const struct facts *facts, const struct flow_record *flow);

enum ceiling_kind {
    CEILING_EXPECTED, /* payload of the link that should be there: PCIe at its
                         maximum, all NVLinks that are fitted */
    CEILING_NOW,      /* payload of the link as it is now */
    CEILING_PHYSICAL  /* raw rate: a figure above it is impossible */
};

struct ceiling {
    double rate; /* bytes/s; NaN: none */
    enum ceiling_link link;
    char formula[256];
};

/* The ceiling of the cell whose record this is, in a metric of bytes per
 * second: over the counted flows, each link counted once. */
void ceiling_of_record(const struct facts *facts, const struct record *record,
    enum ceiling_kind kind, struct ceiling *out);

/* ---- By themselves, for `topo` ---- */
/* PCIe, one direction: NaN for an unknown generation or no lane. */
double ceiling_pcie(uint32_t generation, uint32_t width);
/* Payload per link and direction for a raw rate; equal where unknown. */
double ceiling_nvlink_payload(double raw_rate);
double ceiling_memory(const struct gpu_facts *gpu);
/* One GPU's link: formula and rate. */
void ceiling_of_gpu(const struct gpu_facts *gpu, enum ceiling_link link,
    enum ceiling_kind kind, struct ceiling *out);

#endif
