/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_layer.h"

#include <ctype.h>
#include <libconfig.h>
#include <string.h>

enum { STEPS_LIMIT = 4, TEXT_LIMIT = 64 * 1024 };

/* A path "suites.ce_h2d.params.copies", taken apart. */
struct path {
    char *steps[STEPS_LIMIT];
    uint32_t count;
};

static int is_name(const char *name)
{
    if (!isalpha((unsigned char)*name)) {
        return 0;
    }
    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-') {
            return 0;
        }
    }
    return 1;
}

static int32_t take_path(char *text, struct path *out, struct error *err)
{
    *out = (struct path){ 0 };
    for (char *step = text; step != NULL;) {
        char *const dot = strchr(step, '.');

        if (dot != NULL) {
            *dot = '\0';
        }
        FAIL_IF(!is_name(step), err, NVBW_E_INVALID,
            "\"%.80s\" is not a name, write path=value like "
            "suites.ce_h2d.enabled=false",
            step);
        FAIL_IF(out->count == STEPS_LIMIT, err, NVBW_E_INVALID,
            "the path has more than %d names", STEPS_LIMIT);
        out->steps[out->count++] = step;
        step = dot == NULL ? NULL : dot + 1;
    }
    FAIL_IF(strcmp(out->steps[0], "suites") == 0 && out->count < 3, err,
        NVBW_E_INVALID,
        "name a suite and a key of it, like suites.ce_h2d.enabled=false");
    return NVBW_OK;
}

/* 1 if the text is one value of libconfig and no more. */
static int is_value(const char *text, struct arena *arena)
{
    struct problems problems = { .arena = arena };
    struct plan_text plain;
    const char *const setting = arena_format(arena, "v = %s;", text);

    if (setting == NULL ||
        plan_text_from("--set", setting, arena, &plain, &problems, NULL) < 0 ||
        plain.text == NULL || strcmp(plain.text, setting) != 0) {
        return 0; /* broken, or a comment that would hide what follows */
    }

    config_t config;

    config_init(&config);

    const int whole = config_read_string(&config, plain.text) == CONFIG_TRUE &&
                      config_setting_length(config_root_setting(&config)) == 1;

    config_destroy(&config);
    return whole;
}

static void add_quoted(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            strbuf_add(buf, "\\");
        }
        strbuf_add_n(buf, text, 1);
    }
    strbuf_add(buf, "\"");
}

static void add_setting(struct strbuf *buf, const struct path *path,
    uint32_t first, const char *value, int quoted)
{
    for (uint32_t i = first; i + 1 < path->count; i++) {
        strbuf_format(buf, "%s = { ", path->steps[i]);
    }
    strbuf_format(buf, "%s = ", path->steps[path->count - 1]);
    if (quoted) {
        add_quoted(buf, value);
    } else {
        strbuf_add(buf, value);
    }
    strbuf_add(buf, ";");
    for (uint32_t i = first; i + 1 < path->count; i++) {
        strbuf_add(buf, " };");
    }
}

static int32_t write_plan(const struct path *path, const char *value,
    struct arena *arena, char **out_text, struct error *err)
{
    const int quoted = !is_value(value, arena);
    struct strbuf buf;

    strbuf_init(&buf, TEXT_LIMIT);
    if (strcmp(path->steps[0], "suites") == 0) {
        strbuf_format(&buf, "suites = ( { plugin = \"%s\"; ", path->steps[1]);
        add_setting(&buf, path, 2, value, quoted);
        strbuf_add(&buf, " } );");
    } else {
        add_setting(&buf, path, 0, value, quoted);
    }
    *out_text = buf.failed ? NULL : arena_text(arena, buf.text);
    strbuf_free(&buf);
    FAIL_IF(*out_text == NULL, err, NVBW_E_INVALID, "the value is too long");
    return NVBW_OK;
}

int32_t plan_set_text(
    const char *set, struct arena *arena, char **out_text, struct error *err)
{
    const char *const equals = strchr(set, '=');
    struct path path;

    FAIL_IF(equals == NULL, err, NVBW_E_INVALID,
        "\"%.80s\" has no \"=\", write path=value like "
        "suites.ce_h2d.enabled=false",
        set);
    for (const char *at = set; *at != '\0'; at++) {
        FAIL_IF(iscntrl((unsigned char)*at), err, NVBW_E_INVALID,
            "the text has a control character");
    }

    char *const names = arena_text_n(arena, set, (size_t)(equals - set));

    FAIL_IF(names == NULL, err, NVBW_E_SYSTEM, "no memory for it");
    TRY(take_path(names, &path, err));
    return write_plan(&path, equals + 1, arena, out_text, err);
}
