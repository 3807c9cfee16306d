/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A task made ready: which cells are wanted, places, values of parameters. */
#include "service.h"

#include <stdlib.h>
#include <string.h>

#include "standard_types.h"

static int32_t no_memory(struct error *err)
{
    return error_set(err, NVBW_E_SYSTEM, "no memory for a task");
}

static int32_t mark_cells(struct task_run *run, struct error *err)
{
    const struct task_frame *const task = run->task;

    if (run->recording || run->checking) {
        return NVBW_OK;
    }
    run->cells_count = unit_cell_span(&run->unit);
    run->cells = arena_alloc(
        run->arena, (size_t)run->cells_count + 1, sizeof *run->cells);
    if (run->cells == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < task->wanted_count; i++) {
        FAIL_IF(task->wanted[i] >= run->cells_count, err, NVBW_E_INVALID,
            "cell %u is wanted, but the unit has %u", task->wanted[i],
            run->cells_count);
        run->cells[task->wanted[i]].wanted = 1;
    }
    for (uint32_t i = 0; i < task->settled_count; i++) {
        const struct settled_cell *const settled = &task->settled[i];

        if (settled->cell < run->cells_count) {
            run->cells[settled->cell] = (struct cell_word){ .settled = 1,
                .samples = settled->samples,
                .samples_count = settled->samples_count,
                .state = settled->state,
                .reason = settled->reason };
        }
    }
    return NVBW_OK;
}

