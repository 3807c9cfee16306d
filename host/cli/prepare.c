/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "check_setup.h"
#include "counterpart.h"
#include "devices.h"
#include "doubts.h"
#include "environment.h"
#include "expect.h"
#include "nvbandwidth_mode.h"
#include "regular_file.h"
#include "run.h"
#include "say.h"
#include "state.h"
#include "sweep.h"
#include "version.h"
#include "warn_company.h"

/* To describe itself a plugin is loaded, at many nodes of a job from one file
 * server at once. */
enum { DESCRIBE_SECONDS = 30, ANSWER_SECONDS = 60 };

/* --wrap "gdb --args" becomes an argv; words are separated by blanks. */
static const char *const *split_words(struct arena *arena, const char *text)
{
    const char **words = NULL;
    uint32_t count = 0;

    while (*text != '\0') {
        const size_t length = strcspn(text, " ");

        if (length > 0) {
            words = arena_append(arena, words, &count, sizeof *words);
            if (words == NULL) {
                return NULL;
            }
            words[count - 1] = arena_text_n(arena, text, length);
        }
        text += length + (text[length] == ' ');
    }
    words = arena_append(arena, words, &count, sizeof *words);
    return words;
}

/* The driver's path as workers need it: absolute, since it is given to dlopen
 * and must not be searched for. */
static int32_t driver_path(const struct options *options, struct arena *arena,
    const char **out_path, struct error *err)
{
    if (options->driver == NULL) {
        FAIL_IF(options->sim_profile != NULL, err, NVBW_E_INVALID,
            "--sim-profile needs --driver with the simulated driver, "
            "PREFIX/lib/nvbw/sim/libcuda_sim.so");
        return NVBW_OK;
    }

    char *const real = realpath(options->driver, NULL);

    if (real == NULL) {
        return error_system(err, "--driver \"%s\"", options->driver);
    }
    *out_path = arena_text(arena, real);
    free(real);
    FAIL_IF(*out_path == NULL, err, NVBW_E_SYSTEM, "out of memory");
    TRY(regular_file_check(*out_path, err));
    return options->sim_profile == NULL
               ? NVBW_OK
               : check_sim_profile(*out_path, options->sim_profile, arena, err);
}

int32_t prepare_parts(const struct options *options, struct arena *arena,
    struct prepared *out, struct error *err)
{
    *out = (struct prepared){ .options = options, .arena = arena };
    out->problems.arena = arena;
    out->efficiency_problems.arena = arena;
    TRY(locate_parts(arena, &out->parts, err));
    out->setup = (struct worker_setup){
        .worker_file = out->parts.worker,
        .sim_profile = options->sim_profile,
        .describe_ns = DESCRIBE_SECONDS * UINT64_C(1000000000),
        .answer_ns = ANSWER_SECONDS * UINT64_C(1000000000),
        .build = NVBW_BUILD,
    };
    if (options->wrap != NULL) {
        out->setup.wrap = split_words(arena, options->wrap);
        FAIL_IF(out->setup.wrap == NULL, err, NVBW_E_SYSTEM, "out of memory");
        TRY(check_wrap(out->setup.wrap, options->wrap, err));
    }
    return driver_path(options, arena, &out->setup.driver_file, err);
}

int32_t prepare_plan(struct prepared *prepared, struct error *err)
{
    const struct options *const options = prepared->options;
    const char *quick = arena_format(
        prepared->arena, "%s/plans/quick.cfg", prepared->parts.data);
    const int given = options->plans.count > 0;
    struct plan base;
    struct plan_request request = {
        .files = given ? options->plans.texts : &quick,
        .files_count = given ? options->plans.count : 1,
        .sets = options->sets.texts,
        .sets_count = options->sets.count,
        .givers = options->givers.texts,
        .data_dir = prepared->parts.data,
    };

    if (options->is_nvbandwidth) {
        TRY(nvbandwidth_mode_plan(prepared, err));
        base = prepared->plan;
        request.base = &base;
        request.files_count = 0;
    }
    TRY(plan_load(
        &request, prepared->arena, &prepared->plan, &prepared->problems, err));
    prepared->plan.tags = options->tags.texts;
    prepared->plan.tags_count = options->tags.count;
    if (!options->is_nvbandwidth) {
        prepared->plan.only = options->only.texts;
        prepared->plan.only_count = options->only.count;
    }
    if (options->devices != NULL) {
        prepared->plan.devices = options->devices;
    }
    return options->is_nvbandwidth
               ? NVBW_OK
               : efficiency_load(&prepared->plan, prepared->parts.data,
                     prepared->arena, &prepared->efficiencies,
                     &prepared->efficiency_problems, err);
}

