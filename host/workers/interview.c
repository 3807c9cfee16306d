/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "conduct.h"
#include "host_facts.h"
#include "interview.h"
#include "schema_check.h"
#include "state.h"

enum {
    DESCRIBE_AT_ONCE = 4,
    RECORDING_LIMIT = 1 << 16, /* labels or records of one unit */
    INTERVIEW_ARENA_BYTES = 64 << 20
};

/* ---- describe ---- */

struct describing {
    const struct candidate *candidate;
    struct arena *arena;
    struct plugin_schema *schema;
    struct task_frame task;
    uint32_t described;
};

static int32_t take_schema(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    struct describing *const about = question->user;

    FAIL_IF(type != FRAME_PLUGIN, err, NVBW_E_INVALID,
        "a frame of type %u came from a describe worker", type);
    FAIL_IF(about->described, err, NVBW_E_INVALID, "PLUGIN came twice");
    about->described = 1;
    return fields_copy(
        &plugin_schema_fields, object, about->arena, about->schema, err);
}

static const char *file_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* The file, its place and its trust are what the host knows of a plugin; what
 * a plugin says of them does not count. */
static void set_origin(
    struct plugin_schema *schema, const struct candidate *candidate)
{
    schema->file = candidate->file;
    schema->sha256 = candidate->sha256;
    schema->installed = candidate->installed;
    schema->trusted = candidate->trusted;
}

static void refuse(struct plugin_schema *schema,
    const struct candidate *candidate, uint32_t state, const char *reason,
    const char *message)
{
    *schema = (struct plugin_schema){ .name = candidate->stem,
        .state = state,
        .reason = reason,
        .message = message };
    set_origin(schema, candidate);
}

/* A plugin that breaks a rule as a whole is known by its file's name, like one
 * that could not be described. */
static int32_t check_rules(const struct describing *about, struct error *err)
{
    struct plugin_schema *const schema = about->schema;

    TRY(schema_check(schema, standard_params, about->arena, err));
    if (schema->state != STATE_NONE) {
        refuse(schema, about->candidate, schema->state, schema->reason,
            schema->message);
    }
    return NVBW_OK;
}

static int32_t conclude_schema(
    const struct question *question, struct error *err)
{
    const struct describing *const about = question->user;
    const struct cause *cause = &question->cause;
    static const struct cause silent = { .state = STATE_ERROR,
        .reason = "protocol",
        .text = "describe worker ended well but described nothing" };

    if (cause->state == STATE_NONE &&
        (!about->described || about->schema->name == NULL)) {
        cause = &silent;
    }
    if (cause->state == STATE_NONE) {
        about->schema->state = STATE_NONE;
        about->schema->reason = NULL;
        about->schema->message = NULL;
        set_origin(about->schema, about->candidate);
        return check_rules(about, err);
    }

    /* A worker that had the plugin in hand names it itself. */
    const char *const message =
        strncmp(cause->text, "plugin ", 7) == 0
            ? arena_text(about->arena, cause->text)
            : arena_format(about->arena, "plugin %s: %s",
                  file_name(about->candidate->file), cause->text);

    FAIL_IF(message == NULL, err, NVBW_E_SYSTEM, "no memory for a schema");
    refuse(
        about->schema, about->candidate, cause->state, cause->reason, message);
    return NVBW_OK;
}

/* Two that the user cannot mean both: of one folder, or both pinned. */
static void report_double(const struct candidate *kept,
    const struct candidate *other, const char *name, struct problems *problems)
{
    const struct origin nowhere = { NULL, 0 };

    if (strcmp(kept->file, other->file) == 0 ||
        (kept->pinned && !other->pinned)) {
        return;
    }
    if (kept->pinned) {
        problem_add(problems, nowhere, 0,
            "plugin %s is pinned to two files, %s and %s; a run has one plugin "
            "of a name",
            name, kept->file, other->file);
    } else if (kept->source == other->source) {
        problem_add(problems, nowhere, 0,
            "plugin %s is twice in one folder: %s and %s; remove one of them, "
            "or name one with file = in its suite (rule C22)",
            name, kept->file, other->file);
    } else {
        problem_add(problems, nowhere, 1,
            "plugin %s is in two folders: %s is used, %s is not; name one "
            "with file = in its suite (rule C22)",
            name, kept->file, other->file);
    }
}

