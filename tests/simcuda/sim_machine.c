/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_decline.h"
#include "sim_entry.h"
#include "sim_setup.h"
#include "sim_trap.h"

enum {
    CONNECTIONS_DEFAULT = 8,
    CONNECTIONS_MOST = 32,
    IDLE_SLEEP_US = 1000,
    STEPS_PER_TURN = 64
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sim_machine machine;
static _Thread_local struct CUctx_st *current;
static _Thread_local int holds_lock;

#define SIM_CALL_NAME(member, symbol, version, parameters) #symbol,
static const char *const call_names[] = { CUDA_FUNCTIONS(SIM_CALL_NAME) };

void sim_lock(void)
{
    pthread_mutex_lock(&lock);
    holds_lock = 1;
}

void sim_unlock(void)
{
    holds_lock = 0;
    pthread_mutex_unlock(&lock);
}

int sim_is_locked(void)
{
    return holds_lock;
}

/* ---- Making the machine -------------------------------------------------- */

uint32_t sim_gpu_resource(uint32_t gpu, enum gpu_resource resource)
{
    return gpu * GPU_RESOURCES + (uint32_t)resource;
}

uint32_t sim_node_resource(uint32_t node, enum node_resource resource)
{
    return machine.profile.count * GPU_RESOURCES + node * NODE_RESOURCES +
           (uint32_t)resource;
}

int32_t sim_gpu_slot(uint32_t gpu, enum gpu_slot slot)
{
    return (int32_t)(gpu * GPU_SLOTS + (uint32_t)slot);
}

static void set_gpu_capacities(uint32_t gpu)
{
    const struct profile_gpu *profile = &machine.profile.gpus[gpu];
    const double capacities[GPU_RESOURCES] = {
        [GPU_PCIE_DOWN] = profile->pcie.down,
        [GPU_PCIE_UP] = profile->pcie.up,
        [GPU_PCIE_DUPLEX] = profile->pcie.duplex,
        [GPU_NVLINK_IN] = profile->nvlink.in,
        [GPU_NVLINK_OUT] = profile->nvlink.out,
        [GPU_NVLINK_DUPLEX] = profile->nvlink.duplex,
        [GPU_MEMORY] = profile->memory_rate,
        [GPU_REDIRECT] = profile->pcie.redirect_rate,
    };
    const uint32_t slots[GPU_SLOTS] = { [SLOT_H2D] = profile->engines_h2d,
        [SLOT_D2H] = profile->engines_d2h,
        [SLOT_PEER] = profile->engines_peer,
        [SLOT_LOCAL] = profile->engines_local,
        [SLOT_KERNEL] = 1 };

    for (uint32_t i = 0; i < GPU_RESOURCES; i++) {
        core_set_capacity(machine.core,
            sim_gpu_resource(gpu, (enum gpu_resource)i), capacities[i]);
    }
    for (uint32_t i = 0; i < GPU_SLOTS; i++) {
        core_set_slot(machine.core,
            (uint32_t)sim_gpu_slot(gpu, (enum gpu_slot)i), slots[i]);
    }
}

/* The last GPU of an uplink says what it carries. */
static void set_uplink_capacities(uint32_t gpu)
{
    const struct profile_link *link = &machine.profile.gpus[gpu].pcie;

    if (link->uplink == 0 || link->uplink > machine.profile.count) {
        return;
    }
    core_set_capacity(machine.core,
        sim_gpu_resource(link->uplink - 1, GPU_UPLINK_DOWN), link->uplink_rate);
    core_set_capacity(machine.core,
        sim_gpu_resource(link->uplink - 1, GPU_UPLINK_UP), link->uplink_rate);
}

static void set_node_capacities(uint32_t node)
{
    const struct profile_host *host = &machine.profile.host;
    const double capacities[NODE_RESOURCES] = { [NODE_READ] = host->read,
        [NODE_WRITE] = host->write,
        [NODE_TOTAL] = host->total,
        [NODE_IN] = host->between_nodes,
        [NODE_OUT] = host->between_nodes };

    for (uint32_t i = 0; i < NODE_RESOURCES; i++) {
        core_set_capacity(machine.core,
            sim_node_resource(node, (enum node_resource)i), capacities[i]);
    }
}

static int make_core(void)
{
    const struct profile *profile = &machine.profile;

    machine.core = core_open(profile->count * GPU_RESOURCES +
                                 (profile->host.nodes + 1) * NODE_RESOURCES,
        profile->count * GPU_SLOTS, profile->quantum_us * 1e3);
    if (machine.core == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < profile->count; i++) {
        set_gpu_capacities(i);
    }
    for (uint32_t i = 0; i < profile->count; i++) {
        set_uplink_capacities(i);
    }
    for (uint32_t i = 0; i < profile->host.nodes; i++) {
        set_node_capacities(i);
    }
    return 0;
}

static int make_gpus(void)
{
    uint64_t bytes = 0;

    machine.gpus =
        calloc((size_t)machine.profile.count + 1, sizeof *machine.gpus);
    if (machine.gpus == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < machine.profile.count; i++) {
        struct sim_gpu *gpu = &machine.gpus[i];

        gpu->profile = &machine.profile.gpus[i];
        gpu->context.gpu = i;
        bytes += (uint64_t)gpu->profile->memory_mib << 20;
    }
    /* Four times the memory: addresses are rarely used again. */
    return memory_open(&machine.memory, bytes * 4 + (UINT64_C(1) << 30));
}

static uint32_t read_connections(void)
{
    const char *text = secure_getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    const long number = text == NULL ? 0 : strtol(text, NULL, 10);

    if (number < 1) {
        return CONNECTIONS_DEFAULT;
    }
    return number > CONNECTIONS_MOST ? CONNECTIONS_MOST : (uint32_t)number;
}

/* NVBW_SIM_CALLS names a file that takes a line for each call: what there is
 * to make fail. NVBW_SIM_KERNELS: one for each kernel that is launched. */
static int calls_file = -1;
static int kernels_file = -1;

static int open_list(const char *name)
{
    return name == NULL
               ? -1
               : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

void sim_note_kernel(const char *name)
{
    if (kernels_file >= 0) {
        dprintf(kernels_file, "%d %s\n", getpid(), name);
    }
}

/* A machine that cannot be shared as it was told to be is none. */
static void share_machine(void)
{
    static struct segment alone;

    machine.shared = segment_open();
    if (machine.shared == NULL) {
        machine.shared = &alone;
        snprintf(machine.trouble, sizeof machine.trouble,
            "the file that NVBW_SIM_SEGMENT names cannot be used");
    }
}

static void make_machine(void)
{
    const char *loading = secure_getenv("CUDA_MODULE_LOADING");

    share_machine();

    calls_file = open_list(secure_getenv("NVBW_SIM_CALLS"));
    kernels_file = open_list(secure_getenv("NVBW_SIM_KERNELS"));
    machine.connections = read_connections();
    machine.eager = loading != NULL && strcmp(loading, "EAGER") == 0;
    if (machine.trouble[0] != '\0' ||
        setup_read(&machine.profile, &machine.faults, machine.trouble,
            sizeof machine.trouble) != 0) {
        /* Nobody asks a driver for words: the only way to say it. */
        dprintf(STDERR_FILENO, "simulated driver: %s\n", machine.trouble);
        machine.profile.count = 0;
        return;
    }
    if (make_core() != 0 || make_gpus() != 0) {
        snprintf(machine.trouble, sizeof machine.trouble,
            "not enough memory for the simulated machine");
        return;
    }
    machine.memory.sparse_above = (uint64_t)machine.profile.sparse_above_mib
                                  << 20;
    machine.memory.guard = trap_set;
}

struct sim_machine *sim_machine(void)
{
    pthread_once(&once, make_machine);
    return &machine;
}

/* ---- Calls --------------------------------------------------------------- */

static int needs_no_init(enum sim_call call)
{
    return call == SIM_cuInit || call == SIM_cuDriverGetVersion ||
           call == SIM_cuGetErrorName || call == SIM_cuGetErrorString;
}

/* A broken context is asked no more; devices still are. */
static int survives_sticky(enum sim_call call)
{
    static const char about_devices[] = "cuDevice";

    return needs_no_init(call) || call == SIM_cuCtxSetCurrent ||
           call == SIM_cuCtxGetCurrent ||
           strncmp(call_names[call], about_devices, strlen(about_devices)) == 0;
}

static void hang(void)
{
    for (;;) {
        pause();
    }
}

static cu_result strike(enum sim_call call)
{
    const char *name = call_names[call];
    const uint64_t number = segment_count(&machine.shared->calls[call]);

    if (calls_file >= 0) {
        dprintf(calls_file, "%d %s %" PRIu64 "\n", getpid(), name, number);
    }
    if (machine.faults.count == 0) {
        return CU_SUCCESS;
    }
    if (faults_find(&machine.faults, FAULT_CALL_HANG, name, number) != NULL) {
        sim_unlock();
        hang();
    }
    if (faults_find(&machine.faults, FAULT_CALL_LATE, name, number) != NULL) {
        sim_unlock();
        sleep(1);
        sim_lock();
    }
    if (faults_find(&machine.faults, FAULT_CALL_KILL, name, number) != NULL) {
        raise(SIGKILL);
    }
    const struct fault *fault =
        faults_find(&machine.faults, FAULT_CALL, name, number);

    return fault != NULL ? (cu_result)fault->value : CU_SUCCESS;
}

/* Errors after which a context is of no use. */
static int is_sticky(cu_result result)
{
    static const cu_result sticky[] = { CU_ERROR_DEVICE_UNAVAILABLE,
        CU_ERROR_ECC_UNCORRECTABLE, CU_ERROR_NVLINK_UNCORRECTABLE,
        CU_ERROR_CONTAINED, CU_ERROR_ILLEGAL_ADDRESS, CU_ERROR_LAUNCH_TIMEOUT,
        CU_ERROR_ASSERT, CU_ERROR_HARDWARE_STACK_ERROR,
        CU_ERROR_ILLEGAL_INSTRUCTION, CU_ERROR_MISALIGNED_ADDRESS,
        CU_ERROR_INVALID_ADDRESS_SPACE, CU_ERROR_INVALID_PC,
        CU_ERROR_LAUNCH_FAILED, CU_ERROR_TENSOR_MEMORY_LEAK,
        CU_ERROR_EXTERNAL_DEVICE };

    for (size_t i = 0; i < sizeof sticky / sizeof sticky[0]; i++) {
        if (sticky[i] == result) {
            return 1;
        }
    }
    return 0;
}

static cu_result refuse(enum sim_call call)
{
    const cu_result struck = strike(call);

    if (struck != CU_SUCCESS) {
        if (current != NULL && is_sticky(struck)) {
            current->sticky = struck;
        }
        return struck;
    }
    if (!machine.initialised && !needs_no_init(call)) {
        return CU_ERROR_NOT_INITIALIZED;
    }
    if (current != NULL && current->sticky != 0 && !survives_sticky(call)) {
        return current->sticky;
    }
    return CU_SUCCESS;
}

/* The machine's clock goes on while this process asks nothing of it. */
static void catch_up(void)
{
    const double now_ns = machine.core == NULL ? 0 : core_now(machine.core);
    const uint64_t latest = segment_pass(machine.shared, (uint64_t)now_ns);

    if (machine.core != NULL && (double)latest > now_ns + 1 &&
        core_idle(machine.core)) {
        core_pass(machine.core, (double)latest - now_ns);
    }
}

/* Before whatever is asked is planned. */
static void decline(void)
{
    for (uint32_t i = 0; i < machine.faults.count; i++) {
        const uint32_t number = machine.faults.list[i].value;

        if (machine.gpus == NULL || number >= machine.profile.count) {
            continue;
        }

        struct sim_gpu *gpu = &machine.gpus[number];
        const uint64_t made = __atomic_load_n(
            &machine.shared->gpus[number].operations, __ATOMIC_RELAXED);

        if (decline_gpu(&machine.faults, number, made + 1, &gpu->declined,
                gpu->profile)) {
            set_gpu_capacities(number);
        }
    }
}

cu_result sim_enter(enum sim_call call)
{
    sim_machine();
    sim_lock();
    catch_up();
    decline();
    const cu_result refused = refuse(call);

    if (refused != CU_SUCCESS) {
        sim_unlock();
    }
    return refused;
}

cu_result sim_leave(cu_result result)
{
    sim_unlock();
    return result;
}

struct CUctx_st *sim_current(void)
{
    return current;
}

void sim_set_current(struct CUctx_st *context)
{
    current = context;
}

struct CUctx_st *sim_context_of(uint32_t gpu)
{
    return &machine.gpus[gpu].context;
}

/* ---- Time ---------------------------------------------------------------- */

void sim_wait(int (*done)(void *arg), void *arg)
{
    uint32_t steps = 0;

    core_settle(machine.core);
    while (!done(arg)) {
        if (!core_step(machine.core)) {
            sim_unlock();
            usleep(IDLE_SLEEP_US);
            sim_lock();
            core_pass(machine.core, machine.profile.quantum_us * 1e3);
        } else if (++steps % STEPS_PER_TURN == 0) {
            sim_unlock();
            sched_yield();
            sim_lock();
        }
    }
}

static int context_idle(void *arg)
{
    const struct CUctx_st *context = arg;

    return context->sticky != 0 || core_group_idle(machine.core, context->gpu);
}

void sim_drain(struct CUctx_st *context)
{
    sim_wait(context_idle, context);
}

double sim_gpu_clock(const struct sim_gpu *gpu, double now_ns)
{
    return now_ns * (1 + gpu->profile->clock_drift_ppm * 1e-6) +
           gpu->profile->clock_offset_ms * 1e6;
}

/* ---- What only the simulated driver has ---------------------------------- */

uint64_t nvbw_sim_now_ns(void)
{
    sim_machine();
    if (machine.core == NULL) {
        return 0;
    }
    sim_lock();
    if (!core_step(machine.core)) {
        core_pass(machine.core, machine.profile.quantum_us * 1e3);
    }
    const uint64_t now = (uint64_t)llround(core_now(machine.core));

    sim_unlock();
    return now;
}

const char *nvbw_sim_announce(void)
{
    return sim_machine()->profile.name;
}

/* The host that it plays, or "". */
const char *nvbw_sim_host(void)
{
    return sim_machine()->profile.host_name;
}

const char *nvbw_sim_iommu(void)
{
    return sim_machine()->profile.host.iommu;
}

int nvbw_sim_acs_redirect(int device)
{
    const struct profile *profile = &sim_machine()->profile;

    return device >= 0 && (uint32_t)device < profile->count
               ? profile->gpus[device].pcie.acs != 0
               : -1;
}

const char *nvbw_sim_trouble(void)
{
    return sim_machine()->trouble;
}
