/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Schema: what a plugin offers, read from its descriptors by a worker of role
 * `describe`. The host plans, checks, lists and explains from it and never
 * loads the plugin. */
#ifndef NVBW_SCHEMA_H
#define NVBW_SCHEMA_H

#include "fields.h"

/* A key of a GROUP parameter stands behind it among the parameters, as a LIST
 * of its own, "flows.from": whatever reads, sends or keeps parameters treats
 * groups as lists side by side. Without a default it has to be given. */
enum { SCHEMA_PARAM_MEMBER = 1 << 30 };

struct param_schema {
    const char *name, *help;
    uint32_t type, unit, flags; /* NVBW_PARAM_*, SCHEMA_PARAM_MEMBER */
    const char *default_text, *min_text, *max_text;
    const char **choices; /* names only */
    uint32_t choices_count;
    const char **choices_help; /* beside them */
    uint32_t choices_help_count;
};

struct metric_schema {
    const char *name, *help;
    uint32_t unit, better, flags;
    const char *rows, *cols;
};

struct testcase_schema {
    const char *name, *summary, *help;
    const char **tags;
    uint32_t tags_count;
    uint64_t need_features;
    uint32_t need_gpus, need_ranks, need_compute, need_driver;
    uint64_t need_gpu_bytes, need_pinned_bytes;
    struct param_schema *params; /* its own, without the standard ones */
    uint32_t params_count;
    struct metric_schema *metrics;
    uint32_t metrics_count;
    uint32_t has_probe, has_check;
    const char *problem; /* why this testcase is refused, or NULL */
};

struct plugin_schema {
    const char *name, *version, *summary, *licence;
    const char *file;   /* real path */
    const char *sha256; /* of the file; the host's to fill in */
    uint32_t abi_minor, min_host_minor, flags;
    struct testcase_schema *testcases;
    uint32_t testcases_count;
    /* Set by the host where the plugin cannot be used: a STATE_* with code
     * and sentence ("error", "refused", "plugin x.so: ..."). name is then the
     * file's name without ".so" and there are no testcases. */
    uint32_t state;
    const char *reason, *message;
    uint32_t installed; /* 1: from the installed plugin folder */
    uint32_t trusted;   /* 0: loaded only because of --trust-plugins */
};

extern const struct fields plugin_schema_fields;
extern const struct fields testcase_schema_fields;
extern const struct fields param_schema_fields;

const struct testcase_schema *schema_testcase(
    const struct plugin_schema *plugin, const char *name);
const struct metric_schema *schema_metric(
    const struct testcase_schema *testcase, const char *name);
const struct param_schema *schema_param(
    const struct testcase_schema *testcase, const char *name);
/* The key of "flows.from", or NULL where the parameter is no member. */
const char *schema_member_key(const struct param_schema *param);

#endif
