/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What commands do before they act: find the parts of the installation, read
 * the plan, ask workers for plugins and facts, make the schedule. Each step
 * needs the ones before it. */
#ifndef NVBW_PREPARE_H
#define NVBW_PREPARE_H

#include "baseline_file.h"
#include "conduct.h"
#include "fit_budget.h"
#include "locate.h"
#include "options.h"
#include "team.h"

/* Why the ranks of an MPI job did not come together: what all its cells get. */
struct no_team {
    uint32_t state; /* STATE_NONE: they did, or there is no such job */
    const char *reason, *message;
};

struct prepared {
    const struct options *options;
    struct arena *arena;
    struct locations parts;
    struct worker_setup setup;
    struct problems problems;
    struct plan plan;
    struct problems efficiency_problems;
    struct efficiencies efficiencies; /* all that were found */
    const struct evidence *baseline;  /* that the plan names, or NULL */
    struct plugin_schema *plugins;
    uint32_t plugins_count;
    struct facts facts;
    struct schedule schedule;
    struct team *team; /* of an MPI job, else NULL */
    struct no_team no_team;
    uint32_t silent;       /* 1: another rank reports that there is none */
    struct fit fit;        /* of the schedule into the budget */
    const char *fit_words; /* what it leaves out, or NULL */
};

int32_t prepare_parts(const struct options *options, struct arena *arena,
    struct prepared *out, struct error *err);
/* Reads the plan of -c, or quick.cfg of the data folder; an overlay of the
 * options -t, --tags and --devices included. Mistakes go to problems. */
int32_t prepare_plan(struct prepared *prepared, struct error *err);
/* The n-th file of efficiencies that is for a GPU of the machine, for the
 * journal; NULL after the last. Needs the facts. */
const struct efficiency_file *prepare_efficiency(
    const struct prepared *prepared, uint32_t n);
/* Finds plugins and has each described. */
int32_t prepare_plugins(struct prepared *prepared, struct error *err);
/* Asks the testcases what they think of the plan's values; needs a plan without
 * errors. What they refuse goes to problems. (prepare_values.c) */
int32_t prepare_values(struct prepared *prepared, struct error *err);
/* Checks the plan against the plugins, and with prepare_values. Prints all
 * problems; returns NVBW_E_INVALID, with a sentence that sums them up, if one
 * is an error. */
int32_t prepare_check(struct prepared *prepared, struct error *err);
/* Reads the baseline that the plan names, if any; what is wrong with it goes
 * to problems. */
int32_t prepare_baseline(struct prepared *prepared, struct error *err);
/* Whether it is one of this machine. Needs the facts. */
int32_t prepare_baseline_fits(
    const struct prepared *prepared, struct error *err);
int32_t prepare_facts(struct prepared *prepared, struct error *err);
/* Prints what the plan says that does not fit these facts. */
void prepare_doubts(const struct prepared *prepared);
/* In MPI mode: joins the other ranks, whose facts become the run's. Where they
 * do not come together prepared->no_team says why; it is an error where they
 * were started wrongly. For ranks but 0 prepare_follows says that rank 0 has
 * the word.
 * (prepare_team.c) */
int32_t prepare_team(struct prepared *prepared, struct error *err);
/* The rank that this process has in a job by its launcher, before MPI can be
 * asked; 0 where none says so and outside MPI mode. (prepare_team.c) */
uint32_t prepare_rank(const struct prepared *prepared);
int prepare_follows(const struct prepared *prepared);
/* In MPI mode, without joining anybody: each GPU stands for a rank. */
void prepare_team_rehearsal(struct prepared *prepared);
/* Where ranks did not come together, or cannot share memory, no unit runs. */
int32_t prepare_team_units(struct prepared *prepared);
/* The GPUs of --devices, all without it: positions in prepared->facts.gpus. */
int32_t prepare_gpus(struct prepared *prepared, uint32_t **out_gpus,
    uint32_t *out_count, struct error *err);
int32_t prepare_schedule(struct prepared *prepared, struct error *err);
/* Fits the schedule into the plan's budget and says on stderr what that leaves
 * out. */
int32_t prepare_budget(struct prepared *prepared, struct error *err);
/* On a machine that the plan does not expect no unit runs: each gets state
 * not_run, reason health. */
int32_t prepare_expect(struct prepared *prepared, struct error *err);

#endif
