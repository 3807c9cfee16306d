/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "telemetry.h"

#include <math.h>

#define VALUE_FIELD(member, ...) FIELD(gpu_reading, F64, member),
static const struct field reading_list[] = {
    FIELD(gpu_reading, U32, gpu),
    FIELD(gpu_reading, U32, first),
    FIELD(gpu_reading, U64, now_ns),
    FIELD(gpu_reading, U64, took_ns),
    FIELD(gpu_reading, U32, reasons),
    FIELD(gpu_reading, U32, has_reasons),
    FIELD(gpu_reading, U32, last_xid),
    TELEMETRY_GAUGES(VALUE_FIELD) TELEMETRY_COUNTERS(VALUE_FIELD)
        FIELD_LIST(gpu_reading, TEXTS, processes),
    FIELD_END,
};
const struct fields gpu_reading_fields = FIELDS(gpu_reading, reading_list);

#define FIELD_LEAST(member)                    FIELD(gpu_telemetry, F64, member##_least),
#define FIELD_MOST(member)                     FIELD(gpu_telemetry, F64, member##_most),
#define FIELD_BOTH(member)                     FIELD_LEAST(member) FIELD_MOST(member)
#define KEPT_FIELDS(member, unit, words, keep) FIELD_##keep(member)
#define DELTA_FIELD(member, unit, words)       FIELD(gpu_telemetry, F64, member),
static const struct field telemetry_list[] = {
    FIELD(gpu_telemetry, U32, gpu),
    FIELD(gpu_telemetry, U32, readings),
    FIELD(gpu_telemetry, U64, span_ns),
    FIELD(gpu_telemetry, U64, took_ns),
    FIELD(gpu_telemetry, U32, reasons),
    FIELD(gpu_telemetry, U32, last_xid),
    TELEMETRY_GAUGES(KEPT_FIELDS) TELEMETRY_COUNTERS(DELTA_FIELD)
        FIELD_LIST(gpu_telemetry, TEXTS, processes),
    FIELD_END,
};
const struct fields gpu_telemetry_fields =
    FIELDS(gpu_telemetry, telemetry_list);

