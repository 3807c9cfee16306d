/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "launch_calls.h"

#include <inttypes.h>
#include <stdio.h>

/* The driver's types, as far as they are used here. */
typedef uint32_t context_get_fn(void **out);
typedef uint32_t context_set_fn(void *context);
typedef uint32_t module_load_fn(void **out, const void *image);
typedef uint32_t module_function_fn(void **out, void *module, const char *name);
typedef uint32_t kernel_launch_fn(void *function, uint32_t grid_x,
    uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
    uint32_t block_z, uint32_t shared_bytes, void *stream, void **parameters,
    void **extra);
typedef uint32_t make_fn(void **out, uint32_t flags);
typedef uint32_t on_stream_fn(void *object, void *stream);
typedef uint32_t one_fn(void *object);
typedef uint32_t instantiate_fn(void **out, void *graph, uint64_t flags);
struct kernel_node {
    void *function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    void **parameters, **extra;
};
typedef uint32_t add_kernel_fn(void **out, void *graph, void *const *after,
    size_t after_count, const struct kernel_node *node);

#define CALL(launch, type, name) ((type *)(launch)->calls[CALL_##name])

/* The kernel as text for any GPU; the simulated driver knows it by name. */
static const char *const images[] = {
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry nvbw_empty()\n{\n    ret;\n}\n",
    "NVBWSIM1\nnvbw_empty\n",
};

#define CALL_ROW(name, version) { #name, version },
static const struct {
    const char *name;
    uint32_t version;
} rows[] = { LAUNCH_CALLS(CALL_ROW) };

/* Graphs came later; what launches none needs none of their calls. */
static int is_of_graphs(uint32_t call)
{
    return call >= CALL_cuGraphCreate;
}

/* NVBW_OK, or an error of the driver with the function's name in the log. */
static int32_t judge(struct nvbw_ctx *ctx, uint32_t result, const char *name)
{
    char text[128];

    if (result == 0) {
        return NVBW_OK;
    }
    snprintf(text, sizeof text, "%s answered %" PRIu32, name, result);
    ctx->host->log(ctx, NVBW_LOG_ERROR, text);
    return NVBW_E_CUDA;
}

/* ---- Making -------------------------------------------------------------- */

static int32_t find_calls(struct nvbw_ctx *ctx, struct launch *launch)
{
    char text[128];

    for (uint32_t i = 0; i < LAUNCH_CALLS_END; i++) {
        launch->calls[i] =
            ctx->host->driver(ctx, rows[i].name, rows[i].version);
        if (launch->calls[i] == NULL &&
            (launch->what == LAUNCH_GRAPH || !is_of_graphs(i))) {
            snprintf(text, sizeof text, "the driver has no %s", rows[i].name);
            ctx->host->log(ctx, NVBW_LOG_ERROR, text);
            return NVBW_E_CUDA;
        }
    }
    return NVBW_OK;
}

static int32_t make_kernel(struct nvbw_ctx *ctx, struct launch *launch)
{
    uint32_t first = 0;
    uint32_t result = 1;

    for (size_t i = 0; i < sizeof images / sizeof *images && result != 0; i++) {
        result = CALL(launch, module_load_fn, cuModuleLoadData)(
            &launch->module, images[i]);
        first = first != 0 ? first : result;
    }
    if (result != 0) {
        launch->module = NULL;
        return judge(ctx, first, "cuModuleLoadData");
    }
    return judge(ctx,
        CALL(launch, module_function_fn, cuModuleGetFunction)(
            &launch->kernel, launch->module, "nvbw_empty"),
        "cuModuleGetFunction");
}

/* Each node after the one before. */
static int32_t add_nodes(struct nvbw_ctx *ctx, struct launch *launch)
{
    const struct kernel_node kernel = {
        .function = launch->kernel, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }
    };
    void *last = NULL;

    for (uint64_t i = 0; i < launch->nodes; i++) {
        void *node = NULL;
        const int32_t status = judge(ctx,
            CALL(launch, add_kernel_fn, cuGraphAddKernelNode)(
                &node, launch->graph, &last, i > 0, &kernel),
            "cuGraphAddKernelNode");

        if (status < 0) {
            return status;
        }
        last = node;
    }
    return NVBW_OK;
}

