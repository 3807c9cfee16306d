/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

const struct name task_role_names[] = {
    { TASK_DESCRIBE, "describe" },
    { TASK_RECORD, "record" },
    { TASK_RUN, "run" },
    { TASK_FACTS, "facts" },
    { TASK_HEALTH, "health" },
    { TASK_JOIN, "join" },
    { TASK_FOLLOW, "follow" },
    { TASK_WATCH, "watch" },
    { TASK_CHECK, "check" },
    { 0, NULL },
};

const struct name read_kind_names[] = {
    { READ_BEGIN, "begin" },
    { READ_LOAD, "load" },
    { READ_LOOK, "look" },
    { READ_POLL, "poll" },
    { 0, NULL },
};

static const struct field hello_list[] = {
    FIELD(hello_frame, TEXT, build),
    FIELD(hello_frame, I32, pid),
    FIELD(hello_frame, U64, now_ns),
    FIELD_END,
};
const struct fields hello_fields = FIELDS(hello_frame, hello_list);

static const struct field settled_list[] = {
    FIELD(settled_cell, U32, cell),
    FIELD_NAMED(settled_cell, state, state_names),
    FIELD(settled_cell, TEXT, reason),
    FIELD_LIST(settled_cell, F64S, samples),
    FIELD_END,
};
static const struct fields settled_fields = FIELDS(settled_cell, settled_list);

static const struct field task_list[] = {
    FIELD_NAMED(task_frame, role, task_role_names),
    FIELD(task_frame, TEXT, plugin_file),
    FIELD(task_frame, TEXT, driver_file),
    FIELD_STRUCT(task_frame, unit, &unit_fields),
    FIELD(task_frame, U32, attempt),
    FIELD_LIST(task_frame, U32S, wanted),
    FIELD_STRUCTS(task_frame, settled, &settled_fields),
    FIELD(task_frame, U64, budget_ns),
    FIELD_LIST(task_frame, U32S, gpus),
    FIELD(task_frame, U32, apart),
    FIELD(task_frame, U32, watched),
    FIELD(task_frame, U32, fail_call),
    FIELD(task_frame, U32, name_call),
    FIELD(task_frame, U32, allow_multicast),
    FIELD_LIST(task_frame, TEXTS, mpi_plugins),
    FIELD_END,
};
const struct fields task_fields = FIELDS(task_frame, task_list);

static const struct field quit_list[] = {
    FIELD(quit_frame, U32, unused),
    FIELD_END,
};
const struct fields quit_fields = FIELDS(quit_frame, quit_list);

static const struct field labels_list[] = {
    FIELD(labels_frame, WORD, metric),
    FIELD(labels_frame, U32, axis),
    FIELD_LIST(labels_frame, TEXTS, names),
    FIELD_END,
};
const struct fields labels_fields = FIELDS(labels_frame, labels_list);

static const struct field refused_list[] = {
    FIELD(refused_frame, WORD, param),
    FIELD(refused_frame, U32, element),
    FIELD(refused_frame, WORD, text),
    FIELD_END,
};
const struct fields refused_fields = FIELDS(refused_frame, refused_list);

static const struct field team_list[] = {
    FIELD(team_frame, U32, rank),
    FIELD(team_frame, U32, ranks),
    FIELD(team_frame, TEXT, handle),
    FIELD(team_frame, TEXT, reason),
    FIELD(team_frame, TEXT, message),
    FIELD_END,
};
const struct fields team_fields = FIELDS(team_frame, team_list);

static const struct field begin_list[] = {
    FIELD_LIST(begin_frame, U32S, cells),
    FIELD_LIST(begin_frame, U32S, gpus),
    FIELD(begin_frame, U32, parts),
    FIELD(begin_frame, U64, now_ns),
    FIELD_END,
};
const struct fields begin_fields = FIELDS(begin_frame, begin_list);

static const struct field log_list[] = {
    FIELD(log_frame, U32, level),
    FIELD(log_frame, WORD, text),
    FIELD(log_frame, U64, now_ns),
    FIELD(log_frame, U32, dropped),
    FIELD_END,
};
const struct fields log_fields = FIELDS(log_frame, log_list);

static const struct field done_list[] = {
    FIELD(done_frame, I32, status),
    FIELD(done_frame, I64, code),
    FIELD(done_frame, TEXT, reason),
    FIELD(done_frame, TEXT, message),
    FIELD(done_frame, U32, state),
    FIELD(done_frame, U32, calls),
    FIELD(done_frame, TEXT, failed_call),
    FIELD_END,
};
const struct fields done_fields = FIELDS(done_frame, done_list);

static const struct field bye_list[] = {
    FIELD(bye_frame, TEXT, why),
    FIELD(bye_frame, TEXT, message),
    FIELD_END,
};
const struct fields bye_fields = FIELDS(bye_frame, bye_list);

static const struct field read_list[] = {
    FIELD(read_frame, U64, number),
    FIELD_NAMED(read_frame, kind, read_kind_names),
    FIELD_LIST(read_frame, U32S, gpus),
    FIELD_END,
};
const struct fields read_fields = FIELDS(read_frame, read_list);

static const struct field readings_list[] = {
    FIELD(readings_frame, U64, number),
    FIELD_STRUCTS(readings_frame, readings, &gpu_reading_fields),
    FIELD_END,
};
const struct fields readings_fields = FIELDS(readings_frame, readings_list);

