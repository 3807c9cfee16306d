/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Options: the command line as data. One table says every option's spelling,
 * help and which commands take it; --help, completion and the man page are
 * made from it. */
#ifndef NVBW_OPTIONS_H
#define NVBW_OPTIONS_H

#include <stdint.h>

#include "arena.h"
#include "nvbandwidth_plan.h"
#include "status.h"

struct text_list {
    const char **texts;
    uint32_t count;
};

struct options {
    const char *command; /* "run" where none was given */
    struct text_list args;
    struct text_list plans;  /* -c */
    struct text_list sets;   /* --set, and what other options mean by it */
    struct text_list givers; /* of each of sets the option, "--budget" */
    struct text_list only;   /* -t */
    struct text_list prefixes, pair; /* of nvbandwidth */
    struct text_list tags;           /* --tags */
    struct text_list reports;        /* FORMAT=FILE */
    struct text_list plugin_dirs;
    struct text_list expected; /* --expect-nodes */
    const char *devices, *run_dir, *driver, *sim_profile, *wrap, *output,
        *margin;
    int dry_run, trust_plugins, watch, quiet, verbose, json, explain_limits,
        rerun_failed, force, full, help, version;
    /* nvbandwidth's flags: is_nvbandwidth is 1 where one of them stands and no
     * plan is given. The lists in flags are left empty, they are above. */
    int is_nvbandwidth, list, exit_zero;
    struct nvbandwidth_flags flags;
    int argc; /* the command line as typed, for the record */
    char **argv;
};

enum option_kind {
    OPTION_FLAG = 1, /* an int */
    OPTION_TEXT,     /* a const char * */
    OPTION_LIST,     /* a struct text_list */
    OPTION_WORDS,    /* a struct text_list: comma-separated, and every word up
                        to the next dash */
    OPTION_SET       /* means --set KEY=argument */
};

struct option_spec {
    const char *name; /* without dashes */
    char letter;      /* or 0 */
    enum option_kind kind;
    uint32_t offset;      /* in struct options */
    const char *argument; /* "FILE", or NULL for a flag */
    const char *set;      /* OPTION_SET: the plan's key */
    const char *commands; /* which take it: "run resume", or "*"; with the word
                             "nvbandwidth" it is one of nvbandwidth's */
    const char *help;
};
/* Ends with a NULL name. */
extern const struct option_spec option_specs[];

/* 1 if the option goes with the command: the word stands in its list. "*"
 * stands for every command of ours. */
int option_goes_with(const struct option_spec *spec, const char *command);

/* Parses argv. Texts live in arena or in argv. What is wrong is one sentence
 * in err and NVBW_E_INVALID; an unknown option names the nearest one. */
int32_t options_parse(int argc, char **argv, struct arena *arena,
    struct options *out, struct error *err);

#endif
