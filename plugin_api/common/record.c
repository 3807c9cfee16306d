/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "record.h"

#include <math.h>

#include "state.h"

static const struct field flow_list[] = {
    FIELD_NAMED(flow_record, initiator, initiator_names),
    FIELD_NAMED(flow_record, operation, operation_names),
    FIELD_NAMED(flow_record, src_memory, memory_names),
    FIELD_NAMED(flow_record, dst_memory, memory_names),
    FIELD(flow_record, I32, src_place),
    FIELD(flow_record, I32, dst_place),
    FIELD(flow_record, I32, executor),
    FIELD(flow_record, U32, flags),
    FIELD(flow_record, U64, bytes),
    FIELD(flow_record, U64, copies),
    FIELD(flow_record, U64, repeats),
    FIELD(flow_record, U32, load_permille),
    FIELD(flow_record, U32, element),
    FIELD(flow_record, U32, stride),
    FIELD(flow_record, U64, offset),
    FIELD(flow_record, U64, ring),
    FIELD(flow_record, U32, counted),
    FIELD(flow_record, TEXT, node_seen),
    FIELD_END,
};
const struct fields flow_record_fields = FIELDS(flow_record, flow_list);

static const struct field record_list[] = {
    FIELD(record, U32, unit),
    FIELD(record, U32, attempt),
    FIELD(record, U32, series),
    FIELD(record, WORD, metric),
    FIELD(record, U32, row),
    FIELD(record, U32, col),
    FIELD_NAMED(record, state, state_names),
    FIELD(record, TEXT, reason),
    FIELD(record, TEXT, message),
    FIELD(record, I64, code),
    FIELD_LIST(record, F64S, samples),
    FIELD(record, U32, discarded),
    FIELD_LIST(record, TEXTS, flags),
    FIELD(record, TEXT, mode),
    FIELD(record, TEXT, clock),
    FIELD(record, F64, precision),
    FIELD(record, U64, copy_bytes),
    FIELD(record, U64, copies),
    FIELD(record, U64, warmup),
    FIELD(record, U64, footprint_bytes),
    FIELD(record, F64, footprint_over_cache),
    FIELD(record, U32, placements),
    FIELD(record, F64, pilot_spread),
    FIELD(record, F64, cover_margin),
    FIELD(record, F64, clock_gap_ns),
    FIELD(record, TEXT, verified),
    FIELD(record, U64, verified_bytes),
    FIELD(record, U64, mismatches),
    FIELD(record, U64, mismatch_offset),
    FIELD(record, U64, mismatch_expected),
    FIELD(record, U64, mismatch_actual),
    FIELD(record, U64, traffic_bytes),
    FIELD(record, F64, spread_low),
    FIELD(record, F64, spread_high),
    FIELD_LIST(record, U32S, gpus),
    FIELD_STRUCTS(record, flows, &flow_record_fields),
    FIELD_STRUCTS(record, telemetry, &gpu_telemetry_fields),
    FIELD(record, U64, begin_ns),
    FIELD(record, U64, end_ns),
    FIELD_END,
};
const struct fields record_fields = FIELDS(record, record_list);

void record_init(struct record *record)
{
    *record = (struct record){
        .precision = NAN,
        .footprint_over_cache = NAN,
        .pilot_spread = NAN,
        .cover_margin = NAN,
        .clock_gap_ns = NAN,
        .spread_low = NAN,
        .spread_high = NAN,
    };
}