static int32_t make_graph(struct nvbw_ctx *ctx, struct launch *launch)
{
    int32_t status = make_kernel(ctx, launch);

    if (status >= 0) {
        status =
            judge(ctx, CALL(launch, make_fn, cuGraphCreate)(&launch->graph, 0),
                "cuGraphCreate");
    }
    if (status >= 0) {
        status = add_nodes(ctx, launch);
    }
    return status < 0
               ? status
               : judge(ctx,
                     CALL(launch, instantiate_fn, cuGraphInstantiateWithFlags)(
                         &launch->graph_exec, launch->graph, 0),
                     "cuGraphInstantiateWithFlags");
}

/* With its time, as programs have them that measure. */
static int32_t make_event(struct nvbw_ctx *ctx, struct launch *launch)
{
    return judge(ctx, CALL(launch, make_fn, cuEventCreate)(&launch->event, 0),
        "cuEventCreate");
}

/* ---- Launching ----------------------------------------------------------- */

static uint32_t launch_kernel(struct launch *launch, void *stream)
{
    return CALL(launch, kernel_launch_fn, cuLaunchKernel)(
        launch->kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static uint32_t launch_graph(struct launch *launch, void *stream)
{
    return CALL(launch, on_stream_fn, cuGraphLaunch)(
        launch->graph_exec, stream);
}

static uint32_t record_event(struct launch *launch, void *stream)
{
    return CALL(launch, on_stream_fn, cuEventRecord)(launch->event, stream);
}

static uint32_t wait_for_stream(struct launch *launch, void *stream)
{
    return CALL(launch, one_fn, cuStreamSynchronize)(stream);
}

static uint32_t wait_for_event(struct launch *launch, void *stream)
{
    (void)stream;
    return CALL(launch, one_fn, cuEventSynchronize)(launch->event);
}

static const struct {
    int32_t (*make)(struct nvbw_ctx *ctx, struct launch *launch);
    uint32_t (*put)(struct launch *launch, void *stream);
    uint32_t (*wait)(struct launch *launch, void *stream);
    const char *put_name, *wait_name;
} kinds[] = {
    [LAUNCH_KERNEL] = { make_kernel, launch_kernel, wait_for_stream,
        "cuLaunchKernel", "cuStreamSynchronize" },
    [LAUNCH_GRAPH] = { make_graph, launch_graph, wait_for_stream,
        "cuGraphLaunch", "cuStreamSynchronize" },
    [LAUNCH_EVENT] = { make_event, record_event, wait_for_event,
        "cuEventRecord", "cuEventSynchronize" },
};

static int32_t make(struct nvbw_ctx *ctx, struct launch *launch)
{
    const int32_t status = find_calls(ctx, launch);

    if (status < 0) {
        return status;
    }
    launch->is_made = 1;
    if (CALL(launch, context_get_fn, cuCtxGetCurrent)(&launch->context) != 0) {
        launch->context = NULL; /* launch_end then leaves all as it is */
    }
    return kinds[launch->what].make(ctx, launch);
}

int32_t launch_enqueue(struct nvbw_ctx *ctx, const struct nvbw_work *work)
{
    struct launch *const launch = work->user;
    int32_t status = launch->is_made ? NVBW_OK : make(ctx, launch);

    for (uint64_t i = 0; i < work->repeats && status >= 0; i++) {
        status = judge(ctx, kinds[launch->what].put(launch, work->stream),
            kinds[launch->what].put_name);
        if (launch->waits && status >= 0) {
            status = judge(ctx, kinds[launch->what].wait(launch, work->stream),
                kinds[launch->what].wait_name);
        }
    }
    return status;
}

/* What cannot be unmade is left to the end of the process. */
void launch_end(struct launch *launch)
{
    void *before = NULL;

    if (launch->context == NULL ||
        CALL(launch, context_get_fn, cuCtxGetCurrent)(&before) != 0 ||
        CALL(launch, context_set_fn, cuCtxSetCurrent)(launch->context) != 0) {
        return;
    }
    if (launch->graph_exec != NULL) {
        CALL(launch, one_fn, cuGraphExecDestroy)(launch->graph_exec);
    }
    if (launch->graph != NULL) {
        CALL(launch, one_fn, cuGraphDestroy)(launch->graph);
    }
    if (launch->event != NULL) {
        CALL(launch, one_fn, cuEventDestroy)(launch->event);
    }
    if (launch->module != NULL) {
        CALL(launch, one_fn, cuModuleUnload)(launch->module);
    }
    CALL(launch, context_set_fn, cuCtxSetCurrent)(before);
}
