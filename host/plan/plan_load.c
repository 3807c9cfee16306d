/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nearest.h"
#include "plan_layer.h"
#include "text_clean.h"

#include <errno.h>
#include <sha256.h>
#include <string.h>
#include <unistd.h>

/* What plan_load is about. */
struct loader {
    const struct plan_request *request;
    struct arena *arena;
    struct plan *plan;
    struct problems *problems;
    SHA256_CTX sum;
};

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for the plan");
}

/* The sum tells texts apart however they are divided among files. */
static void add_to_sum(struct loader *loader, const char *text)
{
    SHA256_Update(&loader->sum, (const uint8_t *)text, strlen(text) + 1);
}

static int32_t add_files(
    struct loader *loader, const struct plan_text *text, struct error *err)
{
    struct plan *const plan = loader->plan;

    for (uint32_t i = 0; i < text->files_count; i++) {
        const char **const grown = arena_append(
            loader->arena, plan->files, &plan->files_count, sizeof *grown);

        if (grown == NULL) {
            return no_memory(err);
        }
        plan->files = grown;
        grown[plan->files_count - 1] = text->files[i];
    }
    return NVBW_OK;
}

static int32_t lay_over(struct loader *loader, const struct plan_text *text,
    uint32_t is_set, struct error *err)
{
    struct plan_layer layer;

    if (text->text == NULL) {
        return NVBW_OK;
    }
    add_to_sum(loader, text->text);
    TRY(plan_parse(text, loader->arena, &layer, loader->problems, err));
    layer.is_set = is_set;
    return plan_merge(
        loader->plan, &layer, loader->arena, loader->problems, err);
}

static int32_t load_file(struct loader *loader, const char *given,
    const char *path, struct error *err)
{
    struct plan_text text;

    TRY(plan_text_read(
        given, path, loader->arena, &text, loader->problems, err));
    TRY(add_files(loader, &text, err));
    return lay_over(loader, &text, 0, err);
}

static int32_t load_folder(struct loader *loader, const char *given,
    const char *path, struct error *err)
{
    const char **paths = NULL;
    uint32_t count = 0;
    struct error why;

    if (plan_file_list(path, loader->arena, &paths, &count, &why) < 0) {
        problem_add(
            loader->problems, (struct origin){ given, 0 }, 0, "%s", why.text);
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        TRY(load_file(loader, paths[i], paths[i], err));
    }
    return NVBW_OK;
}

/* A path that is not there from the current folder may be one of ours. */
const char *plan_resolve(
    const char *given, const char *data_dir, struct arena *arena)
{
    if (given[0] == '/' || data_dir == NULL || access(given, F_OK) == 0 ||
        (errno != ENOENT && errno != ENOTDIR)) {
        return given;
    }

    const char *const path = arena_format(arena, "%s/%s", data_dir, given);

    return path != NULL && access(path, F_OK) == 0 ? path : given;
}

static const char *folder_of(struct arena *arena, const char *given)
{
    const char *const slash = strrchr(given, '/');

    return slash == NULL ? NULL
                         : arena_text_n(arena, given, (size_t)(slash - given));
}

/* The beginning of a name is nearer than any slip. */
static void offer_plan(struct nearest *nearest, const char *name)
{
    const size_t length = strlen(nearest->name);
    const char *const end = length > 4 ? nearest->name + length - 4 : "";
    const size_t stem = strcmp(end, ".cfg") == 0 ? length - 4 : length;

    if (name != NULL && stem > 0 && strncmp(name, nearest->name, stem) == 0) {
        nearest->best = name;
        nearest->distance = 0;
    }
    nearest_offer(nearest, name);
}

/* Plans of a folder within root, called as they could have been given. A plan
 * given without a folder may be one of ours, of "plans". */
static void offer_plans(struct loader *loader, struct nearest *nearest,
    const char *root, const char *folder)
{
    const char *const path = arena_format(loader->arena, "%s/%s", root, folder);
    const char **paths = NULL;
    uint32_t count = 0;
    struct error why;

    if (path == NULL ||
        plan_file_list(path, loader->arena, &paths, &count, &why) < 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *const name = strrchr(paths[i], '/') + 1;

        offer_plan(
            nearest, strcmp(folder, ".") == 0
                         ? name
                         : arena_format(loader->arena, "%s/%s", folder, name));
    }
}

