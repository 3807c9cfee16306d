/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* From files to layers: the steps of plan_load. A layer is one plan file with
 * its includes, or one --set; plan_merge lays one over the other. */
#ifndef NVBW_PLAN_LAYER_H
#define NVBW_PLAN_LAYER_H

#include <sys/types.h>

#include "plan.h"

enum {
    PLAN_FILE_LIMIT = 1 << 20, /* bytes of one file */
    PLAN_TEXT_LIMIT = 4 << 20, /* bytes of a plan with its includes */
    PLAN_FILES_LIMIT = 256,    /* files in a plan or in a folder of plans */
    PLAN_INCLUDE_DEPTH = 10,
    PLAN_NESTING_DEPTH = 32
};

/* ---- One file (plan_file.c) ---- */
struct plan_file {
    char *text; /* NUL-terminated */
    size_t length;
    dev_t device; /* who it is, whatever its name */
    ino_t inode;
};
/* Reads a regular file of at most PLAN_FILE_LIMIT bytes without NUL. Never
 * blocks: what is not a regular file is refused unread. err->code is ENOENT
 * where there is none. */
int32_t plan_file_read(const char *path, struct arena *arena,
    struct plan_file *out, struct error *err);
/* 1 if path is a folder. */
int plan_file_is_folder(const char *path);
/* Paths of a folder's *.cfg in name order. */
int32_t plan_file_list(const char *folder, struct arena *arena,
    const char ***out_paths, uint32_t *out_count, struct error *err);

/* Where a path given by a person is looked for: from the current folder, then
 * in data_dir, which may be NULL. (plan_load.c) */
const char *plan_resolve(
    const char *given, const char *data_dir, struct arena *arena);

/* ---- Text with its includes (plan_text.c) ---- */
/* What libconfig gets: comments blanked, includes in place, and for each line
 * where it came from. */
struct plan_text {
    char *text;
    struct origin *lines; /* of line 1, 2, ... of text */
    uint32_t lines_count;
    const char **files; /* paths that were read, in order */
    uint32_t files_count;
};
/* given is the name for messages, path what is opened. What is wrong with the
 * text goes to problems and leaves out->text NULL; negative without memory. */
int32_t plan_text_read(const char *given, const char *path, struct arena *arena,
    struct plan_text *out, struct problems *problems, struct error *err);
/* The same for a text that is there already; it may not include. */
int32_t plan_text_from(const char *given, const char *text, struct arena *arena,
    struct plan_text *out, struct problems *problems, struct error *err);
struct origin plan_text_origin(const struct plan_text *text, uint32_t line);

/* ---- A layer (plan_parse.c) ---- */
struct suite_layer {
    struct plan_suite suite;
    uint32_t has_enabled, has_tests, has_tags;
};
struct plan_layer {
    struct plan plan; /* without suites; what is not given is absent */
    uint32_t has_reports;
    struct suite_layer *suites;
    uint32_t suites_count;
    uint32_t is_set; /* 1: suites are addressed by name and must exist */
};
int32_t plan_parse(const struct plan_text *text, struct arena *arena,
    struct plan_layer *out, struct problems *problems, struct error *err);

/* ---- --set (plan_set.c) ---- */
/* Turns "suites.ce_h2d.params.copies=4" into the text of a plan. */
int32_t plan_set_text(
    const char *set, struct arena *arena, char **out_text, struct error *err);

/* ---- Laying over (plan_merge.c) ---- */
int32_t plan_merge(struct plan *plan, const struct plan_layer *layer,
    struct arena *arena, struct problems *problems, struct error *err);

#endif
