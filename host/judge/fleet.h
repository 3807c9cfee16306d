/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Fleet: the runs of many nodes in short, and what to think of them together.
 * Nodes are added one by one; only figures, states and a few texts of each are
 * kept. What comes out depends on the nodes and not on the order in which they
 * were added. Pure.
 *
 * Of several runs of one host the newest counts. A cell is compared with the
 * same cell (plugin, testcase, sweep, metric, place, model and number of GPUs)
 * of all other nodes: a node is an outlier there if it is worse than their
 * median by more than FLEET_WORSE and than what runs of a healthy machine
 * differ by, and by a robust z beyond FLEET_Z. */
#ifndef NVBW_FLEET_H
#define NVBW_FLEET_H

#include "judge.h"
#include "node.h"

enum { FLEET_NODES_LEAST = 4 }; /* fewer are no crowd */
#define FLEET_WORSE 0.03
#define FLEET_Z     5.0

struct fleet_node {
    const char *path; /* as given */
    const char *host, *run_id, *started, *build, *driver_version, *plan,
        *plan_sha256, *gpu_model;
    uint32_t gpus, simulated, complete;
    int32_t exit_code;
    uint32_t cells;
    uint32_t by_state[STATE_COUNT];
    struct node_finding *findings;
    uint32_t findings_count;
    uint32_t number;     /* in order of adding */
    uint32_t superseded; /* 1: a newer run of its host counts */
    uint32_t first_outlier, outliers_count; /* in fleet->outliers */
    uint32_t first_bad, bad_count;          /* in fleet->bad */
};

struct fleet_figure {
    uint32_t node; /* while adding its number, then its place in nodes */
    uint32_t state;
    double figure; /* NaN: none */
};

/* The same cell on all nodes that have it. */
struct fleet_cell {
    const char *plugin, *testcase, *sweep, *metric, *place, *gpu_model;
    uint32_t gpus, measure, better;
    double reach;
    struct fleet_figure *figures; /* in order of nodes */
    uint32_t figures_count;
    uint32_t count;           /* of figures that are there */
    double median, low, high; /* NaN: none */
    double scatter;           /* median of distances from it, relative */
    uint32_t worst;           /* place in nodes of the worst figure */
};

/* A cell of a node, in order of nodes. */
struct fleet_outlier {
    uint32_t node, cell; /* places in nodes and cells */
    double figure;
    double gain; /* against the median, negative */
    double z;
};

struct fleet_bad {
    uint32_t node, cell, state; /* any state but pass, warn, unchecked, skip */
    double figure;
};

/* What not all nodes have alike. The most frequent value comes first. */
struct fleet_value {
    const char *value;     /* NULL: unknown */
    uint32_t count, first; /* nodes that have it; the first one's place */
};
struct fleet_difference {
    const char *what; /* "driver", "build", "plan", "GPUs" */
    struct fleet_value *values;
    uint32_t values_count;
};

struct fleet_trouble {
    const char *path, *why;
};

struct fleet {
    struct fleet_node *nodes; /* in order of hosts, newest run first */
    uint32_t nodes_count;
    uint32_t counted;         /* not superseded */
    struct fleet_cell *cells; /* in order of plugins, testcases and places */
    uint32_t cells_count;
    struct fleet_outlier *outliers;
    uint32_t outliers_count, outlier_nodes;
    struct fleet_bad *bad;
    uint32_t bad_count;
    struct fleet_difference *differences;
    uint32_t differences_count;
    struct fleet_trouble *troubles; /* directories without a usable run */
    uint32_t troubles_count;
    const char **missing, **unexpected; /* hosts; none if none were expected */
    uint32_t missing_count, unexpected_count;
    uint32_t expected_count;
    uint32_t by_exit[8]; /* nodes by exit code */
    int32_t exit_code;   /* the gravest; 4 for what is missing */

    /* For adding. */
    struct arena *arena;
    uint32_t *slots; /* open addressing: places in cells plus one */
    uint32_t slots_count;
    uint32_t order; /* of the next node */
};

/* Everything lives in arena. */
void fleet_begin(struct fleet *fleet, struct arena *arena);
/* Copies what it keeps. A run that is there already, by its run_id, is taken
 * once. NVBW_E_INVALID: too large for what is there, and nothing was added. */
int32_t fleet_add(struct fleet *fleet, const char *path,
    const struct node *node, struct error *err);
/* A directory without a usable run. */
int32_t fleet_add_trouble(
    struct fleet *fleet, const char *path, const char *why, struct error *err);
/* After the last. expected: hosts, or none. */
int32_t fleet_finish(struct fleet *fleet, const char *const *expected,
    uint32_t expected_count, struct error *err);

/* 1 if both name one host: equal, or equal up to the first point where one of
 * them has none. */
int fleet_is_same_host(const char *one, const char *other);

/* For tables by name: numbers in names count as numbers; NULL comes first. */
int fleet_compare_names(const char *one, const char *other);

#endif
