/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <stdio.h>
#include <string.h>

/* A file that is being read, and the one that includes it. */
struct level {
    const struct level *above;
    const char *given; /* name for messages */
    dev_t device;
    ino_t inode;
    uint32_t depth;
};

/* What all levels fill together. */
struct builder {
    struct arena *arena;
    struct problems *problems;
    const char *folder; /* of the plan: includes are relative to it; NULL: no
                           includes */
    struct strbuf out;
    struct plan_text *text;
    uint32_t nesting;
    int without_memory;
};

/* One level's place in its text. */
struct lexer {
    struct builder *builder;
    const struct level *level;
    const char *at;
    uint32_t line;
    int fresh; /* nothing but blanks since the line began */
};

static struct origin here(const struct lexer *lexer)
{
    return (struct origin){ lexer->level->given, lexer->line };
}

/* ---- Lines -------------------------------------------------------------- */

static void begin_line(
    struct builder *builder, const char *given, uint32_t line)
{
    struct origin *const lines = arena_append(builder->arena,
        builder->text->lines, &builder->text->lines_count, sizeof *lines);

    if (lines == NULL) {
        builder->without_memory = 1;
        return;
    }
    lines[builder->text->lines_count - 1] = (struct origin){ given, line };
    builder->text->lines = lines;
}

static void put(struct lexer *lexer, char c)
{
    strbuf_add_n(&lexer->builder->out, &c, 1);
}

static void put_newline(struct lexer *lexer)
{
    put(lexer, '\n');
    lexer->line++;
    lexer->fresh = 1;
    begin_line(lexer->builder, lexer->level->given, lexer->line);
}

/* ---- Comments and texts ------------------------------------------------- */

static void skip_line_comment(struct lexer *lexer)
{
    lexer->at += strcspn(lexer->at, "\n");
}

static int skip_block_comment(struct lexer *lexer)
{
    const struct origin begin = here(lexer);

    for (lexer->at += 2; *lexer->at != '\0'; lexer->at++) {
        if (lexer->at[0] == '*' && lexer->at[1] == '/') {
            lexer->at += 2;
            put(lexer, ' ');
            return 1;
        }
        if (*lexer->at == '\n') {
            put_newline(lexer);
        }
    }
    problem_add(
        lexer->builder->problems, begin, 0, "this comment is never closed");
    return 0;
}

static int copy_text(struct lexer *lexer)
{
    const char *end = lexer->at + 1;

    while (*end != '"' && *end != '\n' && *end != '\0') {
        end += end[0] == '\\' && end[1] != '\n' && end[1] != '\0' ? 2 : 1;
    }
    if (*end != '"') {
        problem_add(lexer->builder->problems, here(lexer), 0,
            "this text is not closed on its line");
        return 0;
    }
    strbuf_add_n(
        &lexer->builder->out, lexer->at, (size_t)(end + 1 - lexer->at));
    lexer->at = end + 1;
    lexer->fresh = 0;
    return 1;
}

/* Hostile nesting would cost libconfig its stack. */
static int nest(struct lexer *lexer, char c)
{
    struct builder *const builder = lexer->builder;

    if (strchr("{([", c) != NULL) {
        builder->nesting++;
    } else if (strchr("})]", c) != NULL && builder->nesting > 0) {
        builder->nesting--;
    }
    if (builder->nesting > PLAN_NESTING_DEPTH) {
        problem_add(builder->problems, here(lexer), 0,
            "groups and lists are nested more than %d deep",
            PLAN_NESTING_DEPTH);
        return 0;
    }
    return 1;
}

/* ---- Includes ----------------------------------------------------------- */

static int copy_level(
    struct builder *builder, const struct level *level, const char *text);