static const struct field read_done_list[] = {
    FIELD(read_done_frame, U64, number),
    FIELD(read_done_frame, U32, throttled),
    FIELD(read_done_frame, TEXT, message),
    FIELD_END,
};
const struct fields read_done_fields = FIELDS(read_done_frame, read_done_list);

const struct fields *wire_fields(uint32_t type)
{
    static const struct fields *const table[FRAME_TYPE_END] = {
        [FRAME_HELLO] = &hello_fields,
        [FRAME_FACTS] = &facts_fields,
        [FRAME_TASK] = &task_fields,
        [FRAME_QUIT] = &quit_fields,
        [FRAME_PLUGIN] = &plugin_schema_fields,
        [FRAME_LABELS] = &labels_fields,
        [FRAME_BEGIN] = &begin_fields,
        [FRAME_CELL] = &record_fields,
        [FRAME_LOG] = &log_fields,
        [FRAME_DONE] = &done_fields,
        [FRAME_BYE] = &bye_fields,
        [FRAME_TEAM] = &team_fields,
        [FRAME_READ] = &read_fields,
        [FRAME_READINGS] = &readings_fields,
        [FRAME_READ_DONE] = &read_done_fields,
        [FRAME_REFUSED] = &refused_fields,
    };

    return type < FRAME_TYPE_END ? table[type] : NULL;
}

static uint32_t load_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static void store_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

int32_t wire_find(
    const void *bytes, size_t length, struct frame *out, struct error *err)
{
    const unsigned char *const at = bytes;

    if (length < WIRE_HEADER_BYTES) {
        return 0;
    }

    const uint32_t type = load_u32(at + 4);
    const uint32_t payload_bytes = load_u32(at + 8);

    FAIL_IF(load_u32(at) != WIRE_MAGIC, err, NVBW_E_INVALID,
        "malformed frame: no magic number");
    FAIL_IF(wire_fields(type) == NULL, err, NVBW_E_INVALID,
        "malformed frame: unknown type %u", type);
    FAIL_IF(payload_bytes > WIRE_FRAME_LIMIT, err, NVBW_E_INVALID,
        "malformed frame: %u bytes are more than a frame may have",
        payload_bytes);
    if (payload_bytes > length - WIRE_HEADER_BYTES) {
        return 0;
    }
    *out = (struct frame){ .type = type,
        .payload = at + WIRE_HEADER_BYTES,
        .payload_bytes = payload_bytes,
        .frame_bytes = WIRE_HEADER_BYTES + payload_bytes };
    return 1;
}

int32_t wire_encode(
    uint32_t type, const void *object, struct strbuf *buf, struct error *err)
{
    const size_t start = buf->length;
    unsigned char header[WIRE_HEADER_BYTES] = { 0 };

    strbuf_add_n(buf, header, sizeof header);
    fields_encode(wire_fields(type), object, buf);
    FAIL_IF(
        buf->failed || buf->length - start - sizeof header > WIRE_FRAME_LIMIT,
        err, NVBW_E_INVALID, "frame of type %u is too large", type);
    store_u32(header, WIRE_MAGIC);
    store_u32(header + 4, type);
    store_u32(header + 8, (uint32_t)(buf->length - start - sizeof header));
    memcpy(buf->text + start, header, sizeof header);
    return NVBW_OK;
}

static int32_t write_all(
    int fd, const char *bytes, size_t length, struct error *err)
{
    while (length > 0) {
        const ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return error_system(err, "cannot write a frame");
        }
        bytes += written;
        length -= (size_t)written;
    }
    return NVBW_OK;
}

int32_t wire_send(int fd, uint32_t type, const void *object, struct error *err)
{
    struct strbuf buf;

    strbuf_init(&buf, WIRE_FRAME_LIMIT + 2 * WIRE_HEADER_BYTES);

    int32_t status = wire_encode(type, object, &buf, err);

    if (status == NVBW_OK) {
        status = write_all(fd, buf.text, buf.length, err);
    }
    strbuf_free(&buf);
    return status;
}

/* Returns the bytes read: fewer than asked for only at end of file. */
static int32_t read_all(
    int fd, void *bytes, size_t length, size_t *out_read, struct error *err)
{
    size_t done = 0;

    while (done < length) {
        const ssize_t got = read(fd, (char *)bytes + done, length - done);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_system(err, "cannot read a frame");
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    *out_read = done;
    return NVBW_OK;
}

int32_t wire_receive(int fd, struct arena *arena, uint32_t *out_type,
    void **out_object, struct error *err)
{
    unsigned char header[WIRE_HEADER_BYTES];
    struct frame frame;
    size_t got = 0;

    TRY(read_all(fd, header, sizeof header, &got, err));
    if (got == 0) {
        return 0;
    }
    FAIL_IF(got < sizeof header, err, NVBW_E_INVALID,
        "malformed frame: ends within its header");
    TRY(wire_find(header, sizeof header, &frame, err));

    const size_t length = load_u32(header + 8);
    const struct fields *const fields = wire_fields(load_u32(header + 4));
    void *const payload = arena_alloc(arena, length, 1);
    void *const object = arena_alloc(arena, 1, fields->size);

    FAIL_IF(payload == NULL || object == NULL, err, NVBW_E_SYSTEM,
        "no memory for a frame of %zu bytes", length);
    TRY(read_all(fd, payload, length, &got, err));
    FAIL_IF(got < length, err, NVBW_E_INVALID,
        "malformed frame: ends within its payload");
    TRY(fields_decode(fields, payload, length, arena, object, err));
    *out_type = load_u32(header + 4);
    *out_object = object;
    return 1;
}
