/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_json.h"
#include "regular_file.h"

struct line_reader {
    struct evidence *evidence;
    struct arena *arena;
    uint32_t number; /* of the line, from 1 */
    size_t total;    /* bytes so far */
};

int32_t journal_check_header(const json_t *line, struct error *err)
{
    const char *const type = json_string_value(json_object_get(line, "type"));
    const json_t *const data = json_object_get(line, "data");
    const json_t *const version = json_object_get(data, "version");

    FAIL_IF(type == NULL || !json_is_object(data), err, NVBW_E_INVALID,
        "not a line of a journal: type or data is missing");
    FAIL_IF(strcmp(type, name_of(line_names, LINE_RUN)) != 0, err,
        NVBW_E_INVALID, "the first line is no header of a run");
    FAIL_IF(!json_is_integer(version), err, NVBW_E_INVALID,
        "the header has no version");
    FAIL_IF(json_integer_value(version) != EVIDENCE_VERSION, err,
        NVBW_E_INVALID,
        "written in version %lld of the journal form; this build reads "
        "version %d",
        (long long)json_integer_value(version), EVIDENCE_VERSION);
    return NVBW_OK;
}

static int32_t take_object(
    struct line_reader *in, const json_t *line, struct error *err)
{
    const json_t *const type_name = json_object_get(line, "type");
    const json_t *const data = json_object_get(line, "data");
    uint32_t type = 0;

    FAIL_IF(!json_is_string(type_name) || !json_is_object(data), err,
        NVBW_E_INVALID, "not a line of a journal: type or data is missing");

    const int is_known =
        name_find(line_names, json_string_value(type_name), &type);

    if (in->number == 1 || (is_known && type == LINE_RUN)) {
        TRY(journal_check_header(line, err));
    }
    if (!is_known) {
        return NVBW_OK;
    }

    void *const object = arena_alloc(in->arena, 1, line_fields(type)->size);

    FAIL_IF(object == NULL, err, NVBW_E_SYSTEM,
        "evidence is larger than %zu bytes", in->arena->limit_bytes);
    TRY(fields_from_json(line_fields(type), data, in->arena, object, err));
    return evidence_adopt(in->evidence, in->arena, type, object, err);
}

static int32_t take_line(
    struct line_reader *in, const char *text, size_t length, struct error *err)
{
    json_error_t why;
    json_t *const line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);

    FAIL_IF(line == NULL, err, NVBW_E_INVALID, "not JSON: %s at column %d",
        why.text, why.column);

    const int32_t status = take_object(in, line, err);

    json_decref(line);
    return status;
}

/* Puts "file:line: " before the sentence. */
static int32_t fail_at(
    struct error *err, const char *file, uint32_t line, const struct error *why)
{
    return error_set(err, why->status, "%s:%u: %s", file, line, why->text);
}

static int32_t read_lines(struct line_reader *in, FILE *stream,
    const char *file, size_t limit_bytes, struct error *err)
{
    struct error why = { 0 };
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    int32_t status = NVBW_OK;

    while (status >= 0 && (length = getline(&text, &capacity, stream)) > 0) {
        in->number++;
        in->total += (size_t)length;
        if (text[length - 1] != '\n') {
            in->evidence->torn = 1;
            break;
        }
        status = in->total > limit_bytes
                     ? error_set(&why, NVBW_E_INVALID, "longer than %zu bytes",
                           limit_bytes)
                     : take_line(in, text, (size_t)length - 1, &why);
    }
    free(text);
    if (status < 0) {
        return fail_at(err, file, in->number, &why);
    }
    return ferror(stream) ? error_system(err, "reading %s", file) : NVBW_OK;
}

static int32_t check_file(
    FILE *stream, const char *file, size_t limit_bytes, struct error *err)
{
    struct stat stat;

    if (fstat(fileno(stream), &stat) != 0) {
        return error_system(err, "reading %s", file);
    }
    FAIL_IF((uint64_t)stat.st_size > limit_bytes, err, NVBW_E_INVALID,
        "%s has %lld bytes; at most %zu are read", file,
        (long long)stat.st_size, limit_bytes);
    return NVBW_OK;
}

int32_t evidence_read(const char *file, size_t limit_bytes, struct arena *arena,
    struct evidence *out, struct error *err)
{
    struct line_reader in = { .evidence = out, .arena = arena };
    FILE *stream = NULL;

    *out = (struct evidence){ 0 };
    TRY(regular_file_open(file, &stream, err));

    int32_t status = check_file(stream, file, limit_bytes, err);

    if (status >= 0) {
        status = read_lines(&in, stream, file, limit_bytes, err);
    }
    fclose(stream);
    FAIL_IF(status >= 0 && out->header.version == 0, err, NVBW_E_INVALID,
        "%s holds no header of a run", file);
    return status;
}

/* A descriptor of its own, for the stream to close. It shares the place in the
 * file, which does not matter to a journal: it is appended to. */
static int32_t open_again(
    const struct journal *journal, FILE **out, struct error *err)
{
    const int fd = fcntl(journal_fd(journal), F_DUPFD_CLOEXEC, 0);

    *out = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? NULL : fdopen(fd, "r");
    if (*out != NULL) {
        return NVBW_OK;
    }

    const int32_t status =
        error_system(err, "reading back %s", journal_file(journal));

    if (fd >= 0) {
        close(fd);
    }
    return status;
}

int32_t journal_read_back(const struct journal *journal, struct arena *arena,
    struct evidence *out, struct error *err)
{
    struct line_reader in = { .evidence = out, .arena = arena };
    const char *const file = journal_file(journal);
    FILE *stream = NULL;

    *out = (struct evidence){ 0 };
    TRY(open_again(journal, &stream, err));

    const int32_t status =
        read_lines(&in, stream, file, JOURNAL_LIMIT_BYTES, err);

    fclose(stream);
    TRY(status);
    FAIL_IF(in.total != journal_written(journal) || out->header.version == 0,
        err, NVBW_E_INVALID,
        "%s: somebody changed the journal while the run wrote it: %zu bytes "
        "are there, %llu were written",
        file, in.total, (unsigned long long)journal_written(journal));
    return NVBW_OK;
}

int32_t evidence_open(const char *path, size_t limit_bytes, struct arena *arena,
    struct evidence *out, struct error *err)
{
    struct stat stat_of;
    const int is_folder = stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode);
    const char *const file =
        is_folder ? arena_format(arena, "%s/journal.ndjson", path) : path;

    FAIL_IF(file == NULL, err, NVBW_E_SYSTEM, "no memory to read %s", path);
    return evidence_read(file, limit_bytes, arena, out, err);
}