/* Takes the file's name out of '@include "name"'; NULL if it is none. */
static char *take_include(struct lexer *lexer)
{
    static const char word[] = "@include";
    const char *at = lexer->at;

    if (!lexer->fresh || strncmp(at, word, sizeof word - 1) != 0) {
        return NULL;
    }
    at += sizeof word - 1;
    at += strspn(at, " \t");
    if (*at != '"') {
        return NULL;
    }

    const size_t length = strcspn(at + 1, "\"\n");

    if (length == 0 || at[1 + length] != '"') {
        return NULL;
    }
    lexer->at = at + length + 2;
    return arena_text_n(lexer->builder->arena, at + 1, length);
}

/* "a.cfg includes b.cfg includes a.cfg" */
static int refuse_loop(
    struct lexer *lexer, const char *path, const struct plan_file *file)
{
    const struct level *level = lexer->level;
    char chain[512] = "";

    for (; level != NULL; level = level->above) {
        char rest[512];

        snprintf(rest, sizeof rest, "%s%s", level->given, chain);
        snprintf(chain, sizeof chain, " includes %.490s", rest);
        if (level->device == file->device && level->inode == file->inode) {
            problem_add(lexer->builder->problems, here(lexer), 0,
                "the include of \"%s\" goes round in a circle: %s includes %s",
                path, chain + strlen(" includes "), path);
            return 1;
        }
    }
    return 0;
}

static const char *include_path(struct lexer *lexer, const char *name)
{
    const struct builder *const builder = lexer->builder;

    if (name[0] == '/' || builder->folder[0] == '\0') {
        return name;
    }
    return arena_format(builder->arena, "%s/%s", builder->folder, name);
}

static int add_file(const struct lexer *lexer, const char *path)
{
    struct builder *const builder = lexer->builder;
    struct plan_text *const text = builder->text;

    if (text->files_count == PLAN_FILES_LIMIT) {
        problem_add(builder->problems, here(lexer), 0,
            "the plan includes more than %d files", PLAN_FILES_LIMIT);
        return 0;
    }

    const char **const files = arena_append(
        builder->arena, text->files, &text->files_count, sizeof *files);

    if (files == NULL) {
        builder->without_memory = 1;
        return 0;
    }
    files[text->files_count - 1] = path;
    text->files = files;
    return 1;
}

static int copy_include(struct lexer *lexer, const char *name)
{
    struct builder *const builder = lexer->builder;
    const char *const path = include_path(lexer, name);
    struct plan_file file;
    struct error err;

    if (path == NULL) {
        builder->without_memory = 1;
        return 0;
    }
    if (lexer->level->depth == PLAN_INCLUDE_DEPTH) {
        problem_add(builder->problems, here(lexer), 0,
            "includes are nested more than %d deep", PLAN_INCLUDE_DEPTH);
        return 0;
    }
    if (plan_file_read(path, builder->arena, &file, &err) < 0) {
        problem_add(builder->problems, here(lexer), 0,
            "the included file \"%s\" %s", path, err.text);
        return 0;
    }
    if (refuse_loop(lexer, path, &file) || !add_file(lexer, path)) {
        return 0;
    }

    const struct level level = { lexer->level, path, file.device, file.inode,
        lexer->level->depth + 1 };

    put(lexer, '\n');
    if (!copy_level(builder, &level, file.text)) {
        return 0;
    }
    put(lexer, '\n');
    begin_line(builder, lexer->level->given, lexer->line);
    lexer->fresh = 0;
    return 1;
}

static int handle_include(struct lexer *lexer)
{
    const char *const name =
        lexer->builder->folder == NULL ? NULL : take_include(lexer);

    if (name == NULL) {
        problem_add(lexer->builder->problems, here(lexer), 0,
            "\"@\" may only begin a line of the form @include \"file.cfg\"");
        return 0;
    }
    return copy_include(lexer, name);
}

/* ---- One level ---------------------------------------------------------- */

static int copy_plain(struct lexer *lexer)
{
    const char c = *lexer->at;

    if (!nest(lexer, c)) {
        return 0;
    }
    lexer->at++;
    if (c == '\n') {
        put_newline(lexer);
        return 1;
    }
    put(lexer, (char)(c == '\r' ? ' ' : c));
    lexer->fresh = lexer->fresh && (c == ' ' || c == '\t' || c == '\r');
    return 1;
}

