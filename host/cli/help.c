/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "judge.h"

struct exit_code_text {
    int code;
    const char *text;
};
static const struct exit_code_text exit_code_texts[] = {
    { EXIT_PASSED, "passed" },
    { EXIT_FAILED, "a limit or a data verification failed" },
    { EXIT_USAGE, "usage or plan error, nothing ran" },
    { EXIT_HEALTH, "health: GPU lost or tainted, expect not met, throttled" },
    { EXIT_INCOMPLETE, "incomplete: something that was required did not run" },
    { EXIT_CONTRACT, "a plugin was refused or broke the contract" },
};

static int goes_with(const char *words, const char *command)
{
    const size_t length = strlen(command);

    if (strcmp(words, "*") == 0) {
        return 1;
    }
    for (const char *at = strstr(words, command); at != NULL;
         at = strstr(at + 1, command)) {
        const int starts = at == words || at[-1] == ' ';

        if (starts && (at[length] == '\0' || at[length] == ' ')) {
            return 1;
        }
    }
    return 0;
}

static void print_option(const struct option_spec *spec)
{
    char left[64];

    snprintf(left, sizeof left, "%c%c%s--%s%s%s", spec->letter ? '-' : ' ',
        spec->letter ? spec->letter : ' ', spec->letter ? ", " : "  ",
        spec->name, spec->argument == NULL ? "" : " ",
        spec->argument == NULL ? "" : spec->argument);
    printf("  %-28s %s\n", left, spec->help);
}

void help_print(const char *command)
{
    const struct command *const chosen = command_find(command);
    const int is_program = chosen == &command_run;

    printf("usage: nvbw-host %s%s%s\n  %s\n", is_program ? "" : chosen->name,
        is_program ? "" : " ", chosen->usage, chosen->summary);
    if (is_program) {
        puts("\ncommands:");
        for (const struct command *const *at = commands; *at != NULL; at++) {
            printf("  %-14s %s\n", (*at)->name, (*at)->summary);
        }
    }
    puts("\noptions:");
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        if (goes_with(spec->commands, command)) {
            print_option(spec);
        }
    }
    puts("\nexit codes:");
    for (size_t i = 0; i < sizeof exit_code_texts / sizeof exit_code_texts[0];
         i++) {
        printf("  %d  %s\n", exit_code_texts[i].code, exit_code_texts[i].text);
    }
}
