/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Commands: one file and one const entry each. */
#ifndef NVBW_CMD_H
#define NVBW_CMD_H

#include "options.h"

struct command {
    const char *name;
    const char *usage; /* what follows the name */
    const char *summary;
    uint32_t most_words; /* that are no option and no option's value */
    /* Returns the exit code. Prints errors itself. */
    int (*run)(const struct options *options, struct arena *arena);
};
extern const struct command command_run, command_list, command_help,
    command_topo, command_check_plan, command_check_plugin, command_resume,
    command_report, command_baseline, command_compare, command_merge,
    command_verify, command_from_nvloom;

/* Ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name);
int32_t command_unknown(const char *name, struct error *err);

/* Prints "nvbw-host: SENTENCE" to stderr and returns the exit code given. */
int command_fail(const struct error *err, int exit_code);

#endif
