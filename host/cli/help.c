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

enum { WIDTH = 80, LEFT_WIDTH = 30 };

/* A text beside or below what stands on its left, in lines that fit. */
static void print_beside(const char *left, const char *text)
{
    const int used = (int)strlen(left);
    int column = LEFT_WIDTH;

    printf("%-*s", LEFT_WIDTH, left);
    if (used >= LEFT_WIDTH) {
        printf("\n%*s", LEFT_WIDTH, "");
    }
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");

        if (column + 1 + length > WIDTH) {
            printf("\n%*s", LEFT_WIDTH, "");
            column = LEFT_WIDTH;
        }
        printf("%s%.*s", column > LEFT_WIDTH ? " " : "", length, text);
        column += length + (column > LEFT_WIDTH ? 1 : 0);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_option(const struct option_spec *spec)
{
    char left[64];

    snprintf(left, sizeof left, "  %c%c%s--%s%s%s", spec->letter ? '-' : ' ',
        spec->letter ? spec->letter : ' ', spec->letter ? ", " : "  ",
        spec->name, spec->argument == NULL ? "" : " ",
        spec->argument == NULL ? "" : spec->argument);
    print_beside(left, spec->help);
}

static void print_options(const char *command)
{
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        if (option_goes_with(spec, command)) {
            print_option(spec);
        }
    }
}

static void print_commands(void)
{
    char left[64];

    puts("\ncommands:");
    for (const struct command *const *at = commands; *at != NULL; at++) {
        snprintf(left, sizeof left, "  %s", (*at)->name);
        print_beside(left, (*at)->summary);
    }
}

void help_print(const char *command)
{
    const struct command *const chosen = command_find(command);
    const int is_program = chosen == &command_run;

    printf("usage: nvbw-host %s%s%s\n", is_program ? "" : chosen->name,
        is_program ? "" : " ", chosen->usage);
    if (is_program) {
        puts("       nvbw-host [nvbandwidth flags]");
    }
    printf("  %s\n", chosen->summary);
    if (is_program) {
        print_commands();
    }
    puts("\noptions:");
    print_options(command);
    if (is_program) {
        puts("\nnvbandwidth flags, which mean and print what they do there "
             "(without -c):");
        print_options("nvbandwidth");
    }
    puts("\nexit codes:");
    for (size_t i = 0; i < sizeof exit_code_texts / sizeof exit_code_texts[0];
         i++) {
        printf("  %d  %s\n", exit_code_texts[i].code, exit_code_texts[i].text);
    }
}
