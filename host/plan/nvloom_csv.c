/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvloom_csv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_LEAST = 10, FIELDS_MOST = 12, NUMBER_MOST = 1000000 };

enum column {
    MEASUREMENT,
    KIND,
    SOURCE,
    DESTINATION,
    COPIES,
    SOURCE_MEMORY,
    DESTINATION_MEMORY,
    DIRECTION,
    MOVER,
    BYTES,
    COMMENT,
    RESULT
};

/* One line, its texts cut out of a copy. */
struct line {
    uint32_t number; /* in the file */
    char *fields[FIELDS_MOST];
    int64_t measurement, source, destination;
    int64_t copies;       /* 0: nvloom's default */
    uint64_t bytes;       /* 0: nvloom's default */
    const char *left_out; /* why it has no counterpart, or NULL */
};

struct converter {
    struct arena *arena;
    struct problems *problems;
    const char *name;
    struct line *lines;
    uint32_t count;
};

/* ---- Texts -------------------------------------------------------------- */

static char *trim(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = '\0';
    }
    return text + strspn(text, " \t\r\v\f");
}

static void lower(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (char)tolower((unsigned char)*text);
    }
}

/* A comment of strangers becomes one of a plan. */
static void tame(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

/* Digits up to a limit, and nothing else. */
static int take_number(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;

    if (*text == '\0') {
        return 0;
    }
    for (; *text != '\0'; text++) {
        if (!isdigit((unsigned char)*text) ||
            (value = value * 10 + (uint64_t)(*text - '0')) > most) {
            return 0;
        }
    }
    *out = value;
    return 1;
}

/* "10000k": units of 1024; the text is cut. */
static int take_size(char *text, uint64_t *out)
{
    static const char units[] = "kmg";
    const size_t length = strlen(text);
    const char *const unit =
        length == 0 ? NULL : strchr(units, text[length - 1]);
    const uint64_t most = UINT64_C(1) << 40;
    uint32_t shift = 0;

    if (unit != NULL) {
        shift = 10 * (uint32_t)(unit - units + 1);
        text[length - 1] = '\0';
    }
    if (!take_number(text, most >> shift, out) || *out == 0) {
        return 0;
    }
    *out <<= shift;
    return 1;
}

/* ---- Lines -------------------------------------------------------------- */

static void complain(const struct converter *converter, const struct line *line,
    const char *what, const char *text)
{
    problem_add(converter->problems,
        (struct origin){ converter->name, line->number }, 0, "%s: \"%.80s\"",
        what, text);
}

static int is_word(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0) {
            return 1;
        }
    }
    return 0;
}

static void read_numbers(const struct converter *converter, struct line *line)
{
    static const struct {
        enum column column;
        const char *what;
    } numbers[] = {
        { MEASUREMENT, "no number of a measurement" },
        { SOURCE, "no rank of a source" },
        { DESTINATION, "no rank of a destination" },
    };
    int64_t *const into[] = { &line->measurement, &line->source,
        &line->destination };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *const text = line->fields[numbers[i].column];
        uint64_t value = 0;

        if (!take_number(text, NUMBER_MOST, &value)) {
            complain(converter, line, numbers[i].what, text);
        }
        *into[i] = (int64_t)value;
    }
}

static void read_amounts(const struct converter *converter, struct line *line)
{
    char *const copies = line->fields[COPIES];
    char *const bytes = line->fields[BYTES];
    uint64_t count = 0;

    if (strcmp(copies, "default") != 0 &&
        (!take_number(copies, NUMBER_MOST, &count) || count == 0)) {
        complain(converter, line, "no number of iterations", copies);
    }
    line->copies = (int64_t)count;
    if (strcmp(bytes, "default") != 0 && !take_size(bytes, &line->bytes)) {
        complain(converter, line, "no size of a buffer", bytes);
    }
}

/* What plans have no word for, or what is no word of such files. */
static void read_words(const struct converter *converter, struct line *line)
{
    static const char *const memories[] = { "device", "egm", NULL };
    static const char *const directions[] = { "write", "read", NULL };
    static const char *const movers[] = { "ce", "sm", NULL };
    char *const *const fields = line->fields;

    if (strcmp(fields[SOURCE_MEMORY], "multicast") == 0 ||
        strcmp(fields[DESTINATION_MEMORY], "multicast") == 0 ||
        strncmp(fields[MOVER], "multicast", 9) == 0) {
        line->left_out = "multicast has no flow";
        return;
    }
    if (!is_word(fields[SOURCE_MEMORY], memories)) {
        complain(converter, line, "no kind of memory", fields[SOURCE_MEMORY]);
    }
    if (!is_word(fields[DESTINATION_MEMORY], memories)) {
        complain(
            converter, line, "no kind of memory", fields[DESTINATION_MEMORY]);
    }
    if (!is_word(fields[DIRECTION], directions)) {
        complain(converter, line, "neither write nor read", fields[DIRECTION]);
    }
    if (!is_word(fields[MOVER], movers)) {
        complain(converter, line, "none of ce, sm, multicast", fields[MOVER]);
    }
}

static void read_line(const struct converter *converter, struct line *line)
{
    read_numbers(converter, line);
    if (strcmp(line->fields[KIND], "latency") == 0) {
        line->left_out = "a latency has no flow; the plugin latency has it";
        return;
    }
    if (strcmp(line->fields[KIND], "bandwidth") != 0) {
        complain(converter, line, "neither bandwidth nor latency",
            line->fields[KIND]);
        return;
    }
    read_words(converter, line);
    read_amounts(converter, line);
}

