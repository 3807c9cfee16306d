/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Telemetry: what NVML tells of a GPU while a run measures.
 *
 * Who reads, and when. NVML is called by the worker of role `watch` alone, and
 * that reads only when it is asked to (FRAME_READ). The host asks about twice a
 * second while nothing is being measured. While a cell is being measured the
 * run worker asks, through the host: at BEGIN, once in the pilot while copies
 * run, at each look at the samples and, between samples, when half a second
 * has passed. It starts no timed interval before the answer is there, and
 * waits for it at most 20 ms; for the first until the watch worker has opened
 * NVML. So no NVML call falls into a timed interval, but for the one in the
 * pilot that is meant to.
 *
 *   run worker --READ--> host --READ--> watch worker --READINGS--> host
 *       ^                                                           |
 *       `----------------------------READ_DONE----------------------'
 *
 * What becomes of it. A reading is a snapshot of one GPU. The host joins those
 * between a cell's BEGIN and its end into a gpu_telemetry of its record, and
 * writes some of them, further and further apart, as the run's series. Numbers
 * are doubles so that NaN says: could not be read. */
#ifndef NVBW_TELEMETRY_H
#define NVBW_TELEMETRY_H

#include "fields.h"

/* How things are at a moment: X(member, unit, words, which of a cell's readings
 * it keeps: the LEAST, the MOST or BOTH). A sleeping link is slower
 * but no narrower, so the most of its generation is that under load. */
#define TELEMETRY_GAUGES(X)                                                    \
    X(pcie_generation, "", "PCIe generation", MOST)                            \
    X(pcie_width, "lanes", "PCIe width", LEAST)                                \
    X(nvlinks, "links", "active NVLinks", LEAST)                               \
    X(sm_mhz, "MHz", "SM clock", BOTH)                                         \
    X(memory_mhz, "MHz", "memory clock", LEAST)                                \
    X(power_w, "W", "power", MOST)                                             \
    X(celsius, "C", "GPU temperature", MOST)                                   \
    X(memory_celsius, "C", "memory temperature", MOST)                         \
    X(busy_percent, "%", "share of time with a kernel", MOST)                  \
    X(memory_percent, "%", "share of time with the memory controller busy",    \
        MOST)

/* What only rises, since the driver was loaded. */
#define TELEMETRY_COUNTERS(X)                                                  \
    X(pcie_replays, "", "PCIe replays")                                        \
    X(nvlink_replays, "", "NVLink replays")                                    \
    X(nvlink_recoveries, "", "NVLink recoveries")                              \
    X(nvlink_crc, "", "NVLink CRC errors")                                     \
    X(ecc_corrected, "", "corrected ECC errors")                               \
    X(ecc_uncorrected, "", "uncorrected ECC errors")                           \
    X(rows_remapped, "rows", "remapped rows")                                  \
    X(xids, "", "Xid events")                                                  \
    X(power_cap_ns, "ns", "time under the software power cap")                 \
    X(sw_thermal_ns, "ns", "time under software thermal slowdown")             \
    X(hw_thermal_ns, "ns", "time under hardware thermal slowdown")             \
    X(power_brake_ns, "ns", "time under the hardware power brake")             \
    X(pcie_in_bytes, "bytes", "PCIe bytes received")                           \
    X(pcie_out_bytes, "bytes", "PCIe bytes sent")

#define TELEMETRY_VALUE(member, ...) double member;
#define TELEMETRY_KEPT_LEAST(member) double member##_least;
#define TELEMETRY_KEPT_MOST(member)  double member##_most;
#define TELEMETRY_KEPT_BOTH(member)                                            \
    TELEMETRY_KEPT_LEAST(member) TELEMETRY_KEPT_MOST(member)
#define TELEMETRY_KEPT(member, unit, words, keep) TELEMETRY_KEPT_##keep(member)

/* One GPU at one moment. */
struct gpu_reading {
    uint32_t gpu;     /* position in facts->gpus */
    uint32_t first;   /* 1: a series begins: what counters rose by before it is
                         none of the run's business */
    uint64_t now_ns;  /* CLOCK_MONOTONIC, when the reading was over */
    uint64_t took_ns; /* how long it took */
    uint32_t reasons; /* REASON_BIT_*: why the clocks are not higher */
    uint32_t has_reasons;
    uint32_t last_xid; /* number of the latest Xid event, 0: none yet */
    TELEMETRY_GAUGES(TELEMETRY_VALUE)
    TELEMETRY_COUNTERS(TELEMETRY_VALUE)
    const char **processes; /* "pid name" of others that use it */
    uint32_t processes_count;
};

/* One GPU over one cell: the extremes of gauges, and counters by how much they
 * rose from the first reading to the last; NaN where they did not, or could
 * not be read. Which can be read is told by the readings of the series. */
struct gpu_telemetry {
    uint32_t gpu;
    uint32_t readings; /* that this is made of */
    uint64_t span_ns;  /* between the first and the last */
    uint64_t took_ns;  /* the longest of them */
    uint32_t reasons;  /* of all readings together */
    uint32_t last_xid;
    TELEMETRY_GAUGES(TELEMETRY_KEPT)
    TELEMETRY_COUNTERS(TELEMETRY_VALUE)
    const char **processes; /* of all readings together */
    uint32_t processes_count;
};

extern const struct fields gpu_reading_fields, gpu_telemetry_fields;

/* Why clocks are held down, as NVML numbers it. */
enum {
    REASON_BIT_IDLE = 0x1,
    REASON_BIT_POWER_CAP = 0x4,
    REASON_BIT_SLOWDOWN = 0x8,
    REASON_BIT_SYNC_BOOST = 0x10,
    REASON_BIT_SW_THERMAL = 0x20,
    REASON_BIT_HW_THERMAL = 0x40,
    REASON_BIT_POWER_BRAKE = 0x80
};

/* A gauge or counter by where it stands. */
struct telemetry_value {
    const char *name, *unit, *words;
    uint32_t in_reading; /* offset of its double in gpu_reading */
    /* In gpu_telemetry, -1: not kept. Of a counter `most` is the rise. */
    int32_t least, most;
};
/* Both end with a NULL name. */
extern const struct telemetry_value telemetry_gauges[], telemetry_counters[];

static inline double telemetry_get(const void *object, uint32_t offset)
{
    return *(const double *)(const void *)((const char *)object + offset);
}
static inline void telemetry_set(void *object, uint32_t offset, double value)
{
    *(double *)(void *)((char *)object + offset) = value;
}

/* A reason that clocks were held down. */
struct throttle_reason {
    uint32_t bit;
    const char *name;  /* "hw_thermal" */
    const char *words; /* "hardware thermal slowdown" */
    int32_t counter;   /* offset in gpu_reading of its time, -1: none */
    uint32_t grave;    /* 1: what is measured then does not count */
};
extern const struct throttle_reason throttle_reasons[]; /* NULL name ends */

/* Everything absent. */
void gpu_reading_init(struct gpu_reading *reading);
void gpu_telemetry_init(struct gpu_telemetry *telemetry, uint32_t gpu);

/* Adds a reading to a cell's. Counters start from the first of them; those that
 * it lacks from the first that has them, which `first` takes over. Processes
 * are left to the caller. */
void gpu_telemetry_add(struct gpu_telemetry *telemetry,
    struct gpu_reading *first, const struct gpu_reading *reading);

/* The gravest reason that held the clocks down for more than `share` of the
 * time between two readings of a GPU, or NULL. *out_share: of that time; NaN
 * where only the reasons of the moment are known. Without a counter a reason
 * must stand at both ends. */
const struct throttle_reason *telemetry_throttled(
    const struct gpu_reading *from, const struct gpu_reading *to, double share,
    double *out_share);

#endif