int32_t prepare_baseline(struct prepared *prepared, struct error *err)
{
    const struct plan_value *const given =
        plan_option(&prepared->plan, "baseline");
    struct evidence *const baseline =
        arena_alloc(prepared->arena, 1, sizeof *baseline);
    struct error why = { 0 };

    FAIL_IF(baseline == NULL, err, NVBW_E_SYSTEM, "out of memory");
    if (given == NULL) {
        return NVBW_OK;
    }
    if (baseline_read(given->texts[0], prepared->arena, baseline, &why) < 0) {
        problem_add(&prepared->problems, given->origin, 0, "baseline: %.900s",
            why.text);
        return NVBW_OK;
    }
    prepared->baseline = baseline;
    return NVBW_OK;
}

int32_t prepare_baseline_fits(
    const struct prepared *prepared, struct error *err)
{
    const struct plan_value *const given =
        plan_option(&prepared->plan, "baseline");
    struct error why = { 0 };

    if (prepared->baseline == NULL ||
        counterpart_machine(
            &prepared->baseline->facts, &prepared->facts, &why) >= 0) {
        return NVBW_OK;
    }
    return error_set(err, NVBW_E_INVALID,
        "the baseline %.400s is of another machine: %.500s", given->texts[0],
        why.text);
}

static int is_for_machine(
    const struct efficiency_file *file, const struct facts *facts)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (efficiency_matches(file, facts->gpus[i].name)) {
            return 1;
        }
    }
    return 0;
}

const struct efficiency_file *prepare_efficiency(
    const struct prepared *prepared, uint32_t n)
{
    for (uint32_t i = 0; i < prepared->efficiencies.count; i++) {
        const struct efficiency_file *const file =
            &prepared->efficiencies.list[i];

        if (is_for_machine(file, &prepared->facts) && n-- == 0) {
            return file;
        }
    }
    return NULL;
}

static int32_t add_source(struct prepared *prepared,
    struct discover_request *request, struct plugin_source source,
    struct error *err)
{
    struct plugin_source *const list = arena_append(prepared->arena,
        (void *)request->sources, &request->sources_count, sizeof *list);

    FAIL_IF(list == NULL, err, NVBW_E_SYSTEM, "out of memory");
    list[request->sources_count - 1] = source;
    request->sources = list;
    return NVBW_OK;
}

/* NVBW_PLUGIN_PATH: folders separated by colons; not under AT_SECURE. */
static int32_t add_environment(struct prepared *prepared,
    struct discover_request *request, struct error *err)
{
    const char *path = secure_getenv("NVBW_PLUGIN_PATH");

    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");

        if (length > 0) {
            TRY(add_source(prepared, request,
                (struct plugin_source){
                    .folder = arena_text_n(prepared->arena, path, length) },
                err));
        }
        path += length + (path[length] == ':');
    }
    return NVBW_OK;
}

static int32_t add_sources(struct prepared *prepared,
    struct discover_request *request, struct error *err)
{
    const struct text_list *const dirs = &prepared->options->plugin_dirs;
    const struct plan_value *const path =
        plan_option(&prepared->plan, "plugin_path");