/* The last column keeps what commas it has. */
static int cut_line(
    const struct converter *converter, char *text, struct line *line)
{
    static char none[] = "";
    uint32_t count = 0;
    char *rest = text;

    for (uint32_t i = 0; i < FIELDS_MOST; i++) {
        line->fields[i] = none;
    }
    while (rest != NULL && count < FIELDS_MOST) {
        char *const field = count + 1 < FIELDS_MOST ? strsep(&rest, ",") : rest;

        rest = count + 1 < FIELDS_MOST ? rest : NULL;
        line->fields[count] = trim(field);
        if (count < COMMENT) {
            lower(line->fields[count]);
        }
        count++;
    }
    tame(line->fields[COMMENT]);
    tame(line->fields[RESULT]);
    if (count < FIELDS_LEAST) {
        complain(converter, line, "fewer than ten columns",
            line->fields[MEASUREMENT]);
        return 0;
    }
    return 1;
}

/* The first line is not read, so there must be nothing in it to lose. */
static void check_names(const struct converter *converter,
    const struct line *line, const char *text)
{
    if (*text >= '0' && *text <= '9') {
        complain(converter, line,
            "a measurement where the names of columns belong", text);
    }
}

static int32_t read_lines(
    struct converter *converter, const char *text, struct error *err)
{
    char *rest = arena_text(converter->arena, text);
    uint32_t number = 0;

    FAIL_IF(rest == NULL, err, NVBW_E_SYSTEM, "no memory for the file");
    while (rest != NULL) {
        char *const whole = strsep(&rest, "\n");
        struct line line = { .number = ++number };

        if (number == 1) {
            check_names(converter, &line, trim(whole));
            continue;
        }
        if (*trim(whole) == '\0') {
            continue;
        }
        if (converter->count == NVLOOM_LINES_LIMIT) {
            complain(converter, &line, "more lines than a plan has flows", "");
            return NVBW_OK;
        }
        if (!cut_line(converter, whole, &line)) {
            continue;
        }
        read_line(converter, &line);
        converter->lines = arena_append(converter->arena, converter->lines,
            &converter->count, sizeof *converter->lines);
        FAIL_IF(converter->lines == NULL, err, NVBW_E_SYSTEM,
            "no memory for the file");
        converter->lines[converter->count - 1] = line;
    }
    return NVBW_OK;
}

/* ---- The plan ----------------------------------------------------------- */

/* The line that keeps a measurement from being carried over, or NULL. */
static const struct line *find_hindrance(
    const struct converter *converter, int64_t measurement)
{
    for (uint32_t i = 0; i < converter->count; i++) {
        if (converter->lines[i].measurement == measurement &&
            converter->lines[i].left_out != NULL) {
            return &converter->lines[i];
        }
    }
    return NULL;
}

static void add_end(
    struct strbuf *out, const char *key, const char *memory, int64_t rank)
{
    strbuf_format(out, " %s = \"%s%lld\";", key,
        strcmp(memory, "egm") == 0 ? "host:gpu:" : "gpu:", (long long)rank);
}

static void add_flow(
    const struct line *line, const char *separator, struct strbuf *out)
{
    const int reads = strcmp(line->fields[DIRECTION], "read") == 0;

    strbuf_format(out, "%s\n", separator);
    if (*line->fields[COMMENT] != '\0') {
        strbuf_format(out, "      # %s\n", line->fields[COMMENT]);
    }
    if (*line->fields[RESULT] != '\0') {
        strbuf_format(
            out, "      # nvloom's result: %s GB/s\n", line->fields[RESULT]);
    }
    strbuf_format(out, "      { name = \"line %u\"; group = \"%lld\";",
        line->number, (long long)line->measurement);
    add_end(out, "from", line->fields[SOURCE_MEMORY], line->source);
    add_end(out, "to", line->fields[DESTINATION_MEMORY], line->destination);
    strbuf_format(out, "\n        on = \"gpu:%lld\"; by = \"%s\";",
        (long long)(reads ? line->destination : line->source),
        line->fields[MOVER]);
    if (line->bytes != 0) {
        strbuf_format(
            out, " size = \"%llu B\";", (unsigned long long)line->bytes);
    }
    if (line->copies != 0) {
        strbuf_format(out, " repeats = %lld;", (long long)line->copies);
    }
    strbuf_add(out, " }");
}

static const char head[] =
    "# Made from a CSV file of nvloom by nvbw-host from-nvloom. Each of its\n"
    "# measurements is a group, its ranks are GPUs of this machine; sizes and\n"
    "# copies that were \"default\" there are left to this host.\n"
    "name = \"from_nvloom\";\n\n"
    "suites = (\n  { plugin = \"pattern\"; params = { flows = (";

int32_t nvloom_csv_plan(const char *name, const char *text, struct strbuf *out,
    struct problems *problems, struct error *err)
{
    struct converter converter = { problems->arena, problems, name, NULL, 0 };
    uint32_t flows = 0;

    TRY(read_lines(&converter, text, err));
    strbuf_add(out, head);
    for (uint32_t i = 0; i < converter.count; i++) {
        const struct line *const line = &converter.lines[i];
        const struct line *const hindrance =
            find_hindrance(&converter, line->measurement);

        if (hindrance == NULL) {
            add_flow(line, flows++ == 0 ? "" : ",", out);
        } else if (hindrance == line) {
            problem_add(problems, (struct origin){ name, line->number }, 1,
                "measurement %lld is left out: %s",
                (long long)line->measurement, line->left_out);
        }
    }
    strbuf_add(out, "\n    ); }; }\n);\n");
    FAIL_IF(out->failed, err, NVBW_E_SYSTEM, "no memory for the plan");
    if (flows == 0 && problems->errors == 0) {
        problem_add(problems, (struct origin){ name, 0 }, 0,
            "it has nothing that a plan can say");
    }
    return NVBW_OK;
}
