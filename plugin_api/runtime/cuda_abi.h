/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The part of the CUDA driver's binary interface that the runtime uses,
 * declared anew so that nothing needs a toolkit to build. Where a toolkit is
 * installed test_cuda_abi.c compares every number, layout and signature here
 * with cuda.h.
 *
 * Handles are pointers to the driver's own incomplete structs, an address on
 * a device is a cu_address, a device is an int, a result is a cu_result. */
#ifndef NVBW_CUDA_ABI_H
#define NVBW_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;

typedef unsigned int cu_result;
typedef unsigned long long cu_address;
typedef unsigned long long cu_memory; /* handle of an allocation (VMM) */

struct cu_uuid {
    char bytes[16];
};

/* Virtual memory management. */
struct cu_location {
    unsigned int type; /* CU_AT_* */
    int id;
};
/* Of copies in one call; the locations are hints for managed memory. */
struct cu_copy_attributes {
    unsigned int source_order; /* CU_ORDER_OF_STREAM */
    struct cu_location source, destination;
    unsigned int flags;
};
struct cu_allocation_prop {
    unsigned int type;         /* CU_ALLOCATION_PINNED */
    unsigned int handle_types; /* CU_HANDLE_* */
    struct cu_location location;
    void *win32_meta_data;
    struct {
        unsigned char compression;
        unsigned char gpu_direct_rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
struct cu_access {
    struct cu_location location;
    unsigned int flags; /* CU_ACCESS_* */
};
struct cu_multicast_prop {
    unsigned int devices;
    size_t size;
    unsigned long long handle_types;
    unsigned long long flags;
};
struct cu_fabric_handle {
    unsigned char bytes[64];
};

/* A kernel as a node of a graph. */
struct cu_kernel_node {
    struct CUfunc_st *function;
    unsigned int grid[3], block[3];
    unsigned int shared_bytes;
    void **parameters, **extra;
};

/* Results: X(name, number); the name is that of cuda.h without CUDA_. */
#define CUDA_RESULTS(X)                                                        \
    X(SUCCESS, 0)                                                              \
    X(ERROR_INVALID_VALUE, 1)                                                  \
    X(ERROR_OUT_OF_MEMORY, 2)                                                  \
    X(ERROR_NOT_INITIALIZED, 3)                                                \
    X(ERROR_DEINITIALIZED, 4)                                                  \
    X(ERROR_STUB_LIBRARY, 34)                                                  \
    X(ERROR_DEVICE_UNAVAILABLE, 46)                                            \
    X(ERROR_NO_DEVICE, 100)                                                    \
    X(ERROR_INVALID_DEVICE, 101)                                               \
    X(ERROR_INVALID_IMAGE, 200)                                                \
    X(ERROR_INVALID_CONTEXT, 201)                                              \
    X(ERROR_NO_BINARY_FOR_GPU, 209)                                            \
    X(ERROR_ECC_UNCORRECTABLE, 214)                                            \
    X(ERROR_PEER_ACCESS_UNSUPPORTED, 217)                                      \
    X(ERROR_INVALID_PTX, 218)                                                  \
    X(ERROR_NVLINK_UNCORRECTABLE, 220)                                         \
    X(ERROR_JIT_COMPILER_NOT_FOUND, 221)                                       \
    X(ERROR_UNSUPPORTED_PTX_VERSION, 222)                                      \
    X(ERROR_JIT_COMPILATION_DISABLED, 223)                                     \
    X(ERROR_CONTAINED, 226)                                                    \
    X(ERROR_INVALID_SOURCE, 300)                                               \
    X(ERROR_SHARED_OBJECT_INIT_FAILED, 303)                                    \
    X(ERROR_OPERATING_SYSTEM, 304)                                             \
    X(ERROR_INVALID_HANDLE, 400)                                               \
    X(ERROR_ILLEGAL_STATE, 401)                                                \
    X(ERROR_NOT_FOUND, 500)                                                    \
    X(ERROR_NOT_READY, 600)                                                    \
    X(ERROR_ILLEGAL_ADDRESS, 700)                                              \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                      \
    X(ERROR_LAUNCH_TIMEOUT, 702)                                               \
    X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                  \
    X(ERROR_PEER_ACCESS_NOT_ENABLED, 705)                                      \
    X(ERROR_CONTEXT_IS_DESTROYED, 709)                                         \
    X(ERROR_ASSERT, 710)                                                       \
    X(ERROR_TOO_MANY_PEERS, 711)                                               \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                               \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                                   \
    X(ERROR_HARDWARE_STACK_ERROR, 714)                                         \
    X(ERROR_ILLEGAL_INSTRUCTION, 715)                                          \
    X(ERROR_MISALIGNED_ADDRESS, 716)                                           \
    X(ERROR_INVALID_ADDRESS_SPACE, 717)                                        \
    X(ERROR_INVALID_PC, 718)                                                   \
    X(ERROR_LAUNCH_FAILED, 719)                                                \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                 \
    X(ERROR_TENSOR_MEMORY_LEAK, 721)                                           \
    X(ERROR_NOT_PERMITTED, 800)                                                \
    X(ERROR_NOT_SUPPORTED, 801)                                                \
    X(ERROR_SYSTEM_NOT_READY, 802)                                             \
    X(ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                       \
    X(ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                               \
    X(ERROR_MPS_CONNECTION_FAILED, 805)                                        \
    X(ERROR_MPS_RPC_FAILURE, 806)                                              \
    X(ERROR_MPS_SERVER_NOT_READY, 807)                                         \
    X(ERROR_MPS_MAX_CLIENTS_REACHED, 808)                                      \
    X(ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)                                  \
    X(ERROR_MPS_CLIENT_TERMINATED, 810)                                        \
    X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                   \
    X(ERROR_TIMEOUT, 909)                                                      \
    X(ERROR_EXTERNAL_DEVICE, 911)                                              \
    X(ERROR_FUNCTION_NOT_LOADED, 913)                                          \
    X(ERROR_UNKNOWN, 999)

#define CUDA_RESULT_ENUM(name, number) CU_##name = number,
enum { CUDA_RESULTS(CUDA_RESULT_ENUM) CU_RESULT_END = 1000 };

/* Attributes of a device: X(name, number); cuda.h: CU_DEVICE_ATTRIBUTE_. */
#define CUDA_ATTRIBUTES(X)                                                     \
    X(MAX_SHARED_MEMORY_PER_BLOCK, 8)                                          \
    X(CLOCK_RATE, 13)                                                          \
    X(MULTIPROCESSOR_COUNT, 16)                                                \
    X(KERNEL_EXEC_TIMEOUT, 17)                                                 \
    X(INTEGRATED, 18)                                                          \
    X(CAN_MAP_HOST_MEMORY, 19)                                                 \
    X(COMPUTE_MODE, 20)                                                        \
    X(ECC_ENABLED, 32)                                                         \
    X(PCI_BUS_ID, 33)                                                          \
    X(PCI_DEVICE_ID, 34)                                                       \
    X(MEMORY_CLOCK_RATE, 36)                                                   \
    X(GLOBAL_MEMORY_BUS_WIDTH, 37)                                             \
    X(L2_CACHE_SIZE, 38)                                                       \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 39)                                      \
    X(ASYNC_ENGINE_COUNT, 40)                                                  \
    X(UNIFIED_ADDRESSING, 41)                                                  \
    X(PCI_DOMAIN_ID, 50)                                                       \
    X(COMPUTE_CAPABILITY_MAJOR, 75)                                            \
    X(COMPUTE_CAPABILITY_MINOR, 76)                                            \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                \
    X(MANAGED_MEMORY, 83)                                                      \
    X(PAGEABLE_MEMORY_ACCESS, 88)                                              \
    X(CONCURRENT_MANAGED_ACCESS, 89)                                           \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                   \
    X(HOST_REGISTER_SUPPORTED, 99)                                             \
    X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100)                       \
    X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                \
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                        \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                      \
    X(GPU_DIRECT_RDMA_SUPPORTED, 116)                                          \
    X(HANDLE_TYPE_FABRIC_SUPPORTED, 128)                                       \
    X(NUMA_CONFIG, 130)                                                        \
    X(NUMA_ID, 131)                                                            \
    X(MULTICAST_SUPPORTED, 132)                                                \
    X(HOST_NUMA_ID, 134)

#define CUDA_ATTRIBUTE_ENUM(name, number) CU_ATTR_##name = number,
enum { CUDA_ATTRIBUTES(CUDA_ATTRIBUTE_ENUM) CU_ATTR_END = 1000 };

/* Other numbers: X(our name, number, name in cuda.h). */
#define CUDA_NUMBERS(X)                                                        \
    X(CU_STREAM_IS_NON_BLOCKING, 1, CU_STREAM_NON_BLOCKING)                    \
    X(CU_EVENT_IS_DEFAULT, 0, CU_EVENT_DEFAULT)                                \
    X(CU_EVENT_HAS_NO_TIMING, 2, CU_EVENT_DISABLE_TIMING)                      \
    X(CU_HOST_ALLOC_PORTABLE, 1, CU_MEMHOSTALLOC_PORTABLE)                     \
    X(CU_HOST_ALLOC_MAPPED, 2, CU_MEMHOSTALLOC_DEVICEMAP)                      \
    X(CU_HOST_ALLOC_WRITE_COMBINED, 4, CU_MEMHOSTALLOC_WRITECOMBINED)          \
    X(CU_HOST_REGISTER_PORTABLE, 1, CU_MEMHOSTREGISTER_PORTABLE)               \
    X(CU_HOST_REGISTER_MAPPED, 2, CU_MEMHOSTREGISTER_DEVICEMAP)                \
    X(CU_MANAGED_GLOBAL, 1, CU_MEM_ATTACH_GLOBAL)                              \
    X(CU_WAIT_GEQ, 0, CU_STREAM_WAIT_VALUE_GEQ)                                \
    X(CU_WAIT_EQ, 1, CU_STREAM_WAIT_VALUE_EQ)                                  \
    X(CU_WRITE_DEFAULT, 0, CU_STREAM_WRITE_VALUE_DEFAULT)                      \
    X(CU_P2P_PERFORMANCE_RANK, 1, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)    \
    X(CU_P2P_ACCESS, 2, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED)              \
    X(CU_FUNC_MAX_THREADS, 0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)         \
    X(CU_FUNC_MAX_DYNAMIC_SHARED, 8,                                           \
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)                       \
    X(CU_AT_DEVICE, 1, CU_MEM_LOCATION_TYPE_DEVICE)                            \
    X(CU_AT_HOST, 2, CU_MEM_LOCATION_TYPE_HOST)                                \
    X(CU_AT_NODE, 3, CU_MEM_LOCATION_TYPE_HOST_NUMA)                           \
    X(CU_ALLOCATION_PINNED, 1, CU_MEM_ALLOCATION_TYPE_PINNED)                  \
    X(CU_HANDLE_NONE, 0, CU_MEM_HANDLE_TYPE_NONE)                              \
    X(CU_HANDLE_DESCRIPTOR, 1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)       \
    X(CU_HANDLE_FABRIC, 8, CU_MEM_HANDLE_TYPE_FABRIC)                          \
    X(CU_ACCESS_NONE, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE)                        \
    X(CU_ACCESS_READ_WRITE, 3, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)             \
    X(CU_GRANULARITY_MINIMUM, 0, CU_MEM_ALLOC_GRANULARITY_MINIMUM)             \
    X(CU_GRANULARITY_RECOMMENDED, 1, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)     \
    X(CU_MULTICAST_MINIMUM, 0, CU_MULTICAST_GRANULARITY_MINIMUM)               \
    X(CU_MULTICAST_RECOMMENDED, 1, CU_MULTICAST_GRANULARITY_RECOMMENDED)       \
    X(CU_PROC_FOUND, 0, CU_GET_PROC_ADDRESS_SUCCESS)

#define CUDA_NUMBER_ENUM(name, number, theirs) name = number,
enum { CUDA_NUMBERS(CUDA_NUMBER_ENUM) CU_NUMBERS_END };

/* Every function of the driver that the runtime uses:
 * X(member, symbol, version, parameters). The version is the one in which the
 * signature given here appeared; cuGetProcAddress is asked for exactly that,
 * so a newer driver still gives this one. */
#define CUDA_FUNCTIONS(X)                                                      \
    X(init, cuInit, 2000, (unsigned int flags))                                \
    X(driver_version, cuDriverGetVersion, 2020, (int *out))                    \
    X(error_name, cuGetErrorName, 6000, (cu_result error, const char **out))   \
    X(error_string, cuGetErrorString, 6000,                                    \
        (cu_result error, const char **out))                                   \
    X(device_count, cuDeviceGetCount, 2000, (int *out))                        \
    X(device_get, cuDeviceGet, 2000, (int *out, int ordinal))                  \
    X(device_name, cuDeviceGetName, 2000, (char *out, int size, int device))   \
    X(device_uuid, cuDeviceGetUuid, 11040, (struct cu_uuid * out, int device)) \
    X(device_memory, cuDeviceTotalMem, 3020, (size_t * out, int device))       \
    X(device_attribute, cuDeviceGetAttribute, 2000,                            \
        (int *out, unsigned int attribute, int device))                        \
    X(device_pci, cuDeviceGetPCIBusId, 4010,                                   \
        (char *out, int size, int device))                                     \
    X(device_can_access, cuDeviceCanAccessPeer, 4000,                          \
        (int *out, int device, int peer))                                      \
    X(device_p2p_attribute, cuDeviceGetP2PAttribute, 8000,                     \
        (int *out, unsigned int attribute, int from, int to))                  \
    X(context_retain, cuDevicePrimaryCtxRetain, 7000,                          \
        (struct CUctx_st * *out, int device))                                  \
    X(context_release, cuDevicePrimaryCtxRelease, 11000, (int device))         \
    X(context_set, cuCtxSetCurrent, 4000, (struct CUctx_st * context))         \
    X(context_get, cuCtxGetCurrent, 4000, (struct CUctx_st * *out))            \
    X(context_synchronize, cuCtxSynchronize, 2000, (void))                     \
    X(peer_enable, cuCtxEnablePeerAccess, 4000,                                \
        (struct CUctx_st * peer, unsigned int flags))                          \
    X(peer_disable, cuCtxDisablePeerAccess, 4000, (struct CUctx_st * peer))    \
    X(memory_info, cuMemGetInfo, 3020,                                         \
        (size_t * out_free, size_t * out_total))                               \
    X(memory_alloc, cuMemAlloc, 3020, (cu_address * out, size_t bytes))        \
    X(memory_free, cuMemFree, 3020, (cu_address address))                      \
    X(managed_alloc, cuMemAllocManaged, 6000,                                  \
        (cu_address * out, size_t bytes, unsigned int flags))                  \
    X(host_alloc, cuMemHostAlloc, 2020,                                        \
        (void **out, size_t bytes, unsigned int flags))                        \
    X(host_free, cuMemFreeHost, 2000, (void *memory))                          \
    X(host_register, cuMemHostRegister, 6050,                                  \
        (void *memory, size_t bytes, unsigned int flags))                      \
    X(host_unregister, cuMemHostUnregister, 4000, (void *memory))              \
    X(host_address, cuMemHostGetDevicePointer, 3020,                           \
        (cu_address * out, void *memory, unsigned int flags))                  \
    X(copy, cuMemcpy, 4000, (cu_address dst, cu_address src, size_t bytes))    \
    X(copy_down, cuMemcpyHtoD, 3020,                                           \
        (cu_address dst, const void *src, size_t bytes))                       \
    X(copy_up, cuMemcpyDtoH, 3020, (void *dst, cu_address src, size_t bytes))  \
    X(copy_async, cuMemcpyAsync, 4000,                                         \
        (cu_address dst, cu_address src, size_t bytes,                         \
            struct CUstream_st * stream))                                      \
    X(copy_down_async, cuMemcpyHtoDAsync, 3020,                                \
        (cu_address dst, const void *src, size_t bytes,                        \
            struct CUstream_st *stream))                                       \
    X(copy_up_async, cuMemcpyDtoHAsync, 3020,                                  \
        (void *dst, cu_address src, size_t bytes, struct CUstream_st *stream)) \
    X(copy_peer_async, cuMemcpyPeerAsync, 4000,                                \
        (cu_address dst, struct CUctx_st * dst_context, cu_address src,        \
            struct CUctx_st * src_context, size_t bytes,                       \
            struct CUstream_st * stream))                                      \
    X(copy_batch_async, cuMemcpyBatchAsync, 12080,                             \
        (cu_address * dsts, cu_address * srcs, size_t * sizes, size_t count,   \
            struct cu_copy_attributes * attributes, size_t * first,            \
            size_t attributes_count, size_t * out_failed,                      \
            struct CUstream_st * stream))                                      \
    X(set_bytes_async, cuMemsetD8Async, 3020,                                  \
        (cu_address dst, unsigned char value, size_t count,                    \
            struct CUstream_st *stream))                                       \
    X(set_words_async, cuMemsetD32Async, 3020,                                 \
        (cu_address dst, unsigned int value, size_t count,                     \
            struct CUstream_st *stream))                                       \
    X(stream_create, cuStreamCreate, 2000,                                     \
        (struct CUstream_st * *out, unsigned int flags))                       \
    X(stream_destroy, cuStreamDestroy, 4000, (struct CUstream_st * stream))    \
    X(stream_query, cuStreamQuery, 2000, (struct CUstream_st * stream))        \
    X(stream_synchronize, cuStreamSynchronize, 2000,                           \
        (struct CUstream_st * stream))                                         \
    X(stream_wait_event, cuStreamWaitEvent, 3020,                              \
        (struct CUstream_st * stream, struct CUevent_st * event,               \
            unsigned int flags))                                               \
    X(stream_wait_value, cuStreamWaitValue32, 11070,                           \
        (struct CUstream_st * stream, cu_address address, uint32_t value,      \
            unsigned int flags))                                               \
    X(stream_write_value, cuStreamWriteValue32, 11070,                         \
        (struct CUstream_st * stream, cu_address address, uint32_t value,      \
            unsigned int flags))                                               \
    X(event_create, cuEventCreate, 2000,                                       \
        (struct CUevent_st * *out, unsigned int flags))                        \
    X(event_destroy, cuEventDestroy, 4000, (struct CUevent_st * event))        \
    X(event_record, cuEventRecord, 2000,                                       \
        (struct CUevent_st * event, struct CUstream_st * stream))              \
    X(event_query, cuEventQuery, 2000, (struct CUevent_st * event))            \
    X(event_elapsed, cuEventElapsedTime, 2000,                                 \
        (float *out_ms, struct CUevent_st *start, struct CUevent_st *end))     \
    X(module_load, cuModuleLoadData, 2000,                                     \
        (struct CUmod_st * *out, const void *image))                           \
    X(module_unload, cuModuleUnload, 2000, (struct CUmod_st * module))         \
    X(module_function, cuModuleGetFunction, 2000,                              \
        (struct CUfunc_st * *out, struct CUmod_st * module, const char *name)) \
    X(function_attribute, cuFuncGetAttribute, 2020,                            \
        (int *out, unsigned int attribute, struct CUfunc_st *function))        \
    X(function_set_attribute, cuFuncSetAttribute, 9000,                        \
        (struct CUfunc_st * function, unsigned int attribute, int value))      \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,            \
        (int *out, struct CUfunc_st *function, int threads,                    \
            size_t shared_bytes))                                              \
    X(launch, cuLaunchKernel, 4000,                                            \
        (struct CUfunc_st * function, unsigned int grid_x,                     \
            unsigned int grid_y, unsigned int grid_z, unsigned int block_x,    \
            unsigned int block_y, unsigned int block_z,                        \
            unsigned int shared_bytes, struct CUstream_st *stream,             \
            void **parameters, void **extra))                                  \
    X(event_synchronize, cuEventSynchronize, 2000,                             \
        (struct CUevent_st * event))                                           \
    X(graph_create, cuGraphCreate, 10000,                                      \
        (struct CUgraph_st * *out, unsigned int flags))                        \
    X(graph_add_kernel, cuGraphAddKernelNode, 10000,                           \
        (struct CUgraphNode_st * *out, struct CUgraph_st * graph,              \
            struct CUgraphNode_st *const *after, size_t after_count,           \
            const struct cu_kernel_node *node))                                \
    X(graph_instantiate, cuGraphInstantiateWithFlags, 11040,                   \
        (struct CUgraphExec_st * *out, struct CUgraph_st * graph,              \
            unsigned long long flags))                                         \
    X(graph_launch, cuGraphLaunch, 10000,                                      \
        (struct CUgraphExec_st * graph, struct CUstream_st * stream))          \
    X(graph_exec_destroy, cuGraphExecDestroy, 10000,                           \
        (struct CUgraphExec_st * graph))                                       \
    X(graph_destroy, cuGraphDestroy, 10000, (struct CUgraph_st * graph))       \
    X(vmm_granularity, cuMemGetAllocationGranularity, 10020,                   \
        (size_t * out, const struct cu_allocation_prop *prop,                  \
            unsigned int option))                                              \
    X(vmm_create, cuMemCreate, 10020,                                          \
        (cu_memory * out, size_t bytes, const struct cu_allocation_prop *prop, \
            unsigned long long flags))                                         \
    X(vmm_release, cuMemRelease, 10020, (cu_memory memory))                    \
    X(vmm_reserve, cuMemAddressReserve, 10020,                                 \
        (cu_address * out, size_t bytes, size_t alignment, cu_address near,    \
            unsigned long long flags))                                         \
    X(vmm_unreserve, cuMemAddressFree, 10020,                                  \
        (cu_address address, size_t bytes))                                    \
    X(vmm_map, cuMemMap, 10020,                                                \
        (cu_address address, size_t bytes, size_t offset, cu_memory memory,    \
            unsigned long long flags))                                         \
    X(vmm_unmap, cuMemUnmap, 10020, (cu_address address, size_t bytes))        \
    X(vmm_access, cuMemSetAccess, 10020,                                       \
        (cu_address address, size_t bytes, const struct cu_access *access,     \
            size_t count))                                                     \
    X(vmm_export, cuMemExportToShareableHandle, 10020,                         \
        (void *out, cu_memory memory, unsigned int handle_type,                \
            unsigned long long flags))                                         \
    X(vmm_import, cuMemImportFromShareableHandle, 10020,                       \
        (cu_memory * out, void *handle, unsigned int handle_type))             \
    X(multicast_create, cuMulticastCreate, 12010,                              \
        (cu_memory * out, const struct cu_multicast_prop *prop))               \
    X(multicast_add, cuMulticastAddDevice, 12010,                              \
        (cu_memory multicast, int device))                                     \
    X(multicast_bind, cuMulticastBindMem, 12010,                               \
        (cu_memory multicast, size_t multicast_offset, cu_memory memory,       \
            size_t offset, size_t bytes, unsigned long long flags))            \
    X(multicast_unbind, cuMulticastUnbind, 12010,                              \
        (cu_memory multicast, int device, size_t offset, size_t bytes))        \
    X(multicast_granularity, cuMulticastGetGranularity, 12010,                 \
        (size_t * out, const struct cu_multicast_prop *prop,                   \
            unsigned int option))

/* The two ways to ask for a function; exported under these very names. */
typedef cu_result cuda_get_proc_v2_fn(const char *symbol, void **out,
    int version, uint64_t flags, unsigned int *out_found);
typedef cu_result cuda_get_proc_fn(
    const char *symbol, void **out, int version, uint64_t flags);

#define CUDA_GET_PROC_V2 "cuGetProcAddress_v2" /* since 12.0 */
#define CUDA_GET_PROC    "cuGetProcAddress"    /* since 11.3 */

/* What only the simulated driver exports: the time of its virtual clock. */
typedef uint64_t cuda_sim_now_fn(void);
#define CUDA_SIM_NOW "nvbw_sim_now_ns"
/* The first line of an image that only the simulated driver accepts; a name
 * of a kernel in each line that follows. */
#define CUDA_SIM_IMAGE "NVBWSIM1\n"

#endif
