/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "state.h"

#include <stddef.h>
#include <string.h>

#define STATE_NAME(name, number, text) { number, text },
const struct name state_names[] = { STATE_LIST(STATE_NAME){ 0, NULL } };

#define STATUS_NAME(name, value, text) { (uint32_t)(value), #name },
const struct name status_names[] = { NVBW_STATUS_LIST(STATUS_NAME){ 0, NULL } };

#define SKIP_NAME(name, number, code, text) { number, code },
const struct name skip_names[] = { NVBW_SKIP_LIST(SKIP_NAME){ 0, NULL } };

const struct name unit_names[] = {
    { NVBW_UNIT_NONE, "none" },
    { NVBW_UNIT_BYTES_PER_SECOND, "bytes_per_second" },
    { NVBW_UNIT_NANOSECONDS, "nanoseconds" },
    { NVBW_UNIT_BYTES, "bytes" },
    { NVBW_UNIT_RATIO, "ratio" },
    { NVBW_UNIT_COUNT, "count" },
    { 0, NULL },
};

const struct name better_names[] = {
    { 0, "none" },
    { NVBW_HIGHER, "higher" },
    { NVBW_LOWER, "lower" },
    { 0, NULL },
};

const struct name type_names[] = {
    { NVBW_TYPE_BOOL, "bool" },
    { NVBW_TYPE_INT, "int" },
    { NVBW_TYPE_SIZE, "size" },
    { NVBW_TYPE_DURATION, "duration" },
    { NVBW_TYPE_REAL, "real" },
    { NVBW_TYPE_TEXT, "text" },
    { NVBW_TYPE_ENUM, "enum" },
    { NVBW_TYPE_GROUP, "group" },
    { 0, NULL },
};

const struct name initiator_names[] = {
    { 0, "none" },
    { NVBW_BY_CE, "ce" },
    { NVBW_BY_SM, "sm" },
    { NVBW_BY_TMA, "tma" },
    { NVBW_BY_CPU, "cpu" },
    { NVBW_BY_PLUGIN, "plugin" },
    { 0, NULL },
};

const struct name operation_names[] = {
    { 0, "none" },
    { NVBW_OP_COPY, "copy" },
    { NVBW_OP_READ, "read" },
    { NVBW_OP_WRITE, "write" },
    { NVBW_OP_SPLIT, "split" },
    { NVBW_OP_CHASE, "chase" },
    { NVBW_OP_TRIAD, "triad" },
    { NVBW_OP_SCALE, "scale" },
    { NVBW_OP_ADD, "add" },
    { NVBW_OP_DOT, "dot" },
    { NVBW_OP_STREAM_COPY, "stream_copy" },
    { 0, NULL },
};

const struct name memory_names[] = {
    { NVBW_MEM_NONE, "none" },
    { NVBW_MEM_PINNED, "pinned" },
    { NVBW_MEM_PAGEABLE, "pageable" },
    { NVBW_MEM_WRITE_COMBINED, "write_combined" },
    { NVBW_MEM_HUGE_PAGE, "huge_page" },
    { NVBW_MEM_MANAGED, "managed" },
    { NVBW_MEM_DEVICE, "device" },
    { NVBW_MEM_VMM, "vmm" },
    { NVBW_MEM_FABRIC, "fabric" },
    { NVBW_MEM_MULTICAST, "multicast" },
    { 0, NULL },
};

#define TOPOLOGY STATE_SKIP, REASON_TOPOLOGY
#define SETUP    STATE_SKIP, REASON_SETUP

