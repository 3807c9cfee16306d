/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the CUDA driver says of its devices. No context is made. */
#include "topology_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <dlfcn.h>

enum { NAME_BYTES = 256, PCI_BYTES = 32, COMPUTE_STEP = 10 };

struct attribute {
    unsigned int number;
    size_t offset; /* of an int32_t or uint32_t in gpu_facts */
};

static const struct attribute attributes[] = {
    { CU_ATTR_MULTIPROCESSOR_COUNT, offsetof(struct gpu_facts, units) },
    { CU_ATTR_GLOBAL_MEMORY_BUS_WIDTH,
        offsetof(struct gpu_facts, memory_bus_bits) },
    { CU_ATTR_ASYNC_ENGINE_COUNT, offsetof(struct gpu_facts, copy_engines) },
    { CU_ATTR_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
        offsetof(struct gpu_facts, coherent_link) },
    { CU_ATTR_KERNEL_EXEC_TIMEOUT,
        offsetof(struct gpu_facts, display_watchdog) },
    { CU_ATTR_MULTICAST_SUPPORTED, offsetof(struct gpu_facts, multicast) },
    { CU_ATTR_HANDLE_TYPE_FABRIC_SUPPORTED,
        offsetof(struct gpu_facts, fabric) },
    { CU_ATTR_HOST_NUMA_ID, offsetof(struct gpu_facts, near_node) },
};

static int ask(
    const struct topology *topology, unsigned int number, int device, int *out)
{
    return topology->cuda.device_attribute(out, number, device) == CU_SUCCESS;
}

static void read_attributes(
    const struct topology *topology, struct gpu_facts *gpu)
{
    int value = 0;
    int minor = 0;

    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (ask(topology, attributes[i].number, gpu->device, &value)) {
            memcpy((char *)gpu + attributes[i].offset, &value, sizeof value);
        }
    }
    if (ask(topology, CU_ATTR_COMPUTE_CAPABILITY_MAJOR, gpu->device, &value) &&
        ask(topology, CU_ATTR_COMPUTE_CAPABILITY_MINOR, gpu->device, &minor)) {
        gpu->compute = (uint32_t)(value * COMPUTE_STEP + minor);
    }
    if (ask(topology, CU_ATTR_L2_CACHE_SIZE, gpu->device, &value)) {
        gpu->l2_bytes = (uint64_t)value;
    }
    if (ask(topology, CU_ATTR_MEMORY_CLOCK_RATE, gpu->device, &value)) {
        gpu->memory_clock_hz = (uint64_t)value * 1000;
    }
}

static const char *uuid_text(struct arena *arena, const struct cu_uuid *uuid)
{
    enum { GROUP_ENDS = 1 << 3 | 1 << 5 | 1 << 7 | 1 << 9 };
    char text[64] = "GPU-";
    size_t at = 4;

    for (int i = 0; i < 16; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%02x%s",
            (unsigned char)uuid->bytes[i], (GROUP_ENDS >> i) & 1 ? "-" : "");
    }
    return arena_text(arena, text);
}

static void read_identity(
    const struct topology *topology, struct gpu_facts *gpu)
{
    const struct cuda_api *const cuda = &topology->cuda;
    char name[NAME_BYTES] = "";
    char pci[PCI_BYTES] = "";
    struct cu_uuid uuid;
    size_t bytes = 0;

    if (cuda->device_name(name, sizeof name, gpu->device) == CU_SUCCESS) {
        gpu->name = arena_text(topology->arena, name);
    }
    if (cuda->device_uuid(&uuid, gpu->device) == CU_SUCCESS) {
        gpu->uuid = uuid_text(topology->arena, &uuid);
    }
    if (cuda->device_pci(pci, sizeof pci, gpu->device) == CU_SUCCESS) {
        for (char *at = pci; *at != '\0'; at++) {
            *at = (char)tolower((unsigned char)*at);
        }
        gpu->pci = arena_text(topology->arena, pci);
    }
    if (cuda->device_memory(&bytes, gpu->device) == CU_SUCCESS) {
        gpu->memory_bytes = bytes;
    }
}

/* What this function of the simulated driver says; NULL: nothing. */
static const char *simulated_text(struct topology *topology, const char *name)
{
    typedef const char *text_fn(void);
    void *const address = dlsym(topology->cuda.library, name);
    text_fn *text = NULL;

    memcpy(&text, &address, sizeof address);
    return text == NULL || text()[0] == '\0'
               ? NULL
               : arena_text(topology->arena, text());
}

/* The simulated driver says so by a function that no other has. What files tell
 * of this machine is not true of the simulated one. */
static void look_for_simulator(struct topology *topology)
{
    struct facts *const facts = topology->facts;

    if (dlsym(topology->cuda.library, "nvbw_sim_announce") == NULL) {
        return;
    }

    const char *const host = simulated_text(topology, "nvbw_sim_host");

    facts->simulated = 1;
    facts->profile = simulated_text(topology, "nvbw_sim_announce");
    facts->iommu = simulated_text(topology, "nvbw_sim_iommu");
    facts->host = host != NULL ? host : facts->host;
}

static void read_simulated(struct topology *topology, struct gpu_facts *gpu)
{
    typedef int redirect_fn(int device);
    void *const address =
        dlsym(topology->cuda.library, "nvbw_sim_acs_redirect");
    redirect_fn *redirect = NULL;

    memcpy(&redirect, &address, sizeof address);
    if (redirect != NULL) {
        gpu->pcie.acs_redirect = redirect(gpu->device);
        gpu->pcie.acs_redirect_switch = gpu->pcie.acs_redirect;
    }
}

static int32_t add_device(
    struct topology *topology, int ordinal, struct error *err)
{
    struct gpu_facts *const gpu = topology_add_gpu(topology);

    FAIL_IF(gpu == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    if (topology->cuda.device_get(&gpu->device, ordinal) != CU_SUCCESS) {
        gpu->device = ordinal;
    }
    read_identity(topology, gpu);
    read_attributes(topology, gpu);
    if (topology->facts->simulated) {
        read_simulated(topology, gpu);
    }
    return NVBW_OK;
}

static int32_t start(
    struct topology *topology, const char *driver_file, struct error *err)
{
    TRY(cuda_open(driver_file, &topology->cuda, err));
    look_for_simulator(topology);
    return cuda_start(&topology->cuda, err);
}

int32_t topology_cuda(
    struct topology *topology, const char *driver_file, struct error *err)
{
    struct facts *const facts = topology->facts;
    struct error why = { 0 };
    int count = 0;

    if (start(topology, driver_file, &why) < 0) {
        facts->driver_trouble = arena_text(topology->arena, why.text);
        return NVBW_OK;
    }
    facts->cuda_version = (uint32_t)topology->cuda.version;
    if (topology->cuda.device_count(&count) != CU_SUCCESS || count == 0) {
        facts->driver_trouble = "the driver offers no GPU";
        return NVBW_OK;
    }
    topology->has_cuda = 1;
    for (int i = 0; i < count; i++) {
        TRY(add_device(topology, i, err));
    }
    return NVBW_OK;
}

void topology_access(struct topology *topology)
{
    struct facts *const facts = topology->facts;

    for (uint32_t i = 0; topology->has_cuda && i < facts->pairs_count; i++) {
        struct pair_facts *const pair = &facts->pairs[i];
        const int32_t from = facts->gpus[pair->from].device;
        const int32_t to = facts->gpus[pair->to].device;
        int access = 0;

        if (from >= 0 && to >= 0 &&
            topology->cuda.device_can_access(&access, from, to) == CU_SUCCESS) {
            pair->access = access;
        }
    }
}