/* Of two of one name the first stays: candidates are in order of precedence,
 * and the list has their order when it is given. */
static uint32_t drop_doubles(struct plugin_schema *list,
    const struct candidates *candidates, uint32_t *from,
    struct problems *problems)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < candidates->count; i++) {
        uint32_t same = 0;

        while (same < kept && strcmp(list[same].name, list[i].name) != 0) {
            same++;
        }
        if (same < kept) {
            report_double(&candidates->list[from[same]], &candidates->list[i],
                list[i].name, problems);
            continue;
        }
        from[kept] = i;
        list[kept++] = list[i];
    }
    return kept;
}

/* Asks about the candidates that may be loaded; the others keep the state that
 * their examination gave them. */
static uint32_t prepare_questions(const struct worker_setup *setup,
    const struct candidates *candidates, struct arena *arena,
    struct plugin_schema *schemas, struct describing *about,
    struct question *questions)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct candidate *const candidate = &candidates->list[i];

        if (candidate->state != STATE_NONE) {
            refuse(&schemas[i], candidate, candidate->state, candidate->reason,
                candidate->message);
            continue;
        }
        about[count] = (struct describing){ .candidate = candidate,
            .arena = arena,
            .schema = &schemas[i],
            .task = { .role = TASK_DESCRIBE,
                .plugin_file = candidate->file,
                .driver_file = setup->driver_file,
                .budget_ns = UINT64_MAX } };
        questions[count] = (struct question){ .task = &about[count].task,
            .role = "describe",
            .on_frame = take_schema,
            .user = &about[count] };
        count++;
    }
    return count;
}

static int32_t describe_all(const struct worker_setup *setup,
    const struct candidates *candidates, struct arena *arena,
    struct arena *work, struct plugin_schema *schemas, struct error *err)
{
    struct describing *const about =
        arena_alloc(work, candidates->count, sizeof *about);
    struct question *const questions =
        arena_alloc(work, candidates->count, sizeof *questions);
    struct crew crew;

    FAIL_IF(about == NULL || questions == NULL, err, NVBW_E_SYSTEM,
        "no memory to describe %u plugins", candidates->count);

    const uint32_t count =
        prepare_questions(setup, candidates, arena, schemas, about, questions);

    crew_open(&crew, -1);

    int32_t status =
        ask_all(setup, &crew, questions, count, DESCRIBE_AT_ONCE, err);

    crew_close(&crew);
    for (uint32_t i = 0; i < count && status == NVBW_OK; i++) {
        status = conclude_schema(&questions[i], err);
    }
    return status;
}

int32_t workers_describe(const struct worker_setup *setup,
    const struct candidates *candidates, struct arena *arena,
    struct plugin_schema **out_plugins, uint32_t *out_count,
    struct problems *problems, struct error *err)
{
    struct arena work;
    struct plugin_schema *const schemas =
        arena_alloc(arena, candidates->count, sizeof *schemas);
    uint32_t *const from = arena_alloc(arena, candidates->count, sizeof *from);

    FAIL_IF(schemas == NULL || from == NULL, err, NVBW_E_SYSTEM,
        "no memory for %u plugins", candidates->count);
    arena_init(&work, INTERVIEW_ARENA_BYTES);

    const int32_t status =
        describe_all(setup, candidates, arena, &work, schemas, err);

    arena_clear(&work);
    TRY(status);
    *out_plugins = schemas;
    *out_count = drop_doubles(schemas, candidates, from, problems);
    return NVBW_OK;
}

/* ---- facts ---- */

struct fact_finding {
    struct arena *arena;
    struct facts *facts;
    uint32_t found;
};

static int32_t take_facts(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    struct fact_finding *const finding = question->user;

    FAIL_IF(type != FRAME_FACTS, err, NVBW_E_INVALID,
        "a frame of type %u came from a facts worker", type);
    TRY(fields_copy(
        &facts_fields, object, finding->arena, finding->facts, err));
    finding->found = 1;
    return NVBW_OK;
}