    for (uint32_t i = 0; i < dirs->count; i++) {
        TRY(add_source(prepared, request,
            (struct plugin_source){ .folder = dirs->texts[i] }, err));
    }
    for (uint32_t i = 0; path != NULL && i < path->texts_count; i++) {
        TRY(add_source(prepared, request,
            (struct plugin_source){ .folder = path->texts[i] }, err));
    }
    TRY(add_environment(prepared, request, err));
    return add_source(prepared, request,
        (struct plugin_source){
            .folder = prepared->parts.plugins, .installed = 1 },
        err);
}

/* A suite may pin its plugin to a file, which then comes before all others. */
static int32_t add_pinned(struct prepared *prepared,
    const struct discover_request *request, struct candidates *all,
    struct error *err)
{
    struct candidates pinned = { 0 };

    for (uint32_t i = 0; i < prepared->plan.suites_count; i++) {
        const char *const file = prepared->plan.suites[i].file;

        if (file == NULL) {
            continue;
        }
        pinned.list = arena_append(
            prepared->arena, pinned.list, &pinned.count, sizeof *pinned.list);
        FAIL_IF(pinned.list == NULL, err, NVBW_E_SYSTEM, "out of memory");
        TRY(discover_file(request, file, prepared->arena,
            &pinned.list[pinned.count - 1], err));
        pinned.list[pinned.count - 1].pinned = 1;
    }
    for (uint32_t i = 0; pinned.count > 0 && i < all->count; i++) {
        pinned.list = arena_append(
            prepared->arena, pinned.list, &pinned.count, sizeof *pinned.list);
        FAIL_IF(pinned.list == NULL, err, NVBW_E_SYSTEM, "out of memory");
        pinned.list[pinned.count - 1] = all->list[i];
    }
    if (pinned.count > 0) {
        *all = pinned;
    }
    return NVBW_OK;
}

int32_t prepare_plugins(struct prepared *prepared, struct error *err)
{
    struct discover_request request = {
        .trust_all = (uint32_t)prepared->options->trust_plugins,
        .host_file = prepared->parts.host,
    };
    struct candidates candidates = { 0 };

    TRY(add_sources(prepared, &request, err));
    TRY(discover_plugins(
        &request, prepared->arena, &candidates, &prepared->problems, err));
    TRY(add_pinned(prepared, &request, &candidates, err));
    TRY(workers_describe(&prepared->setup, &candidates, prepared->arena,
        &prepared->plugins, &prepared->plugins_count, &prepared->problems,
        err));
    return prepared->options->is_nvbandwidth
               ? nvbandwidth_mode_settle(prepared, err)
               : NVBW_OK;
}

static void print_problems(const struct prepared *prepared, const char *what,
    const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        if (!problems->list[i].is_warning || !prepared->options->quiet) {
            say_problem(what, &problems->list[i]);
        }
    }
}

/* Rank 0 tells of everything that is wrong. The others say no more than what
 * tells whether it is the same: a file may be another one on their host. */
static int32_t check_as_other_rank(
    const struct prepared *prepared, struct error *err)
{
    const struct problems *const all[] = { &prepared->problems,
        &prepared->efficiency_problems };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (uint32_t k = 0; k < all[i]->count; k++) {
            const struct problem *const problem = &all[i]->list[k];

            FAIL_IF(!problem->is_warning, err, NVBW_E_INVALID,
                "rank %u: the first of %u mistakes is at %s:%u, rank 0 tells "
                "all",
                prepare_rank(prepared), all[i]->errors,
                problem->origin.file == NULL ? "?" : problem->origin.file,
                problem->origin.line);
        }
    }
    return NVBW_OK;
}

