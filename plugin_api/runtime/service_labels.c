/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* labels(): the names of a text axis. While a run is recorded they make the
 * axis; later they must be the same. */
#include "service.h"

#include <string.h>

#include "abi.h"
#include "text_clean.h"

enum { LABEL_LIMIT_BYTES = 256 };

/* The axis that is named: where its entries stand in the unit. */
struct axis {
    const char *kind;
    uint32_t *count;
    const char ***labels;
    uint32_t *labels_count;
};

static struct unit_shape *find_shape(struct unit *unit, const char *metric)
{
    for (uint32_t i = 0; metric != NULL && i < unit->shapes_count; i++) {
        if (strcmp(unit->shapes[i].metric, metric) == 0) {
            return &unit->shapes[i];
        }
    }
    return NULL;
}

static struct axis axis_of(struct unit_shape *shape, uint32_t axis)
{
    if (axis == 0) {
        return (struct axis){ shape->row_axis, &shape->rows, &shape->row_labels,
            &shape->row_labels_count };
    }
    return (struct axis){ shape->col_axis, &shape->cols, &shape->col_labels,
        &shape->col_labels_count };
}

/* Clean, as the host will have them, so that they compare equal later. */
static const char **copy_names(
    struct arena *arena, const char *const *names, uint32_t count)
{
    const char **const copies = arena_alloc(arena, count, sizeof *copies);

    for (uint32_t i = 0; copies != NULL && i < count; i++) {
        char *const copy =
            arena_text_n(arena, names[i], strnlen(names[i], LABEL_LIMIT_BYTES));

        if (copy == NULL) {
            return NULL;
        }
        text_clean(copy, 0);
        copies[i] = copy;
    }
    return copies;
}

static int is_same(
    const struct axis *axis, const char *const *names, uint32_t count)
{
    if (*axis->labels_count != count) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp((*axis->labels)[i], names[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Until labels() names it an axis has one entry, "-". */
static int is_named(const struct axis *axis)
{
    return *axis->labels_count != 1 || strcmp((*axis->labels)[0], "-") != 0;
}

static int32_t name_axis(struct service *service, const struct axis *axis,
    const struct labels_frame *frame)
{
    if (!service->run->recording) {
        return is_same(axis, frame->names, frame->names_count)
                   ? NVBW_OK
                   : service_broken(service,
                         "C11: the labels of metric %s differ from those of "
                         "the recorded run",
                         frame->metric);
    }
    if (is_named(axis) && !is_same(axis, frame->names, frame->names_count)) {
        return service_broken(service,
            "C11: labels() named an axis of metric %s twice, differently",
            frame->metric);
    }
    *axis->count = frame->names_count;
    *axis->labels = frame->names;
    *axis->labels_count = frame->names_count;
    service_send(service, FRAME_LABELS, frame);
    return NVBW_OK;
}

int32_t service_labels(struct nvbw_ctx *ctx, const char *metric, uint32_t axis,
    const char *const *names)
{
    struct service *const service = service_of(ctx);
    struct labels_frame frame = { .axis = axis };
    struct error err = { 0 };

    if (service->run == NULL) {
        return NVBW_E_INVALID;
    }

    TRY(service_check_idle(service, "labels"));

    struct unit_shape *const shape = find_shape(&service->run->unit, metric);

    if (shape == NULL || axis > 1) {
        return service_broken(service,
            "C11: labels() for axis %u of metric %s, which is not declared",
            axis, metric == NULL ? "NULL" : metric);
    }

    const struct axis found = axis_of(shape, axis);

    if (found.kind == NULL || strcmp(found.kind, "text") != 0) {
        return service_broken(service,
            "C11: labels() for metric %s, whose axis %u is no text axis",
            metric, axis);
    }
    if (abi_count(names, "labels", &frame.names_count, &err) < 0 ||
        frame.names_count == 0) {
        return service_broken(
            service, "C11: labels() for metric %s without names", metric);
    }
    frame.metric = shape->metric;
    frame.names = copy_names(service->run->arena, names, frame.names_count);
    if (frame.names == NULL) {
        return NVBW_E_SYSTEM;
    }
    return name_axis(service, &found, &frame);
}