int32_t workers_facts(const struct worker_setup *setup, struct arena *arena,
    struct facts *out, struct error *err)
{
    struct fact_finding finding = { .arena = arena, .facts = out };
    const struct task_frame task = { .role = TASK_FACTS,
        .driver_file = setup->driver_file,
        .budget_ns = UINT64_MAX };
    struct question question = {
        .task = &task, .role = "facts", .on_frame = take_facts, .user = &finding
    };
    struct crew crew;

    crew_open(&crew, -1);

    const int32_t status = ask_all(setup, &crew, &question, 1, 1, err);

    crew_close(&crew);
    TRY(status);
    if (finding.found && question.cause.state == STATE_NONE) {
        return NVBW_OK;
    }
    TRY(host_facts_read(arena, out, err));
    out->driver_trouble = arena_text(arena, question.cause.state != STATE_NONE
                                                ? question.cause.text
                                                : "facts worker told no facts");
    FAIL_IF(
        out->driver_trouble == NULL, err, NVBW_E_SYSTEM, "no memory for facts");
    return NVBW_OK;
}

/* ---- record ---- */

struct recorder {
    struct arena *arena;
    struct recording *recording;
};

static int32_t take_labels(
    struct recorder *to, const struct labels_frame *labels, struct error *err)
{
    struct recording *const into = to->recording;

    FAIL_IF(into->labels_count >= RECORDING_LIMIT, err, NVBW_E_INVALID,
        "more than %d LABELS", RECORDING_LIMIT);
    into->labels = arena_append(
        to->arena, into->labels, &into->labels_count, sizeof *into->labels);
    FAIL_IF(into->labels == NULL, err, NVBW_E_SYSTEM, "no memory for labels");
    return fields_copy(&labels_fields, labels, to->arena,
        &into->labels[into->labels_count - 1], err);
}

static int32_t take_recorded(
    struct recorder *to, const struct record *record, struct error *err)
{
    struct recording *const into = to->recording;

    FAIL_IF(into->records_count >= RECORDING_LIMIT, err, NVBW_E_INVALID,
        "more than %d cells", RECORDING_LIMIT);
    into->records = arena_append(
        to->arena, into->records, &into->records_count, sizeof *into->records);
    FAIL_IF(
        into->records == NULL, err, NVBW_E_SYSTEM, "no memory for a record");
    return fields_copy(&record_fields, record, to->arena,
        &into->records[into->records_count - 1], err);
}

static int32_t take_recording(struct question *question, uint32_t type,
    const void *object, struct error *err)
{
    switch (type) {
    case FRAME_LABELS:
        return take_labels(question->user, object, err);
    case FRAME_CELL:
        return take_recorded(question->user, object, err);
    case FRAME_BEGIN:
        return NVBW_OK;
    default:
        return error_set(err, NVBW_E_INVALID,
            "a frame of type %u came from a record worker", type);
    }
}

int32_t interview_record(const struct worker_setup *setup, struct crew *crew,
    const struct facts *facts, const struct unit *unit, struct arena *arena,
    struct recording *out, struct cause *out_cause, struct error *err)
{
    struct recorder recorder = { .arena = arena, .recording = out };
    const struct task_frame task = { .role = TASK_RECORD,
        .plugin_file = unit->plugin_file,
        .driver_file = setup->driver_file,
        .unit = *unit,
        .budget_ns = UINT64_MAX };
    struct question question = { .task = &task,
        .role = "record",
        .facts = facts,
        .on_frame = take_recording,
        .user = &recorder };

    *out = (struct recording){ .labels = NULL };
    TRY(ask_all(setup, crew, &question, 1, 1, err));
    out->status = question.status;
    out->calls = question.calls;
    *out_cause = question.cause;
    if (question.cause.state != STATE_NONE) {
        out->message = arena_text(arena, question.cause.text);
        FAIL_IF(out->message == NULL, err, NVBW_E_SYSTEM,
            "no memory for a recorded run");
    }
    return NVBW_OK;
}

int32_t workers_record(const struct worker_setup *setup,
    const struct facts *facts, const struct unit *unit, struct arena *arena,
    struct recording *out, struct error *err)
{
    struct crew crew;
    struct cause cause;

    crew_open(&crew, -1);

    const int32_t status =
        interview_record(setup, &crew, facts, unit, arena, out, &cause, err);

    crew_close(&crew);
    return status;
}
