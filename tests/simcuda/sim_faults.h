/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Faults: what goes wrong on purpose, as NVBW_SIM_FAULTS or a profile says.
 * Items separated by commas or semicolons:
 *
 *   FUNCTION:N=CODE    the N-th call returns CODE
 *   FUNCTION:N+=CODE   so does every later one
 *   FUNCTION:hang      the first call never returns; FUNCTION:N=hang
 *   FUNCTION:N=late    the N-th call takes a second of real time; N+=late: all
 *                      later ones too
 *   copy:flip=N        the N-th copy arrives with one bit wrong
 *   copy:skip=N        the N-th copy moves nothing
 *   peer:drop          copies between GPUs move nothing, and what a kernel
 *                      fills in another GPU's memory is lost
 *   multicast:drop=G   what is stored to all GPUs at once does not arrive in
 *                      GPU G
 *   stream:hang=N      the N-th operation and all behind it never end
 *   kernel:fail=N      the N-th kernel ends with a sticky error (719)
 *   kernel:serial      a GPU runs one kernel at a time
 *   gpu_lost=G@N       GPU G is gone from its N-th operation on
 *   slow=G@N           GPU G and its links run at half from its N-th operation
 *                      on; nobody tells
 *   pcie=G@N           its PCIe link has half of its lanes from then on
 *   nvlink=G@N         it has half of its NVLinks from then on
 *   busy=G@N           another process uses it from then on
 *   ecc=G@N            each of its operations from then on counts an
 *                      uncorrected error
 *   replays=G@N        each of its operations from then on counts a replay of
 *                      its PCIe link
 *   nvlink_errors=G@N  each counts a replay, a recovery and two CRC errors of
 *                      its first NVLink
 *   remap=G@N          each remaps a row of its memory
 *   throttle=G@N       heat holds its clocks down from then on, says NVML
 *   power_cap=G@N      its power limit does
 *   xid=G@N            one Xid event then
 *   alloc_above=SIZE   larger allocations are refused; 1GiB, 512MiB, 4096
 *
 * Parsing and looking up are pure. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stddef.h>
#include <stdint.h>

enum { FAULTS_MAX = 512, FAULT_NAME = 56 };

enum fault_kind {
    FAULT_CALL,
    FAULT_CALL_HANG,
    FAULT_CALL_LATE,
    FAULT_CALL_KILL,
    FAULT_COPY_FLIP,
    FAULT_COPY_SKIP,
    FAULT_PEER_DROP,
    FAULT_MULTICAST_DROP,
    FAULT_STREAM_HANG,
    FAULT_KERNEL_FAIL,
    FAULT_KERNEL_SERIAL,
    FAULT_GPU_LOST,
    FAULT_GPU_SLOW,
    FAULT_GPU_PCIE,
    FAULT_GPU_NVLINK,
    FAULT_GPU_BUSY,
    FAULT_GPU_ECC,
    FAULT_GPU_REPLAYS,
    FAULT_GPU_LINK_ERRORS,
    FAULT_GPU_REMAP,
    FAULT_GPU_HOT,
    FAULT_GPU_CAPPED,
    FAULT_GPU_XID,
    FAULT_ALLOC_ABOVE
};

struct fault {
    enum fault_kind kind;
    char function[FAULT_NAME];
    uint64_t number;  /* of the call, copy, operation; bytes for ALLOC_ABOVE */
    uint32_t onwards; /* and all later ones */
    uint32_t value;   /* code, or GPU */
};

struct faults {
    struct fault list[FAULTS_MAX];
    uint32_t count;
};

/* Adds the items of text. 0, or -1 and a sentence about the first bad one. */
int faults_parse(
    const char *text, struct faults *faults, char *trouble, size_t size);
/* The fault of this kind that strikes at this number, or NULL. function: for
 * the kinds of calls, else NULL. */
const struct fault *faults_find(const struct faults *faults,
    enum fault_kind kind, const char *function, uint64_t number);
/* How many operations of this GPU the fault of this kind has struck, when so
 * many were made; 0: it has none, or it is to come. */
uint64_t faults_of_gpu(const struct faults *faults, enum fault_kind kind,
    uint32_t gpu, uint64_t operations);

#endif
