/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A session from a request and the records that it will fill. */
#ifndef NVBW_SESSION_BUILD_H
#define NVBW_SESSION_BUILD_H

#include "session.h"

/* records as engine_record_only made them. *out has no backend yet. */
int32_t session_build(const struct facts *facts,
    const struct measure_request *request, struct measure_result *records,
    struct arena *arena, struct session *out, struct error *err);
/* backend_cpu, or backend_cuda where flows are on GPUs; both at once break the
 * contract. Then flow_support_check. */
int32_t session_choose(struct session *session, struct error *err);
/* NVBW_E_SKIPPED (not_built) where a flow asks for what this build has not.
 * (flow_support.c) */
int32_t flow_support_check(const struct session *session, struct error *err);
/* After the sampler: what the flows became, into every record. */
void session_finish(struct session *session, uint64_t begin_ns);

#endif
