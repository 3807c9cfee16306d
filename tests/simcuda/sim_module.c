/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Modules: lists of names instead of machine code. */
#include "sim_module.h"

#include <stdlib.h>
#include <string.h>

#include "sim_entry.h"
#include "sim_kernels.h"
#include "sim_stream.h"

enum {
    NAME_MAX_BYTES = 128,
    FUNCTIONS_MAX = 256,
    THREADS_PER_BLOCK = 1024,
    THREADS_PER_SM = 2048,
    BLOCKS_PER_SM = 32,
    SHARED_DEFAULT = 48 << 10
};

struct CUfunc_st {
    const struct sim_kernel *kernel;
    struct CUctx_st *context;
    int loaded, shared_bytes;
};
struct CUmod_st {
    struct CUmod_st *next;
    struct CUctx_st *context;
    uint32_t count;
    struct CUfunc_st functions[FUNCTIONS_MAX];
};

static struct CUmod_st *modules;

/* ---- Loading ------------------------------------------------------------- */

static int add_name(struct CUmod_st *module, const char *text, size_t length)
{
    char name[NAME_MAX_BYTES];

    if (length >= sizeof name || module->count == FUNCTIONS_MAX) {
        return -1;
    }
    memcpy(name, text, length);
    name[length] = '\0';
    const struct sim_kernel *kernel = kernel_find(name);

    if (kernel != NULL) { /* others are not found when asked for */
        module->functions[module->count++] =
            (struct CUfunc_st){ .kernel = kernel,
                .context = module->context,
                .loaded = sim_machine()->eager != 0,
                .shared_bytes = SHARED_DEFAULT };
    }
    return 0;
}

static int read_names(struct CUmod_st *module, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        if (length > 0 && add_name(module, text, length) != 0) {
            return -1;
        }
        text += length + (text[length] == '\n');
    }
    return 0;
}