int32_t prepare_check(struct prepared *prepared, struct error *err)
{
    const struct problems *const problems = &prepared->problems;
    const uint32_t *const wrong = &prepared->efficiency_problems.errors;

    /* A plan that could not be read at all has no suite to check. */
    if (problems->errors == 0 || prepared->plan.suites_count > 0) {
        plan_check(&prepared->plan, prepared->plugins, prepared->plugins_count,
            &prepared->problems);
    }
    doubt_causes(&prepared->plan, &prepared->problems);
    if (problems->errors == 0) {
        TRY(prepare_values(prepared, err));
    }
    if (prepare_rank(prepared) > 0) {
        return check_as_other_rank(prepared, err);
    }
    print_problems(prepared, "plan", problems);
    print_problems(prepared, "efficiencies", &prepared->efficiency_problems);
    FAIL_IF(problems->errors > 0, err, NVBW_E_INVALID,
        "%u mistake%s in the plan, nothing was run", problems->errors,
        problems->errors == 1 ? "" : "s");
    FAIL_IF(*wrong > 0, err, NVBW_E_INVALID,
        "%u mistake%s in the files of efficiencies, nothing was run", *wrong,
        *wrong == 1 ? "" : "s");
    return NVBW_OK;
}

void prepare_doubts(const struct prepared *prepared)
{
    struct problems problems = { .arena = prepared->arena };

    doubt_devices(&prepared->plan, &prepared->facts, &problems);
    print_problems(prepared, "plan", &problems);
}

int32_t prepare_facts(struct prepared *prepared, struct error *err)
{
    return workers_facts(
        &prepared->setup, prepared->arena, &prepared->facts, err);
}

int32_t prepare_gpus(struct prepared *prepared, uint32_t **out_gpus,
    uint32_t *out_count, struct error *err)
{
    const char *const chosen = prepared->options->devices;
    const char **words = NULL;
    uint32_t count = 0;
    struct error why;

    TRY(sweep_split(
        chosen == NULL ? "all" : chosen, prepared->arena, &words, &count, err));
    if (devices_select(&prepared->facts, words, count, prepared->arena,
            out_gpus, out_count, &why) < 0) {
        return error_set(err, why.status, "--devices: %.900s", why.text);
    }
    return NVBW_OK;
}

int32_t prepare_schedule(struct prepared *prepared, struct error *err)
{
    TRY(schedule_build(&prepared->plan, prepared->plugins,
        prepared->plugins_count, &prepared->facts, prepared->arena,
        &prepared->schedule, err));
    if (!prepared->options->quiet) {
        warn_company(prepared);
    }
    return NVBW_OK;
}

int32_t prepare_budget(struct prepared *prepared, struct error *err)
{
    uint64_t budget_ns = 0;

    TRY(run_budget(&prepared->plan, &budget_ns, err));
    fit_budget(&prepared->schedule, budget_ns, &cost_of_cells, &prepared->fit);

    prepared->fit_words = fit_words(&prepared->fit, budget_ns, prepared->arena);
    if (prepared->fit_words != NULL) {
        say("%s", prepared->fit_words);
    }
    return fit_apply(&prepared->fit, &prepared->schedule, prepared->arena, err);
}

/* A fault that the plan accepts does not keep the run from beginning. */
static int is_accepted(
    const struct prepared *prepared, const struct expect_fault *fault)
{
    const struct finding finding = {
        .id = "expect", .gpu = fault->gpu, .peer = -1, .what = fault->what
    };

    return accept_find(&prepared->plan, &prepared->facts,
               time_iso(prepared->arena), &finding) != NULL;
}

int32_t prepare_expect(struct prepared *prepared, struct error *err)
{
    struct expect_fault *faults = NULL;
    const char *first = NULL; /* that is not accepted */
    uint32_t count = 0;

    TRY(expect_check(&prepared->plan, &prepared->facts, prepared->arena,
        &faults, &count, err));
    for (uint32_t i = 0; i < count; i++) {
        const int accepted = is_accepted(prepared, &faults[i]);

        say("plan %s:%u: %s%s", faults[i].origin.file, faults[i].origin.line,
            faults[i].what, accepted ? ", which is accepted" : "");
        if (!accepted && first == NULL) {
            first = faults[i].what;
        }
    }
    for (uint32_t i = 0; first != NULL && i < prepared->schedule.units_count;
         i++) {
        struct unit *const unit = &prepared->schedule.units[i];

        unit->state = STATE_NOT_RUN;
        unit->reason = "health";
        unit->message = first;
    }
    return NVBW_OK;
}
