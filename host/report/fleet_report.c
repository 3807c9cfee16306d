/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet_report.h"

#include <string.h>

const struct fleet_format fleet_formats[] = {
    { "text", fleet_text },
    { "verdict", fleet_verdict },
    { "json", fleet_json },
    { "html", fleet_html },
    { NULL, NULL },
};

const struct fleet_format *fleet_format_find(const char *name)
{
    for (const struct fleet_format *format = fleet_formats;
         format->name != NULL; format++) {
        if (strcmp(format->name, name) == 0) {
            return format;
        }
    }
    return NULL;
}
