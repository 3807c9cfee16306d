/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Plan: what a person asked for, after overlays and --set, every value with
 * the place it came from. Values stay text here; what reads them parses them
 * through common/quantity.h, and plan_check has tried each before anything
 * runs. The plan is written into the journal whole, so a run can be resumed
 * and judged again without its files. */
#ifndef NVBW_PLAN_H
#define NVBW_PLAN_H

#include "facts.h"
#include "fields.h"
#include "schema.h"

/* Where a value was written. file is as given by the user, "--set" for the
 * command line, or NULL for a built-in default. */
struct origin {
    const char *file;
    uint32_t line;
};

/* A key of a group, and a group of a parameter that is a list of groups. */
struct plan_pair {
    const char *key, *text;
    struct origin origin;
};
struct plan_group {
    struct origin origin;
    struct plan_pair *pairs;
    uint32_t pairs_count;
};
enum { PLAN_GROUPS_LIMIT = 4096 }; /* of one parameter */

/* The key's value in the group, or NULL. (plan_groups.c) */
const struct plan_pair *plan_group_find(
    const struct plan_group *group, const char *key);

/* One value: a scalar, a list or a list of groups, as text. */
struct plan_value {
    const char *name;   /* key */
    const char **texts; /* of groups: where each stands, "plan.cfg:12" */
    uint32_t texts_count;
    uint32_t is_list;          /* 1: written as a list, even of one element */
    uint32_t kind;             /* PLAN_TEXT, PLAN_NUMBER, ...: as written */
    struct plan_group *groups; /* of kind PLAN_GROUPS, beside texts */
    uint32_t groups_count;
    struct origin origin;
};
enum { PLAN_TEXT = 0, PLAN_NUMBER, PLAN_BOOL, PLAN_GROUPS };

/* One entry of `limits`. Texts are NULL where the key is absent. */
struct plan_limit {
    const char *match; /* "testcase" or "testcase/metric", globs */
    const char *min, *max, *warn;
    const char *devices, *pair, *direction, *size;
    uint32_t rank; /* order of loading: of equals the later wins */
    struct origin origin;
};

/* The judging and scheduling keys that stand in `defaults` and in a suite. */
struct plan_settings {
    const char *required; /* "yes", "if_possible", "no"; NULL: inherit */
    const char *confirm, *pass, *warn, *isolate;
};

struct plan_suite {
    const char *plugin;
    const char *id;            /* NULL where the plugin is used once */
    const char *file, *sha256; /* pins */
    uint32_t enabled;
    const char **tests; /* globs over testcase names; none: all */
    uint32_t tests_count;
    const char **tags;
    uint32_t tags_count;
    struct plan_value *params; /* later wins */
    uint32_t params_count;
    struct plan_limit *limits;
    uint32_t limits_count;
    struct plan_settings settings;
    struct origin origin;
};

/* A known defect: of the cells that match, of the findings with the cause, or
 * of both. Texts are NULL where the key is absent. */
struct plan_accept {
    const char *match, *device, *pair, *cause;
    const char *until, *why, *ticket;
    struct origin origin;
};

struct plan_report {
    const char *format, *file;
};

struct plan {
    const char *name;
    struct plan_value *expect;
    uint32_t expect_count;
    struct plan_value *params; /* of `defaults` */
    uint32_t params_count;
    struct plan_settings defaults;
    struct plan_limit *limits;
    uint32_t limits_count;
    struct plan_suite *suites;
    uint32_t suites_count;
    struct plan_accept *accepts;
    uint32_t accepts_count;
    struct plan_report *reports;
    uint32_t reports_count;
    struct plan_value *telemetry;
    uint32_t telemetry_count;
    struct plan_value *nvbandwidth; /* version, mean, ...: how reports in its
                                       format are written */
    uint32_t nvbandwidth_count;
    struct plan_value *options; /* every other top-level key: plugin_path,
                                   isolate, mpi, allow_multicast, repeat,
                                   duration, cooldown, budget, efficiency,
                                   baseline */
    uint32_t options_count;
    const char **only; /* -t: testcases of the plan that shall run; none: all */
    uint32_t only_count;
    const char **tags; /* --tags */
    uint32_t tags_count;
    const char *devices; /* --devices or --pair */
    uint32_t is_pair;    /* 1: --pair gave devices */
    const char **files;  /* the plan's files in order of loading */
    uint32_t files_count;
    const char *sha256; /* over the texts of files and --set */
};

extern const struct fields plan_fields, origin_fields;

/* The value of a top-level option, or NULL. */
const struct plan_value *plan_option(const struct plan *plan, const char *name);
/* The suite's name for messages and --set: its id, else its plugin. */
const char *suite_name(const struct plan_suite *suite);

/* Errors of a plan, all of them at once. */
struct problem {
    uint32_t is_warning;
    struct origin origin;
    char *text; /* without the place */
};
struct problems {
    struct arena *arena;
    struct problem *list;
    uint32_t count, errors;
};
void problem_add(struct problems *problems, struct origin origin,
    int is_warning, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What to load: files and folders of -c in order, then --set texts
 * ("path=value"). */
struct plan_request {
    const char **files;
    uint32_t files_count;
    const char **sets;
    uint32_t sets_count;
    const char **givers;     /* of each of sets the option that gave it, for
                            messages; NULL: --set gave all */
    const struct plan *base; /* what files and sets are laid over, or NULL */
    const char *data_dir;    /* where plans are looked for that are not found
                             from the current directory; may be NULL */
};

/* Reads and merges. What is wrong goes to problems; the plan is usable only
 * if problems->errors is 0 afterwards. Negative only without memory. No
 * GPU, no plugin, no driver. (plan_load.c, plan_merge.c) */
int32_t plan_load(const struct plan_request *request, struct arena *arena,
    struct plan *out_plan, struct problems *problems, struct error *err);

/* Checks every name and value against what the plugins offer; adds one
 * problem per mistake, with the nearest name where a name is unknown. Works
 * on what plan_load could read even where that found errors, so that all of
 * them are told at once. (plan_check.c) */
void plan_check(const struct plan *plan, const struct plugin_schema *plugins,
    uint32_t plugins_count, struct problems *problems);

/* The standard parameters, in the same shape as a testcase's own. Ends with a
 * NULL name. (param.c) */
extern const struct param_schema standard_params[];
const struct param_schema *standard_param(const char *name);

/* Each option key and default key, for the reference and for nearest-name
 * search. Ends with a NULL name. (plan_keys.c) */
struct plan_key {
    const char *where; /* "top", "suite", "defaults", "limit", "expect",
                          "accept", "telemetry", "nvbandwidth", "report" */
    const char *name, *type, *help;
};
extern const struct plan_key plan_keys[];

#endif
