/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LIMIT = 255, BRACKETS_LIMIT = 4 };
static const long FILE_LIMIT_BYTES = 64L << 20;

struct expander {
    struct arena *arena;
    struct text_list *out;
    struct error *err;
};

static int32_t add_name(const struct expander *expander, const char *name)
{
    struct text_list *const out = expander->out;

    FAIL_IF(out->count >= HOST_NAMES_LIMIT, expander->err, NVBW_E_INVALID,
        "more than %d hosts", HOST_NAMES_LIMIT);
    for (const char *at = name; *at != '\0'; at++) {
        FAIL_IF(!isgraph((unsigned char)*at) || *at == ']', expander->err,
            NVBW_E_INVALID, "\"%.200s\" is no name of a host", name);
    }

    const char **const texts =
        arena_append(expander->arena, out->texts, &out->count, sizeof *texts);
    char *const copy = arena_text(expander->arena, name);

    FAIL_IF(texts == NULL || copy == NULL, expander->err, NVBW_E_SYSTEM,
        "out of memory");
    out->texts = texts;
    texts[out->count - 1] = copy;
    return NVBW_OK;
}

static int32_t expand(
    const struct expander *expander, const char *name, int brackets);

/* One number or range of a bracket, "001-064". */
static int32_t expand_range(const struct expander *expander, const char *name,
    const char *before_end, const char *range, size_t length, const char *rest,
    int brackets)
{
    char text[32];
    char *end = NULL;

    FAIL_IF(length == 0 || length >= sizeof text ||
                !isdigit((unsigned char)range[0]),
        expander->err, NVBW_E_INVALID,
        "\"%.200s\": a range is 1-8 or 3, in brackets", name);
    memcpy(text, range, length);
    text[length] = '\0';

    const unsigned long first = strtoul(text, &end, 10);
    const int width = (int)(end - text);
    const char *const second = end;
    const unsigned long last = *end == '-' && isdigit((unsigned char)second[1])
                                   ? strtoul(second + 1, &end, 10)
                                   : first;

    FAIL_IF(*end != '\0' || last < first || last > UINT32_MAX ||
                last - first >= HOST_NAMES_LIMIT,
        expander->err, NVBW_E_INVALID,
        "\"%.200s\": \"%s\" is no range of numbers", name, text);
    for (unsigned long number = first; number <= last; number++) {
        char one[NAME_LIMIT + 1];
        const int written = snprintf(one, sizeof one, "%.*s%0*lu%s",
            (int)(before_end - name), name, width, number, rest);

        FAIL_IF(written < 0 || written > NAME_LIMIT, expander->err,
            NVBW_E_INVALID, "a name of a host is longer than %d bytes",
            NAME_LIMIT);
        TRY(expand(expander, one, brackets + 1));
    }
    return NVBW_OK;
}

/* The first bracket; what follows it is expanded for each of its numbers. */
static int32_t expand(
    const struct expander *expander, const char *name, int brackets)
{
    const char *const open = strchr(name, '[');
    const char *const close = open == NULL ? NULL : strchr(open, ']');

    if (open == NULL) {
        return add_name(expander, name);
    }
    FAIL_IF(close == NULL, expander->err, NVBW_E_INVALID,
        "\"%.200s\": a bracket is not closed", name);
    FAIL_IF(brackets >= BRACKETS_LIMIT, expander->err, NVBW_E_INVALID,
        "\"%.200s\": more than %d brackets", name, BRACKETS_LIMIT);
    for (const char *at = open + 1; at <= close;) {
        const size_t length = strcspn(at, ",]");

        TRY(expand_range(
            expander, name, open, at, length, close + 1, brackets));
        at += length + 1;
    }
    return NVBW_OK;
}

/* Parts between commas and blanks that are outside of brackets. */
static int32_t split(
    const struct expander *expander, const char *text, size_t length)
{
    char name[NAME_LIMIT + 1];
    size_t used = 0;
    int depth = 0;

    for (size_t i = 0; i <= length; i++) {
        char c = ',';

        if (i < length) {
            c = text[i];
        }

        depth += (c == '[') - (c == ']');
        if ((c == ',' && depth <= 0) || isspace((unsigned char)c)) {
            name[used] = '\0';
            if (used > 0) {
                TRY(expand(expander, name, 0));
            }
            used = 0;
            continue;
        }
        FAIL_IF(i == length, expander->err, NVBW_E_INVALID,
            "\"%.*s\": a bracket is not closed", (int)used, name);
        FAIL_IF(used == NAME_LIMIT, expander->err, NVBW_E_INVALID,
            "a name of a host is longer than %d bytes", NAME_LIMIT);
        name[used++] = c;
    }
    return NVBW_OK;
}

static int32_t read_stream(
    const struct expander *expander, FILE *stream, const char *file)
{
    char line[65536];
    struct error why = { 0 };
    struct expander inner = *expander;
    uint32_t number = 0;

    inner.err = &why;
    while (fgets(line, sizeof line, stream) != NULL) {
        number++;
        FAIL_IF(ftell(stream) > FILE_LIMIT_BYTES, expander->err, NVBW_E_INVALID,
            "%s is longer than %ld bytes", file, FILE_LIMIT_BYTES);
        FAIL_IF(split(&inner, line, strcspn(line, "#\n")) < 0, expander->err,
            why.status, "%s:%u: %.900s", file, number, why.text);
    }
    return ferror(stream) ? error_system(expander->err, "reading %s", file)
                          : NVBW_OK;
}

static int32_t read_file(const struct expander *expander, const char *file)
{
    FILE *const stream = fopen(file, "re");

    if (stream == NULL) {
        return error_system(expander->err, "opening %s", file);
    }

    const int32_t status = read_stream(expander, stream, file);

    fclose(stream);
    return status;
}

int32_t host_names_parse(const char *text, struct arena *arena,
    struct text_list *out, struct error *err)
{
    const struct expander expander = { .arena = arena, .out = out, .err = err };
    const uint32_t before = out->count;

    TRY(text[0] == '@' ? read_file(&expander, text + 1)
                       : split(&expander, text, strlen(text)));
    FAIL_IF(out->count == before, err, NVBW_E_INVALID,
        "\"%.200s\" names no host", text);
    return NVBW_OK;
}
