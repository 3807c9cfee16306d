/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* cuda_abi.h says the same as the toolkit's headers. The comparison happens
 * in the compiler; the program itself has nothing left to do. */
#include "cuda_abi.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#define CHECK_RESULT(name, number)                                             \
    _Static_assert((int)CUDA_##name == (number), #name);
CUDA_RESULTS(CHECK_RESULT)

#define CHECK_ATTRIBUTE(name, number)                                          \
    _Static_assert((int)CU_DEVICE_ATTRIBUTE_##name == (number), #name);
CUDA_ATTRIBUTES(CHECK_ATTRIBUTE)

#define CHECK_NUMBER(name, number, theirs)                                     \
    _Static_assert((int)(theirs) == (number), #name);
CUDA_NUMBERS(CHECK_NUMBER)

/* Structs are another type than theirs although alike, so a function that
 * takes one is compared by its result and the layout of the struct. */
#define CHECK_FUNCTION(member, symbol, version, parameters)                    \
    typedef cu_result member##_fn parameters;                                  \
    _Static_assert(                                                            \
        sizeof(member##_fn *) == sizeof(PFN_##symbol##_v##version), #symbol);
CUDA_FUNCTIONS(CHECK_FUNCTION)

#define SAME(member, symbol, version)                                          \
    _Static_assert(__builtin_types_compatible_p(                               \
                       member##_fn *, PFN_##symbol##_v##version),              \
        #symbol)
SAME(init, cuInit, 2000);
SAME(driver_version, cuDriverGetVersion, 2020);
SAME(error_name, cuGetErrorName, 6000);
SAME(error_string, cuGetErrorString, 6000);
SAME(device_count, cuDeviceGetCount, 2000);
SAME(device_get, cuDeviceGet, 2000);
SAME(device_name, cuDeviceGetName, 2000);
SAME(device_memory, cuDeviceTotalMem, 3020);
SAME(device_attribute, cuDeviceGetAttribute, 2000);
SAME(device_pci, cuDeviceGetPCIBusId, 4010);
SAME(device_can_access, cuDeviceCanAccessPeer, 4000);
SAME(device_p2p_attribute, cuDeviceGetP2PAttribute, 8000);
SAME(context_retain, cuDevicePrimaryCtxRetain, 7000);
SAME(context_release, cuDevicePrimaryCtxRelease, 11000);
SAME(context_set, cuCtxSetCurrent, 4000);
SAME(context_get, cuCtxGetCurrent, 4000);
SAME(context_synchronize, cuCtxSynchronize, 2000);
SAME(peer_enable, cuCtxEnablePeerAccess, 4000);
SAME(peer_disable, cuCtxDisablePeerAccess, 4000);
SAME(memory_info, cuMemGetInfo, 3020);
SAME(memory_alloc, cuMemAlloc, 3020);
SAME(memory_free, cuMemFree, 3020);
SAME(managed_alloc, cuMemAllocManaged, 6000);
SAME(host_alloc, cuMemHostAlloc, 2020);
SAME(host_free, cuMemFreeHost, 2000);
SAME(host_register, cuMemHostRegister, 6050);
SAME(host_unregister, cuMemHostUnregister, 4000);
SAME(host_address, cuMemHostGetDevicePointer, 3020);
SAME(copy, cuMemcpy, 4000);
SAME(copy_down, cuMemcpyHtoD, 3020);
SAME(copy_up, cuMemcpyDtoH, 3020);
SAME(copy_async, cuMemcpyAsync, 4000);
SAME(copy_down_async, cuMemcpyHtoDAsync, 3020);
SAME(copy_up_async, cuMemcpyDtoHAsync, 3020);
SAME(copy_peer_async, cuMemcpyPeerAsync, 4000);
SAME(set_bytes_async, cuMemsetD8Async, 3020);
SAME(set_words_async, cuMemsetD32Async, 3020);
SAME(stream_create, cuStreamCreate, 2000);
SAME(stream_destroy, cuStreamDestroy, 4000);
SAME(stream_query, cuStreamQuery, 2000);
SAME(stream_synchronize, cuStreamSynchronize, 2000);
SAME(stream_wait_event, cuStreamWaitEvent, 3020);
SAME(stream_wait_value, cuStreamWaitValue32, 11070);
SAME(stream_write_value, cuStreamWriteValue32, 11070);
SAME(event_create, cuEventCreate, 2000);
SAME(event_destroy, cuEventDestroy, 4000);
SAME(event_record, cuEventRecord, 2000);
SAME(event_query, cuEventQuery, 2000);
SAME(event_elapsed, cuEventElapsedTime, 2000);
SAME(event_synchronize, cuEventSynchronize, 2000);
SAME(graph_create, cuGraphCreate, 10000);
SAME(graph_instantiate, cuGraphInstantiateWithFlags, 11040);
SAME(graph_launch, cuGraphLaunch, 10000);
SAME(graph_exec_destroy, cuGraphExecDestroy, 10000);
SAME(graph_destroy, cuGraphDestroy, 10000);
SAME(module_load, cuModuleLoadData, 2000);
SAME(module_unload, cuModuleUnload, 2000);
SAME(module_function, cuModuleGetFunction, 2000);
SAME(function_attribute, cuFuncGetAttribute, 2020);
SAME(function_set_attribute, cuFuncSetAttribute, 9000);
SAME(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050);
SAME(launch, cuLaunchKernel, 4000);
SAME(vmm_release, cuMemRelease, 10020);
SAME(vmm_reserve, cuMemAddressReserve, 10020);
SAME(vmm_unreserve, cuMemAddressFree, 10020);
SAME(vmm_map, cuMemMap, 10020);
SAME(vmm_unmap, cuMemUnmap, 10020);
SAME(vmm_export, cuMemExportToShareableHandle, 10020);
SAME(vmm_import, cuMemImportFromShareableHandle, 10020);
SAME(multicast_add, cuMulticastAddDevice, 12010);
SAME(multicast_bind, cuMulticastBindMem, 12010);
SAME(multicast_unbind, cuMulticastUnbind, 12010);

#define SAME_LAYOUT(ours, our_member, theirs, their_member)                    \
    _Static_assert(                                                            \
        offsetof(ours, our_member) == offsetof(theirs, their_member), #ours)
_Static_assert(sizeof(cu_address) == sizeof(CUdeviceptr), "address");
_Static_assert(
    sizeof(cu_memory) == sizeof(CUmemGenericAllocationHandle), "memory");
_Static_assert(sizeof(struct cu_uuid) == sizeof(CUuuid), "uuid");
_Static_assert(sizeof(struct cu_location) == sizeof(CUmemLocation), "location");
_Static_assert(sizeof(struct cu_copy_attributes) == sizeof(CUmemcpyAttributes),
    "copy_attributes");
SAME_LAYOUT(struct cu_copy_attributes, source_order, CUmemcpyAttributes,
    srcAccessOrder);
SAME_LAYOUT(struct cu_copy_attributes, source, CUmemcpyAttributes, srcLocHint);
SAME_LAYOUT(
    struct cu_copy_attributes, destination, CUmemcpyAttributes, dstLocHint);
SAME_LAYOUT(struct cu_copy_attributes, flags, CUmemcpyAttributes, flags);
_Static_assert(
    sizeof(struct cu_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
    "kernel_node");
SAME_LAYOUT(struct cu_kernel_node, grid, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
SAME_LAYOUT(
    struct cu_kernel_node, block, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
SAME_LAYOUT(struct cu_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1,
    sharedMemBytes);
SAME_LAYOUT(struct cu_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v1,
    kernelParams);
_Static_assert(sizeof(struct cu_allocation_prop) == sizeof(CUmemAllocationProp),
    "allocation_prop");
SAME_LAYOUT(struct cu_allocation_prop, handle_types, CUmemAllocationProp,
    requestedHandleTypes);
SAME_LAYOUT(struct cu_allocation_prop, location, CUmemAllocationProp, location);
SAME_LAYOUT(struct cu_allocation_prop, flags, CUmemAllocationProp, allocFlags);
_Static_assert(sizeof(struct cu_access) == sizeof(CUmemAccessDesc), "access");
SAME_LAYOUT(struct cu_access, flags, CUmemAccessDesc, flags);
_Static_assert(
    sizeof(struct cu_multicast_prop) == sizeof(CUmulticastObjectProp),
    "multicast_prop");
SAME_LAYOUT(struct cu_multicast_prop, size, CUmulticastObjectProp, size);
SAME_LAYOUT(
    struct cu_multicast_prop, handle_types, CUmulticastObjectProp, handleTypes);
_Static_assert(
    sizeof(struct cu_fabric_handle) == sizeof(CUmemFabricHandle), "fabric");

int main(void)
{
    return 0;
}
