/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* --help, made from the tables of commands, options and exit codes. */
#ifndef NVBW_HELP_H
#define NVBW_HELP_H

/* Of the program ("run") or of one command. To stdout. */
void help_print(const char *command);

#endif
