/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Role watch: NVML open for as long as the worker lives, read when asked. */
#include "worker_roles.h"

int32_t worker_open_watch(
    struct worker *worker, const char *driver_file, struct error *err)
{
    FAIL_IF(worker->facts == NULL, err, NVBW_E_INVALID,
        "the worker was given a task before the facts");
    if (worker->watch != NULL) {
        return NVBW_OK;
    }
    return nvml_watch_open(
        worker->facts, driver_file, &worker->arena, &worker->watch, err);
}

int32_t worker_read(struct worker *worker, const struct read_frame *read,
    struct arena *arena, struct error *err)
{
    struct readings_frame answer = { .number = read->number };

    if (worker->watch != NULL) {
        answer.readings = nvml_watch_read(worker->watch, read->gpus,
            read->gpus_count, read->kind, arena, &answer.readings_count);
        FAIL_IF(answer.readings == NULL, err, NVBW_E_SYSTEM,
            "no memory for readings");
    }
    return wire_send(worker->out_fd, FRAME_READINGS, &answer, err);
}