#define AT_LEAST(member)                                                       \
    (int32_t) offsetof(struct gpu_telemetry, member##_least)
#define AT_MOST(member)    (int32_t) offsetof(struct gpu_telemetry, member##_most)
#define KEPT_LEAST(member) .least = AT_LEAST(member), .most = -1
#define KEPT_MOST(member)  .least = -1, .most = AT_MOST(member)
#define KEPT_BOTH(member)  .least = AT_LEAST(member), .most = AT_MOST(member)
#define GAUGE_ROW(member, unit_, words_, keep)                                 \
    { .name = #member,                                                         \
        .unit = unit_,                                                         \
        .words = words_,                                                       \
        .in_reading = offsetof(struct gpu_reading, member),                    \
        KEPT_##keep(member) },
const struct telemetry_value telemetry_gauges[] = {
    TELEMETRY_GAUGES(GAUGE_ROW){ .name = NULL },
};

#define COUNTER_ROW(member, unit_, words_)                                     \
    { .name = #member,                                                         \
        .unit = unit_,                                                         \
        .words = words_,                                                       \
        .in_reading = offsetof(struct gpu_reading, member),                    \
        .least = -1,                                                           \
        .most = (int32_t)offsetof(struct gpu_telemetry, member) },
const struct telemetry_value telemetry_counters[] = {
    TELEMETRY_COUNTERS(COUNTER_ROW){ .name = NULL },
};

/* In order of gravity. */
const struct throttle_reason throttle_reasons[] = {
    { REASON_BIT_HW_THERMAL, "hw_thermal", "hardware thermal slowdown",
        offsetof(struct gpu_reading, hw_thermal_ns), 1 },
    { REASON_BIT_POWER_BRAKE, "power_brake", "hardware power brake",
        offsetof(struct gpu_reading, power_brake_ns), 1 },
    { REASON_BIT_SW_THERMAL, "sw_thermal", "software thermal slowdown",
        offsetof(struct gpu_reading, sw_thermal_ns), 1 },
    { REASON_BIT_SLOWDOWN, "hw_slowdown", "hardware slowdown", -1, 1 },
    { REASON_BIT_POWER_CAP, "power_cap", "software power cap",
        offsetof(struct gpu_reading, power_cap_ns), 0 },
    { REASON_BIT_SYNC_BOOST, "sync_boost", "sync boost", -1, 0 },
    { 0, NULL, NULL, -1, 0 },
};

static void clear(
    struct gpu_reading *reading, const struct telemetry_value *values)
{
    for (; values->name != NULL; values++) {
        telemetry_set(reading, values->in_reading, NAN);
    }
}

void gpu_reading_init(struct gpu_reading *reading)
{
    *reading = (struct gpu_reading){ 0 };
    clear(reading, telemetry_gauges);
    clear(reading, telemetry_counters);
}

static void set_kept(
    struct gpu_telemetry *telemetry, int32_t offset, double value)
{
    if (offset >= 0) {
        telemetry_set(telemetry, (uint32_t)offset, value);
    }
}

static void clear_kept(
    struct gpu_telemetry *telemetry, const struct telemetry_value *values)
{
    for (; values->name != NULL; values++) {
        set_kept(telemetry, values->least, NAN);
        set_kept(telemetry, values->most, NAN);
    }
}

void gpu_telemetry_init(struct gpu_telemetry *telemetry, uint32_t gpu)
{
    *telemetry = (struct gpu_telemetry){ .gpu = gpu };
    clear_kept(telemetry, telemetry_gauges);
    clear_kept(telemetry, telemetry_counters);
}

/* A counter that began anew, as by a reset of the GPU, has no rise. */
static double rise(
    const struct gpu_reading *from, const struct gpu_reading *to, uint32_t at)
{
    const double delta = telemetry_get(to, at) - telemetry_get(from, at);

    return delta >= 0.0 ? delta : (double)NAN;
}

static void add_gauge(struct gpu_telemetry *telemetry,
    const struct telemetry_value *gauge, double value)
{
    if (gauge->least >= 0) {
        set_kept(telemetry, gauge->least,
            fmin(telemetry_get(telemetry, (uint32_t)gauge->least), value));
    }
    if (gauge->most >= 0) {
        set_kept(telemetry, gauge->most,
            fmax(telemetry_get(telemetry, (uint32_t)gauge->most), value));
    }
}

void gpu_telemetry_add(struct gpu_telemetry *telemetry,
    struct gpu_reading *first, const struct gpu_reading *reading)
{
    telemetry->readings++;
    telemetry->reasons |= reading->reasons;
    telemetry->last_xid = reading->last_xid;
    telemetry->span_ns = reading->now_ns - first->now_ns;
    if (reading->took_ns > telemetry->took_ns) {
        telemetry->took_ns = reading->took_ns;
    }
    for (const struct telemetry_value *at = telemetry_gauges; at->name != NULL;
         at++) {
        add_gauge(telemetry, at, telemetry_get(reading, at->in_reading));
    }
    for (const struct telemetry_value *at = telemetry_counters;
         at->name != NULL; at++) {
        if (isnan(telemetry_get(first, at->in_reading))) {
            telemetry_set(
                first, at->in_reading, telemetry_get(reading, at->in_reading));
        }

        const double delta = rise(first, reading, at->in_reading);

        if (delta > 0.0) {
            set_kept(telemetry, at->most, delta);
        }
    }
}

/* Share of the time between two readings that the reason held, 0 or 1 by the
 * bits where there is no counter. */
static double share_of(const struct throttle_reason *reason,
    const struct gpu_reading *from, const struct gpu_reading *to,
    uint32_t *out_counted)
{
    const double span_ns = (double)to->now_ns - (double)from->now_ns;
    const double held_ns =
        reason->counter < 0 ? NAN : rise(from, to, (uint32_t)reason->counter);

    *out_counted = !isnan(held_ns) && span_ns > 0.0;
    if (span_ns <= 0.0) {
        return 0.0; /* one reading is not two ends */
    }
    if (*out_counted) {
        return fmin(held_ns / span_ns, 1.0);
    }
    return (from->reasons & to->reasons & reason->bit) != 0 ? 1.0 : 0.0;
}

const struct throttle_reason *telemetry_throttled(
    const struct gpu_reading *from, const struct gpu_reading *to, double share,
    double *out_share)
{
    for (const struct throttle_reason *reason = throttle_reasons;
         reason->name != NULL; reason++) {
        uint32_t counted = 0;
        const double held = share_of(reason, from, to, &counted);

        if (held > share) {
            *out_share = counted ? held : NAN;
            return reason;
        }
    }
    return NULL;
}
