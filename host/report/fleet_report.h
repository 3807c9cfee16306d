/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A fleet as text and as JSON (configs/schema/fleet.schema.json). */
#ifndef NVBW_FLEET_REPORT_H
#define NVBW_FLEET_REPORT_H

#include "fleet.h"

enum { FLEET_SCHEMA_VERSION = 1 };

void fleet_text(const struct fleet *fleet, struct strbuf *out);
int32_t fleet_json(
    const struct fleet *fleet, struct strbuf *out, struct error *err);

#endif
