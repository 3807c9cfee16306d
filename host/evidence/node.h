/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Node: one run in short, for those who look at many. It stands in
 * summary.ndjson as the second line, of type "node", so that a fleet of ten
 * thousand is read by two lines each. Readers of evidence pass over it. */
#ifndef NVBW_NODE_H
#define NVBW_NODE_H

#include "fields.h"

enum { NODE_VERSION = 1 };
/* The longest line of it that is read, and the most cells. */
#define NODE_LINE_BYTES  ((size_t)16 << 20)
#define NODE_CELLS_LIMIT (1 << 21)

/* The cells of one metric of one testcase: lists of one length. Of several
 * rounds the gravest state and the last figure. */
struct node_group {
    const char *plugin, *testcase, *sweep, *metric;
    uint32_t measure, better; /* NVBW_UNIT_*, NVBW_HIGHER, ... */
    double reach;             /* what healthy runs differ by (between_runs.h),
                                 of the cell for which that is most */
    const char **places;      /* "GPU 0 > GPU 1", "" for a single figure */
    uint32_t places_count;
    const char **states; /* names of STATE_* */
    uint32_t states_count;
    double *figures; /* -1: none */
    uint32_t figures_count;
};

struct node_finding {
    const char *id, *family;
    int32_t gpu; /* the machine's number, or -1 */
    const char *what, *action;
    uint32_t exit_code, accepted;
};

struct node {
    uint32_t version; /* NODE_VERSION */
    const char *host, *run_id, *started, *build, *driver_version;
    const char *plan, *plan_sha256;
    const char *gpu_model; /* of the first GPU; NULL: none */
    uint32_t gpus;
    uint32_t simulated, complete; /* complete: it came to its end */
    uint32_t exit_code;
    struct node_group *groups;
    uint32_t groups_count;
    struct node_finding *findings;
    uint32_t findings_count;
};

extern const struct fields node_fields;

/* The line, its end included. */
int32_t node_format(
    const struct node *node, struct strbuf *out, struct error *err);

/* Reads the second line of a summary. NVBW_E_INVALID with a sentence for all
 * that is no such file: another version, an older build, bytes that are no
 * line, lists of unequal lengths. Reads no more than two lines of
 * NODE_LINE_BYTES. Texts are cleaned of what plays with terminals. */
int32_t node_read(
    const char *file, struct arena *arena, struct node *out, struct error *err);

#endif
