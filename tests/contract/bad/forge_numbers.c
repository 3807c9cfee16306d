/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Forges a record full of unknown numbers and missing texts (rule C20). */
#include "bad_plugin.h"

#include "state.h"
#include "wire.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    struct flow_record flow = { .initiator = 99,
        .operation = 99,
        .src_memory = 99,
        .dst_memory = 99,
        .executor = -7,
        .src_place = 1000,
        .dst_place = -1000 };
    double sample = 1.0;
    struct record record = { .metric = "figure",
        .state = STATE_MEASURED,
        .samples = &sample,
        .samples_count = 1,
        .flows = &flow,
        .flows_count = 1,
        .attempt = 4000000000u,
        .code = INT64_MIN };
    (void)ctx;
    return wire_send(4, FRAME_CELL, &record, NULL);
}

BAD_PLUGIN("forge_numbers", "1", run);