static int32_t find_node(const struct task_run *run, int32_t number)
{
    for (uint32_t i = 0; i < run->unit.nodes_count; i++) {
        if (run->facts->nodes[run->unit.nodes[i]].number == number) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* The CUdevice in this process: the place of the UUID in CUDA_VISIBLE_DEVICES,
 * which the host sets, or the number that the machine has for it. */
static int32_t device_here(const struct gpu_facts *gpu)
{
    const char *at = secure_getenv("CUDA_VISIBLE_DEVICES");
    const size_t length = gpu->uuid == NULL ? 0 : strlen(gpu->uuid);

    for (int32_t i = 0; at != NULL && length > 0; i++) {
        const size_t entry = strcspn(at, ",");

        if (entry == length && strncmp(at, gpu->uuid, length) == 0) {
            return i;
        }
        at = at[entry] == '\0' ? NULL : at + entry + 1;
    }
    return gpu->device;
}

static void fill_gpu(const struct task_run *run, const struct gpu_facts *gpu,
    struct nvbw_place *out)
{
    *out = (struct nvbw_place){
        .size = sizeof *out,
        .flags = gpu->mig == 1 ? NVBW_PLACE_MIG : 0,
        .name = gpu->name,
        .uuid = gpu->uuid,
        .pci = gpu->pci,
        .near_node = find_node(run, gpu->near_node),
        .device = device_here(gpu),
        .compute = gpu->compute,
        .units = gpu->units,
        .memory = gpu->memory_bytes,
        .cache = gpu->l2_bytes,
        .number = gpu->index,
    };
}

static void fill_node(const struct task_run *run, const struct node_facts *node,
    struct nvbw_place *out)
{
    *out = (struct nvbw_place){
        .size = sizeof *out,
        .flags = node->memory_bytes == 0 ? NVBW_PLACE_NO_MEMORY : 0,
        .name = arena_format(run->arena, "node %d", node->number),
        .near_node = find_node(run, node->number),
        .device = node->number,
        .units = node->cpu_count,
        .memory = node->memory_bytes,
        .cache = node->cache_bytes,
        .number = node->number,
    };
}

static int32_t make_places(const struct task_run *run, int is_gpu,
    const struct nvbw_place ***out, struct error *err)
{
    const uint32_t *const positions = is_gpu ? run->unit.gpus : run->unit.nodes;
    const uint32_t count =
        is_gpu ? run->unit.gpus_count : run->unit.nodes_count;
    const uint32_t limit =
        is_gpu ? run->facts->gpus_count : run->facts->nodes_count;
    struct nvbw_place *const places =
        arena_alloc(run->arena, (size_t)count + 1, sizeof *places);
    const struct nvbw_place **const list =
        arena_alloc(run->arena, (size_t)count + 1, sizeof *list);

    if (places == NULL || list == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = positions[i];

        FAIL_IF(at >= limit, err, NVBW_E_INVALID,
            "the unit names %s %u, but the facts have %u",
            is_gpu ? "gpu" : "node", at, limit);
        if (is_gpu) {
            fill_gpu(run, &run->facts->gpus[at], &places[i]);
        } else {
            fill_node(run, &run->facts->nodes[at], &places[i]);
        }
        list[i] = &places[i];
    }
    *out = list;
    return NVBW_OK;
}

/* Ranks are numbered as their GPUs are. */
static int32_t make_ranks(struct task_run *run, struct error *err)
{
    const uint32_t count = run->unit.gpus_count;
    struct nvbw_place *const places =
        arena_alloc(run->arena, (size_t)count + 1, sizeof *places);
    const struct nvbw_place **const list =
        arena_alloc(run->arena, (size_t)count + 1, sizeof *list);

    if (run->facts->ranks == 0) {
        return NVBW_OK;
    }
    if (places == NULL || list == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_facts *const gpu =
            &run->facts->gpus[run->unit.gpus[i]];

        places[i] = *run->gpus[i];
        places[i].name = arena_format(run->arena, "rank %d", gpu->index);
        places[i].rack = gpu->host;
        places[i].clique = gpu->fabric_clique;
        list[i] = &places[i];
    }
    run->ranks = list;
    return NVBW_OK;
}

static const struct param_schema *type_of(
    const struct testcase_schema *testcase, const char *name)
{
    const struct param_schema *const own = schema_param(testcase, name);

    return own != NULL ? own : standard_type(name);
}

static int32_t parse_values(struct task_run *run,
    const struct param_schema *type, const struct unit_param *given,
    struct param_values *out, struct error *err)
{
    *out = (struct param_values){ given->name, given->values_count,
        given->values, NULL };
    out->values = arena_alloc(
        run->arena, (size_t)given->values_count + 1, sizeof *out->values);
    if (out->values == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; type != NULL && i < given->values_count; i++) {
        struct quantity_value *const value = &out->values[i];

        TRY(quantity_param(type, given->values[i], value, err));
        if (type->type == NVBW_TYPE_REAL) {
            value->integer = (int64_t)value->real;
        } else {
            value->real = (double)value->integer;
        }
    }
    return NVBW_OK;
}

static int32_t parse_params(struct task_run *run,
    const struct testcase_schema *testcase, struct error *err)
{
    run->params_count = run->unit.params_count;
    run->params = arena_alloc(
        run->arena, (size_t)run->params_count + 1, sizeof *run->params);
    if (run->params == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < run->params_count; i++) {
        const struct unit_param *const given = &run->unit.params[i];

        TRY(parse_values(
            run, type_of(testcase, given->name), given, &run->params[i], err));
    }
    return measure_params_parse(&run->unit, &run->measure, err);
}

int32_t service_begin(
    struct service *service, struct task_run *run, struct error *err)
{
    const char *const name = run->task->unit.testcase;
    const int32_t at = name == NULL ? -1 : loader_find(&service->plugin, name);

    FAIL_IF(at < 0, err, NVBW_E_INVALID, "plugin %s has no testcase %s",
        service->plugin.schema.name, name == NULL ? "NULL" : name);

    const struct testcase_schema *const testcase =
        &service->plugin.schema.testcases[at];

    FAIL_IF(testcase->problem != NULL, err, NVBW_E_INVALID,
        "testcase %s is refused: %s", name, testcase->problem);
    run->unit = run->task->unit;
    TRY(mark_cells(run, err));
    TRY(parse_params(run, testcase, err));
    if (!run->checking) {
        TRY(make_places(run, 1, &run->gpus, err));
        TRY(make_places(run, 0, &run->nodes, err));
        TRY(make_ranks(run, err));
    }
    service->run = run;
    service->ctx.host = run->recording ? &service_torture : &service_host;
    service->ctx.testcase = service->plugin.testcases[at].given;
    log_buffer_reset(service->log);
    service_restart_clock(service);
    return NVBW_OK;
}