static cu_result load(struct CUmod_st **out, const char *image)
{
    struct CUctx_st *context = sim_current();

    if (context == NULL) {
        return CU_ERROR_INVALID_CONTEXT;
    }
    if (out == NULL || image == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (strncmp(image, CUDA_SIM_IMAGE, strlen(CUDA_SIM_IMAGE)) != 0) {
        return image[0] == '/' || image[0] == '.' || image[0] == '\n'
                   ? (cu_result)CU_ERROR_INVALID_PTX
                   : (cu_result)CU_ERROR_INVALID_IMAGE;
    }
    sim_drain(context);
    struct CUmod_st *module = calloc(1, sizeof *module);

    if (module == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    module->context = context;
    if (read_names(module, image + strlen(CUDA_SIM_IMAGE)) != 0) {
        free(module);
        return CU_ERROR_INVALID_IMAGE;
    }
    module->next = modules;
    modules = module;
    *out = module;
    return CU_SUCCESS;
}

cu_result cuModuleLoadData(struct CUmod_st **out, const void *image)
{
    SIM_CALL(cuModuleLoadData, load(out, image));
}

static cu_result unload(struct CUmod_st *handle)
{
    for (struct CUmod_st **at = &modules; *at != NULL; at = &(*at)->next) {
        if (*at == handle) {
            sim_drain(handle->context);
            *at = handle->next;
            free(handle);
            return CU_SUCCESS;
        }
    }
    return CU_ERROR_INVALID_HANDLE;
}

cu_result cuModuleUnload(struct CUmod_st *module)
{
    SIM_CALL(cuModuleUnload, unload(module));
}

static cu_result function(
    struct CUfunc_st **out, struct CUmod_st *module, const char *name)
{
    if (out == NULL || name == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (module == NULL) {
        return CU_ERROR_INVALID_HANDLE;
    }
    for (uint32_t i = 0; i < module->count; i++) {
        if (strcmp(module->functions[i].kernel->name, name) == 0) {
            *out = &module->functions[i];
            return CU_SUCCESS;
        }
    }
    return CU_ERROR_NOT_FOUND;
}

cu_result cuModuleGetFunction(
    struct CUfunc_st **out, struct CUmod_st *module, const char *name)
{
    SIM_CALL(cuModuleGetFunction, function(out, module, name));
}

/* ---- Functions ----------------------------------------------------------- */

static cu_result get_attribute(
    int *out, unsigned int attribute, const struct CUfunc_st *handle)
{
    if (out == NULL) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (handle == NULL) {
        return CU_ERROR_INVALID_HANDLE;
    }
    *out = attribute == CU_FUNC_MAX_THREADS          ? THREADS_PER_BLOCK
           : attribute == CU_FUNC_MAX_DYNAMIC_SHARED ? handle->shared_bytes
                                                     : 0;
    return CU_SUCCESS;
}

cu_result cuFuncGetAttribute(
    int *out, unsigned int attribute, struct CUfunc_st *handle)
{
    SIM_CALL(cuFuncGetAttribute, get_attribute(out, attribute, handle));
}

static int shared_most(const struct CUfunc_st *handle)
{
    const struct sim_gpu *gpu = &sim_machine()->gpus[handle->context->gpu];

    return (int)(gpu->profile->shared_kib << 10);
}

static cu_result set_attribute(
    struct CUfunc_st *handle, unsigned int attribute, int value)
{
    if (handle == NULL) {
        return CU_ERROR_INVALID_HANDLE;
    }
    if (attribute != CU_FUNC_MAX_DYNAMIC_SHARED || value < 0 ||
        value > shared_most(handle)) {
        return CU_ERROR_INVALID_VALUE;
    }
    handle->shared_bytes = value;
    return CU_SUCCESS;
}

cu_result cuFuncSetAttribute(
    struct CUfunc_st *handle, unsigned int attribute, int value)
{
    SIM_CALL(cuFuncSetAttribute, set_attribute(handle, attribute, value));
}

static cu_result occupancy(
    int *out, const struct CUfunc_st *handle, int threads, size_t shared_bytes)
{
    if (out == NULL || threads < 1 || threads > THREADS_PER_BLOCK) {
        return CU_ERROR_INVALID_VALUE;
    }
    if (handle == NULL) {
        return CU_ERROR_INVALID_HANDLE;
    }
    int blocks = THREADS_PER_SM / threads;

    blocks = blocks < BLOCKS_PER_SM ? blocks : BLOCKS_PER_SM;
    if (shared_bytes > 0) {
        const size_t fits = (size_t)shared_most(handle) / shared_bytes;

        blocks = fits < (size_t)blocks ? (int)fits : blocks;
    }
    *out = blocks;
    return CU_SUCCESS;
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *out, struct CUfunc_st *handle, int threads, size_t shared_bytes)
{
    SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor,
        occupancy(out, handle, threads, shared_bytes));
}

/* ---- Launching ----------------------------------------------------------- */

static void fail_context(struct sim_op *op)
{
    struct CUctx_st *context = op->subject;

    context->sticky = (cu_result)op->words[0];
}

/* A kernel that goes where it may not ends its context when it runs. */
static void make_failing(
    struct sim_op *op, struct CUctx_st *context, cu_result error)
{
    op->kind = SIM_OP_INSTANT;
    op->subject = context;
    op->words[0] = error;
    op->finish = fail_context;
}

static cu_result enqueue_kernel(
    const struct module_call *call, struct CUstream_st *stream)
{
    struct sim_machine *machine = sim_machine();
    const struct sim_kernel *const kernel = call->function->kernel;
    const struct kernel_launch launch = {
        .machine = machine, .context = stream->context, .threads = call->threads
    };
    struct sim_op *op = core_op_new();

    if (op == NULL) {
        return CU_ERROR_OUT_OF_MEMORY;
    }
    sim_note_kernel(kernel->name);
    memcpy(op->words, call->args, kernel->args_bytes);
    cu_result planned = kernel->plan(&launch, op);

    const uint64_t number = segment_count(&machine->shared->kernels);

    if (faults_find(&machine->faults, FAULT_KERNEL_SERIAL, NULL, number) !=
        NULL) {
        op->slot = sim_gpu_slot(stream->context->gpu, SLOT_KERNEL);
    }
    if (planned == CU_SUCCESS && faults_find(&machine->faults,
                                     FAULT_KERNEL_FAIL, NULL, number) != NULL) {
        planned = CU_ERROR_LAUNCH_FAILED;
    }
    if (planned != CU_SUCCESS) {
        make_failing(op, stream->context, planned);
    }
    return stream_enqueue(stream, op);
}

static uint64_t threads_of(const struct module_shape *shape)
{
    uint64_t threads = 1;

    for (uint32_t i = 0; i < 3; i++) {
        threads *= (uint64_t)shape->grid[i] * shape->block[i];
    }
    return threads;
}

static int shape_is_valid(const struct module_shape *shape)
{
    const uint64_t block =
        (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];

    return threads_of(shape) > 0 && block <= THREADS_PER_BLOCK;
}

cu_result module_call_make(struct CUfunc_st *function,
    const struct module_shape *shape, void *const *parameters,
    struct module_call *out)
{
    const uint32_t bytes = function == NULL ? 0 : function->kernel->args_bytes;

    if (function == NULL) {
        return CU_ERROR_INVALID_HANDLE;
    }
    if (!shape_is_valid(shape) ||
        shape->shared_bytes > (unsigned)function->shared_bytes ||
        bytes > sizeof out->args ||
        (bytes > 0 && (parameters == NULL || parameters[0] == NULL))) {
        return CU_ERROR_INVALID_VALUE;
    }
    *out = (struct module_call){ .function = function,
        .threads = threads_of(shape) };
    if (bytes > 0) {
        memcpy(out->args, parameters[0], bytes);
    }
    return CU_SUCCESS;
}

cu_result module_call_launch(
    const struct module_call *call, struct CUstream_st *stream)
{
    struct CUfunc_st *const function = call->function;

    if (function->context != stream->context) {
        return CU_ERROR_INVALID_HANDLE;
    }
    if (!function->loaded) { /* lazily, which waits for the GPU */
        sim_drain(function->context);
        function->loaded = 1;
    }
    return enqueue_kernel(call, stream);
}

static cu_result launch(struct CUfunc_st *function,
    const struct module_shape *shape, struct CUstream_st *stream_handle,
    void *const *parameters)
{
    struct CUstream_st *stream = NULL;
    struct module_call call;
    const cu_result resolved = stream_resolve(stream_handle, &stream);

    if (resolved != CU_SUCCESS) {
        return resolved;
    }
    if (function == NULL || function->context != stream->context) {
        return CU_ERROR_INVALID_HANDLE;
    }

    const cu_result made = module_call_make(function, shape, parameters, &call);

    return made != CU_SUCCESS ? made : module_call_launch(&call, stream);
}

cu_result cuLaunchKernel(struct CUfunc_st *handle, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
    unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
    struct CUstream_st *stream, void **parameters, void **extra)
{
    const struct module_shape shape = { .grid = { grid_x, grid_y, grid_z },
        .block = { block_x, block_y, block_z },
        .shared_bytes = shared_bytes };

    SIM_CALL(cuLaunchKernel, extra != NULL
                                 ? (cu_result)CU_ERROR_INVALID_VALUE
                                 : launch(handle, &shape, stream, parameters));
}
