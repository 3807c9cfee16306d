/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <string.h>

#include "nearest.h"
#include "say.h"

const struct command *const commands[] = {
    &command_run,
    &command_list,
    &command_help,
    &command_topo,
    &command_check_plan,
    &command_check_plugin,
    &command_resume,
    &command_report,
    &command_baseline,
    &command_compare,
    &command_merge,
    &command_verify,
    &command_from_nvloom,
    NULL,
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *at = commands; *at != NULL; at++) {
        if (strcmp((*at)->name, name) == 0) {
            return *at;
        }
    }
    return NULL;
}

int32_t command_unknown(const char *name, struct error *err)
{
    struct nearest nearest;
    char hint[NEAREST_HINT_BYTES];

    nearest_begin(&nearest, name);
    for (const struct command *const *at = commands; *at != NULL; at++) {
        nearest_offer(&nearest, (*at)->name);
    }
    return error_set(err, NVBW_E_INVALID,
        "unknown command \"%s\"%s; a plan is given with -c, nvbw-host --help "
        "lists the commands",
        name, nearest_hint(&nearest, hint));
}

int command_fail(const struct error *err, int exit_code)
{
    say("%s", err->text);
    return exit_code;
}