/* The folders in which a plan that is not there was looked for, and what it
 * may have been meant to be. */
static void refuse_absent(struct loader *loader, const char *given)
{
    const char *const data = loader->request->data_dir;
    const char *const folder = folder_of(loader->arena, given);
    const char *const here = folder == NULL ? "." : folder;
    char hint[NEAREST_HINT_BYTES];
    struct nearest nearest;

    nearest_begin(&nearest, given);
    offer_plans(loader, &nearest, ".", here);
    offer_plans(loader, &nearest, data, here);
    if (folder == NULL && nearest.best == NULL) {
        const char *const ours = arena_format(loader->arena, "plans/%s", given);

        nearest_begin(&nearest, ours == NULL ? given : ours);
        offer_plans(loader, &nearest, data, "plans");
    }
    problem_add(loader->problems, (struct origin){ given, 0 }, 0,
        "there is no such plan, neither from here nor in %s%s", data,
        nearest_hint(&nearest, hint));
}

static int is_absent(const char *given, const char *path)
{
    return given[0] != '/' && access(path, F_OK) != 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

static int32_t load_given(
    struct loader *loader, const char *given, struct error *err)
{
    const char *const path =
        plan_resolve(given, loader->request->data_dir, loader->arena);

    if (loader->request->data_dir != NULL && is_absent(given, path)) {
        refuse_absent(loader, given);
        return NVBW_OK;
    }

    return plan_file_is_folder(path) ? load_folder(loader, given, path, err)
                                     : load_file(loader, given, path, err);
}

/* giver: the option; number: of those that it gave, 0 where it is the only
 * one. */
static int32_t load_set(struct loader *loader, const char *giver,
    uint32_t number, const char *set, struct error *err)
{
    struct plan_text text;
    struct error why;
    char *plan = NULL;

    if (plan_set_text(set, loader->arena, &plan, &why) < 0) {
        problem_add(loader->problems, (struct origin){ giver, number }, 0, "%s",
            why.text);
        return NVBW_OK;
    }
    TRY(plan_text_from(
        giver, plan, loader->arena, &text, loader->problems, err));
    for (uint32_t i = 0; i < text.lines_count; i++) {
        text.lines[i].line = number;
    }
    return lay_over(loader, &text, 1, err);
}

static int32_t load_all(struct loader *loader, struct error *err)
{
    static const char set_option[] = "--set";
    uint32_t number = 0;
    const struct plan_request *const request = loader->request;

    for (uint32_t i = 0; i < request->files_count; i++) {
        TRY(load_given(loader, request->files[i], err));
    }
    for (uint32_t i = 0; i < request->sets_count; i++) {
        const char *const giver =
            request->givers == NULL ? set_option : request->givers[i];
        const int is_set = strcmp(giver, set_option) == 0;

        number += (uint32_t)is_set;
        TRY(load_set(
            loader, giver, is_set ? number : 0, request->sets[i], err));
    }
    return NVBW_OK;
}

int32_t plan_load(const struct plan_request *request, struct arena *arena,
    struct plan *out_plan, struct problems *problems, struct error *err)
{
    struct loader loader = {
        .request = request,
        .arena = arena,
        .plan = out_plan,
        .problems = problems,
    };
    char sum[SHA256_DIGEST_STRING_LENGTH];

    *out_plan = request->base == NULL ? (struct plan){ 0 } : *request->base;
    SHA256_Init(&loader.sum);
    if (out_plan->sha256 != NULL) {
        add_to_sum(&loader, out_plan->sha256);
    }
    TRY(load_all(&loader, err));
    if (out_plan->name != NULL) {
        /* It stands at the head of what reaches a terminal. */
        char *const name = arena_text(arena, out_plan->name);

        if (name == NULL) {
            return no_memory(err);
        }
        text_clean(name, 0);
        out_plan->name = name;
    }
    out_plan->sha256 = arena_text(arena, SHA256_End(&loader.sum, sum));
    return out_plan->sha256 == NULL ? no_memory(err) : NVBW_OK;
}