/* Copies one character, comment, text or include. */
static int copy_next(struct lexer *lexer)
{
    const char *const at = lexer->at;

    if (*at == '#' || (at[0] == '/' && at[1] == '/')) {
        skip_line_comment(lexer);
        return 1;
    }
    if (at[0] == '/' && at[1] == '*') {
        return skip_block_comment(lexer);
    }
    if (*at == '"') {
        return copy_text(lexer);
    }
    return *at == '@' ? handle_include(lexer) : copy_plain(lexer);
}

static int copy_level(
    struct builder *builder, const struct level *level, const char *text)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    struct lexer lexer = { builder, level, text, 1, 1 };

    if (strncmp(text, byte_order_mark, sizeof byte_order_mark - 1) == 0) {
        lexer.at += sizeof byte_order_mark - 1;
    }
    begin_line(builder, level->given, 1);
    while (*lexer.at != '\0') {
        if (!copy_next(&lexer) || builder->without_memory) {
            return 0;
        }
        if (builder->out.failed) {
            problem_add(builder->problems, here(&lexer), 0,
                "the plan and its includes have more than %d bytes",
                PLAN_TEXT_LIMIT);
            return 0;
        }
    }
    return 1;
}

static int32_t build(struct builder *builder, const struct level *level,
    const char *text, struct error *err)
{
    strbuf_init(&builder->out, PLAN_TEXT_LIMIT);
    if (copy_level(builder, level, text)) {
        builder->text->text = arena_text_n(
            builder->arena, builder->out.text, builder->out.length);
        builder->without_memory |= builder->text->text == NULL;
    }
    strbuf_free(&builder->out);
    FAIL_IF(builder->without_memory, err, NVBW_E_SYSTEM,
        "no memory for the plan %s", level->given);
    return NVBW_OK;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *const slash = strrchr(path, '/');

    if (slash == NULL) {
        return "";
    }
    return slash == path ? "/."
                         : arena_text_n(arena, path, (size_t)(slash - path));
}

int32_t plan_text_read(const char *given, const char *path, struct arena *arena,
    struct plan_text *out, struct problems *problems, struct error *err)
{
    struct builder builder = {
        .arena = arena,
        .problems = problems,
        .folder = folder_of(arena, path),
        .text = out,
    };
    struct plan_file file;
    struct error why;

    *out = (struct plan_text){ 0 };
    FAIL_IF(builder.folder == NULL, err, NVBW_E_SYSTEM,
        "no memory for the plan %s", given);
    if (plan_file_read(path, arena, &file, &why) < 0) {
        problem_add(problems, (struct origin){ given, 0 }, 0, "%s", why.text);
        return NVBW_OK;
    }

    const struct level level = { NULL, given, file.device, file.inode, 0 };
    const struct lexer lexer = { &builder, &level, file.text, 1, 1 };

    if (!add_file(&lexer, path)) {
        return error_set(
            err, NVBW_E_SYSTEM, "no memory for the plan %s", given);
    }
    return build(&builder, &level, file.text, err);
}

int32_t plan_text_from(const char *given, const char *text, struct arena *arena,
    struct plan_text *out, struct problems *problems, struct error *err)
{
    struct builder builder = {
        .arena = arena,
        .problems = problems,
        .text = out,
    };
    const struct level level = { .given = given };

    *out = (struct plan_text){ 0 };
    return build(&builder, &level, text, err);
}

struct origin plan_text_origin(const struct plan_text *text, uint32_t line)
{
    if (text->lines_count == 0) {
        return (struct origin){ NULL, 0 };
    }
    if (line == 0) {
        return text->lines[0];
    }
    return text
        ->lines[line <= text->lines_count ? line - 1 : text->lines_count - 1];
}
