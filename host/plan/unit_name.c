/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "unit_name.h"

#include <stdio.h>
#include <string.h>

const char *unit_suite_id(const struct plan *plan, const struct unit *unit)
{
    const char *const id =
        unit->suite < plan->suites_count ? plan->suites[unit->suite].id : NULL;

    return id == NULL || strcmp(id, unit->plugin) == 0 ||
                   strcmp(id, unit->testcase) == 0
               ? NULL
               : id;
}

void unit_name(
    const struct plan *plan, const struct unit *unit, char out[UNIT_NAME_BYTES])
{
    const char *const id = unit_suite_id(plan, unit);

    snprintf(out, UNIT_NAME_BYTES, "%s/%s%s%s%s", unit->plugin, unit->testcase,
        id == NULL ? "" : " (", id == NULL ? "" : id, id == NULL ? "" : ")");
}