const struct reason reason_table[] = {
    { "excluded", TOPOLOGY, "the plan or its device selection excludes it" },
    { "no_device", TOPOLOGY, "no GPU can be used here" },
    { "not_built", TOPOLOGY, "this build has no kernels for it" },
    { "too_few_devices", TOPOLOGY, "it needs more GPUs than are selected" },
    { "no_peer_access", TOPOLOGY,
        "the GPUs cannot address each other's memory" },
    { "no_nvlink", TOPOLOGY, "there is no NVLink between the GPUs" },
    { "no_multicast", TOPOLOGY, "the GPU has no NVLink multicast" },
    { "no_fabric", TOPOLOGY, "the GPU is not part of an NVLink fabric" },
    { "no_mpi", TOPOLOGY, "MPI is missing or was not asked for" },
    { "arch_too_old", TOPOLOGY, "it needs a newer GPU architecture" },
    { "missing_library", TOPOLOGY,
        "a library that the plugin needs is missing" },
    { "no_cpu", TOPOLOGY, "the NUMA node has no CPUs that can be used" },
    { "mig", TOPOLOGY, "it does not apply to a MIG slice" },
    { "driver_too_old", SETUP, "it needs a newer driver" },
    { "memory", SETUP, "there is not enough memory" },
    { "permission", SETUP, "the system does not permit it" },
    { "no_imex_channel", SETUP, "no IMEX channel can be used" },
    { "peer_not_visible", SETUP,
        "the other rank's GPU is not visible to this process" },
    { "multicast_disabled", SETUP,
        "NVLink multicast is switched off on this machine" },
    { "confidential_computing", SETUP,
        "it is not possible in confidential-computing mode" },

    { "contract", STATE_ERROR, REASON_CONTRACT,
        "the plugin broke the plugin contract" },
    { "protocol", STATE_ERROR, REASON_CONTRACT,
        "the worker sent what no worker may send" },
    { "refused", STATE_ERROR, REASON_CONTRACT,
        "the plugin was refused before it was loaded" },
    { "unsettled", STATE_ERROR, REASON_CONTRACT,
        "the testcase ended without a word on this cell" },
    { "driver", STATE_ERROR, REASON_OTHER, "the CUDA driver failed" },
    { "system", STATE_ERROR, REASON_OTHER, "the operating system failed" },
    { "gate_timeout", STATE_ERROR, REASON_OTHER,
        "work did not reach the GPU in time, twice in a row" },
    { "poisoned", STATE_ERROR, REASON_OTHER,
        "a CUDA error left the process without a usable GPU" },
    { "not_found", STATE_ERROR, REASON_OTHER,
        "there is no testcase of this name" },
    { "rank_lost", STATE_ERROR, REASON_OTHER,
        "another rank of the MPI job ended or did not answer" },
    { "facts_changed", STATE_ERROR, REASON_OTHER,
        "the worker saw another machine than the run was planned for" },

    { "wrong_data", STATE_MISMATCH, REASON_OTHER,
        "bytes arrived that were not sent" },

    { "interference_missing", STATE_INVALID, REASON_OTHER,
        "the background traffic did not cover the measured traffic" },
    { "clock", STATE_INVALID, REASON_OTHER,
        "host clock and GPU clock disagree" },
    { "serialised", STATE_INVALID, REASON_OTHER,
        "flows that should have run together ran one after another" },
    { "above_limit", STATE_INVALID, REASON_OTHER,
        "the figure is above what the hardware can do" },
    { "throttled", STATE_INVALID, REASON_OTHER,
        "the GPU was throttled while it was measured" },

    { "journal_full", STATE_NOT_RUN, REASON_OTHER,
        "the journal has reached the size that can be read again" },
    { "budget", STATE_NOT_RUN, REASON_OTHER, "the time budget was used up" },
    { "worker_ends", STATE_NOT_RUN, REASON_OTHER,
        "three workers in a row ended without settling a cell" },
    { "mpi_ended", STATE_NOT_RUN, REASON_OTHER,
        "the MPI worker had ended before" },
    { "stopped", STATE_NOT_RUN, REASON_OTHER, "the run was stopped" },
    { "health", STATE_NOT_RUN, REASON_OTHER,
        "the machine is not the one that the plan expects" },

    { "tainted", STATE_BLOCKED, REASON_OTHER,
        "the GPU stopped responding earlier in the run" },

    { "limit", STATE_FAIL, REASON_OTHER,
        "the figure is on the wrong side of its limit" },
    { "warn_band", STATE_WARN, REASON_OTHER,
        "the figure passes, but is near its limit" },
    { "no_limit", STATE_UNCHECKED, REASON_OTHER, "no limit is given for it" },
    { "no_base", STATE_UNCHECKED, REASON_OTHER,
        "its limit is a percentage of something that is not known" },
    { "cache_bound", STATE_UNCHECKED, REASON_OTHER,
        "a cache may have answered, and its limit is a share of the memory" },
    { NULL, 0, 0, NULL },
};

const struct reason *reason_find(uint32_t state, const char *code)
{
    for (const struct reason *reason = reason_table; reason->code != NULL;
         reason++) {
        if (code != NULL && reason->state == state &&
            strcmp(reason->code, code) == 0) {
            return reason;
        }
    }
    return NULL;
}
