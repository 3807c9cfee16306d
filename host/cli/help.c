/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "judge.h"

struct exit_code_text {
    int code;
    const char *text; /* NULL: the end */
};
static const struct exit_code_text codes_of_run[] = {
    { EXIT_PASSED, "passed" },
    { EXIT_FAILED, "a limit or a data verification failed" },
    { EXIT_USAGE, "usage or plan error, nothing ran" },
    { EXIT_HEALTH, "health: GPU lost or tainted, expect not met, throttled" },
    { EXIT_INCOMPLETE, "incomplete: something that was required did not run" },
    { EXIT_CONTRACT, "a plugin was refused or broke the contract" },
    { 0, NULL },
};
static const struct exit_code_text codes_of_compare[] = {
    { EXIT_PASSED, "no cell is slower or lost" },
    { EXIT_FAILED, "cells are slower or lost" },
    { EXIT_USAGE, "usage error, or runs that cannot be compared" },
    { 0, NULL },
};
static const struct exit_code_text codes_of_verify[] = {
    { EXIT_PASSED, "all sums are right" },
    { EXIT_FAILED, "a file is missing, or its sum is wrong" },
    { EXIT_USAGE, "usage error, or no run to verify" },
    { 0, NULL },
};
static const struct exit_code_text codes_of_check[] = {
    { EXIT_PASSED, "the plan is sound" },
    { EXIT_USAGE, "usage or plan error" },
    { 0, NULL },
};
static const struct exit_code_text codes_of_check_plugin[] = {
    { EXIT_PASSED, "the plugin keeps the contract" },
    { EXIT_USAGE, "usage error" },
    { EXIT_CONTRACT, "the plugin is refused or breaks the contract" },
    { 0, NULL },
};
static const struct exit_code_text codes_of_rest[] = {
    { EXIT_PASSED, "done" },
    { EXIT_USAGE, "usage error, or it could not be done" },
    { 0, NULL },
};

/* Commands that end with other codes than a run does. */
static const struct {
    const struct command *command;
    const struct exit_code_text *codes;
} codes_of_commands[] = {
    { &command_compare, codes_of_compare },
    { &command_verify, codes_of_verify },
    { &command_check_plan, codes_of_check },
    { &command_check_plugin, codes_of_check_plugin },
    { &command_help, codes_of_rest },
    { &command_report, codes_of_rest },
    { &command_list, codes_of_rest },
    { &command_topo, codes_of_rest },
    { &command_baseline, codes_of_rest },
    { &command_from_nvloom, codes_of_rest },
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

static void print_codes(const struct command *command)
{
    const struct exit_code_text *at = codes_of_run;

    for (size_t i = 0; i < sizeof codes_of_commands / sizeof *codes_of_commands;
         i++) {
        if (codes_of_commands[i].command == command) {
            at = codes_of_commands[i].codes;
        }
    }
    puts("\nexit codes:");
    for (; at->text != NULL; at++) {
        printf("  %d  %s\n", at->code, at->text);
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
    print_codes(chosen);
}
