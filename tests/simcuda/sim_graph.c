/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Graphs of kernels. A launch takes graph_us of the profile and then runs the
 * nodes one after another, in the order in which they were added. */
#include <stdlib.h>

#include "sim_entry.h"
#include "sim_module.h"
#include "sim_stream.h"

enum { NODES_MOST = 4096 };

struct CUgraphNode_st {
    struct CUgraphNode_st *next;
    struct module_call call;
};
struct CUgraph_st {
    struct CUgraph_st *next;
    struct CUgraphNode_st *first, *last;
    uint32_t count;
};
struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    struct module_call *calls;
    uint32_t count;
};

static struct CUgraph_st *graphs;
static struct CUgraphExec_st *execs;

static int is_graph(const struct CUgraph_st *handle)
{
    const struct CUgraph_st *at = graphs;

    while (at != NULL && at != handle) {
        at = at->next;
    }
    return at != NULL;
}

static int is_exec(const struct CUgraphExec_st *handle)
{
    const struct CUgraphExec_st *at = execs;

    while (at != NULL && at != handle) {
        at = at->next;
    }
    return at != NULL;
}

/* ---- Making -------------------------------------------------------------- */

static cu_result create(struct CUgraph_st **out, unsigned int flags)
{
    if (out == NULL || flags != 0) {
        return CU_ERROR_INVALID_VALUE;
    }

    struct CUgraph_st *const graph = calloc(1, sizeof *graph);

    if (graph == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    graph->next = graphs;
    graphs = graph;
    *out = graph;
    return CU_SUCCESS;
}

cu_result cuGraphCreate(struct CUgraph_st **out, unsigned int flags)
{
    SIM_CALL(cuGraphCreate, create(out, flags));
}

static int is_node_of(
    const struct CUgraph_st *graph, const struct CUgraphNode_st *handle)
{
    const struct CUgraphNode_st *at = graph->first;

    while (at != NULL && at != handle) {
        at = at->next;
    }
    return at != NULL;
}

static cu_result add_kernel(struct CUgraphNode_st **out,
    struct CUgraph_st *graph, struct CUgraphNode_st *const *after,
    size_t after_count, const struct cu_kernel_node *node)
{
    if (!is_graph(graph) || out == NULL || node == NULL ||
        node->extra != NULL || graph->count == NODES_MOST ||
        (after_count > 0 && after == NULL)) {
        return CU_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < after_count; i++) {
        if (!is_node_of(graph, after[i])) {
            return CU_ERROR_INVALID_VALUE;
        }
    }

    const struct module_shape shape = { .grid = { node->grid[0], node->grid[1],
                                            node->grid[2] },
        .block = { node->block[0], node->block[1], node->block[2] },
        .shared_bytes = node->shared_bytes };
    struct CUgraphNode_st *const made = calloc(1, sizeof *made);

    if (made == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }

    const cu_result result =
        module_call_make(node->function, &shape, node->parameters, &made->call);

    if (result != CU_SUCCESS) {
        free(made);
        return result;
    }
    *(graph->last != NULL ? &graph->last->next : &graph->first) = made;
    graph->last = made;
    graph->count++;
    *out = made;
    return CU_SUCCESS;
}

cu_result cuGraphAddKernelNode(struct CUgraphNode_st **out,
    struct CUgraph_st *graph, struct CUgraphNode_st *const *after,
    size_t after_count, const struct cu_kernel_node *node)
{
    SIM_CALL(
        cuGraphAddKernelNode, add_kernel(out, graph, after, after_count, node));
}

static cu_result destroy(struct CUgraph_st *handle)
{
    struct CUgraph_st **at = &graphs;

    if (!is_graph(handle)) {
        return CU_ERROR_INVALID_VALUE;
    }
    while (*at != handle) {
        at = &(*at)->next;
    }
    *at = handle->next;
    while (handle->first != NULL) {
        struct CUgraphNode_st *const node = handle->first;

        handle->first = node->next;
        free(node);
    }
    free(handle);
    return CU_SUCCESS;
}

cu_result cuGraphDestroy(struct CUgraph_st *graph)
{
    SIM_CALL(cuGraphDestroy, destroy(graph));
}

/* ---- Running ------------------------------------------------------------- */

static cu_result instantiate(struct CUgraphExec_st **out,
    const struct CUgraph_st *graph, unsigned long long flags)
{
    if (!is_graph(graph) || out == NULL || flags != 0) {
        return CU_ERROR_INVALID_VALUE;
    }

    struct CUgraphExec_st *const exec = calloc(1, sizeof *exec);

    if (exec == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    exec->calls = calloc((size_t)graph->count + 1, sizeof *exec->calls);
    if (exec->calls == NULL) {
        free(exec);
        return CU_ERROR_OUT_OF_MEMORY;
    }
    for (const struct CUgraphNode_st *node = graph->first; node != NULL;
         node = node->next) {
        exec->calls[exec->count++] = node->call;
    }
    exec->next = execs;
    execs = exec;
    *out = exec;
    return CU_SUCCESS;
}

cu_result cuGraphInstantiateWithFlags(struct CUgraphExec_st **out,
    struct CUgraph_st *graph, unsigned long long flags)
{
    SIM_CALL(cuGraphInstantiateWithFlags, instantiate(out, graph, flags));
}

static cu_result enqueue_start(struct CUstream_st *stream)
{
    const struct profile_gpu *const gpu =
        sim_machine()->gpus[stream->context->gpu].profile;
    struct sim_op *const op = core_op_new();

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = gpu->graph_us * 1e3;
    return stream_enqueue(stream, op);
}

static cu_result launch(
    const struct CUgraphExec_st *exec, struct CUstream_st *handle)
{
    struct CUstream_st *stream = NULL;
    const cu_result resolved = stream_resolve(handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (!is_exec(exec)) {
        return CU_ERROR_INVALID_VALUE;
    }

    cu_result result = enqueue_start(stream);

    for (uint32_t i = 0; i < exec->count && result == CU_SUCCESS; i++) {
        result = module_call_launch(&exec->calls[i], stream);
    }
    return result;
}

cu_result cuGraphLaunch(
    struct CUgraphExec_st *graph, struct CUstream_st *stream)
{
    SIM_CALL(cuGraphLaunch, launch(graph, stream));
}

static cu_result destroy_exec(struct CUgraphExec_st *handle)
{
    struct CUgraphExec_st **at = &execs;

    if (!is_exec(handle)) {
        return CU_ERROR_INVALID_VALUE;
    }
    while (*at != handle) {
        at = &(*at)->next;
    }
    *at = handle->next;
    free(handle->calls);
    free(handle);
    return CU_SUCCESS;
}

cu_result cuGraphExecDestroy(struct CUgraphExec_st *graph)
{
    SIM_CALL(cuGraphExecDestroy, destroy_exec(graph));
}
