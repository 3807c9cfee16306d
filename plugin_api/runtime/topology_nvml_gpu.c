/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* NVML's details of each GPU. Each call that fails leaves its fact absent. */
#include "topology_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

enum { PROCESS_LIMIT = 64, MHZ = 1000000 };

/* One GPU being read. */
struct reading {
    struct topology *topology;
    const struct nvml_api *nvml;
    struct nvmlDevice_st *device;
    struct gpu_facts *gpu;
};

typedef nvml_result text_fn(
    struct nvmlDevice_st *device, char *out, unsigned int size);
typedef nvml_result number_fn(struct nvmlDevice_st *device, unsigned int *out);

static void read_text(
    const struct reading *reading, text_fn *read, const char **out)
{
    char text[NVML_TEXT_BYTES] = "";

    if (*out == NULL && read(reading->device, text, sizeof text) == NVML_DONE &&
        text[0] != '\0') {
        *out = arena_text(reading->topology->arena, text);
    }
}

static void read_number(
    const struct reading *reading, number_fn *read, uint32_t *out)
{
    unsigned int value = 0;

    if (read(reading->device, &value) == NVML_DONE) {
        *out = value;
    }
}

static void read_identity(const struct reading *reading)
{
    struct gpu_facts *const gpu = reading->gpu;

    read_text(reading, reading->nvml->device_name, &gpu->name);
    read_text(reading, reading->nvml->device_uuid, &gpu->uuid);
    read_text(reading, reading->nvml->device_serial, &gpu->serial);
    read_text(reading, reading->nvml->device_vbios, &gpu->vbios);
    read_text(reading, reading->nvml->device_board, &gpu->board);
}

static void read_pcie(const struct reading *reading)
{
    struct pcie_facts *const pcie = &reading->gpu->pcie;
    const struct nvml_api *const nvml = reading->nvml;

    read_number(reading, nvml->pcie_generation, &pcie->generation);
    read_number(reading, nvml->pcie_width, &pcie->width);
    read_number(reading, nvml->pcie_max_generation, &pcie->max_generation);
    read_number(reading, nvml->pcie_max_width, &pcie->max_width);
    read_number(
        reading, nvml->pcie_gpu_max_generation, &pcie->gpu_max_generation);
}

static void read_memory(const struct reading *reading)
{
    struct gpu_facts *const gpu = reading->gpu;
    const struct nvml_api *const nvml = reading->nvml;
    struct nvml_memory memory;
    unsigned int mhz = 0;

    if (nvml->memory(reading->device, &memory) == NVML_DONE) {
        gpu->free_bytes = memory.free;
        if (gpu->memory_bytes == 0) {
            gpu->memory_bytes = memory.total;
        }
    }
    read_number(reading, nvml->memory_bus_bits, &gpu->memory_bus_bits);
    if (nvml->max_clock_mhz(reading->device, NVML_CLOCK_IS_MEMORY, &mhz) ==
        NVML_DONE) {
        gpu->memory_clock_hz = (uint64_t)mhz * MHZ;
    }
}

static void read_state(const struct reading *reading)
{
    struct gpu_facts *const gpu = reading->gpu;
    const struct nvml_api *const nvml = reading->nvml;
    unsigned int now = 0;
    unsigned int rows[4] = { 0 };
    unsigned long long errors = 0;
    struct nvml_confidential confidential = { 0 };

    if (nvml->mig_mode(reading->device, &now, &rows[0]) == NVML_DONE) {
        gpu->mig = now == NVML_MIG_ENABLED;
    }
    if (nvml->ecc_errors(reading->device, NVML_ECC_UNCORRECTED,
            NVML_ECC_AGGREGATE, &errors) == NVML_DONE) {
        gpu->ecc_uncorrected = errors;
    }
    if (nvml->remapped_rows(reading->device, &rows[0], &rows[1], &rows[2],
            &rows[3]) == NVML_DONE) {
        gpu->rows_remapped = (uint64_t)rows[0] + rows[1];
    }
    if (nvml->confidential(&confidential) == NVML_DONE) {
        gpu->confidential = confidential.feature != 0;
    }
}

static void read_fabric(const struct reading *reading)
{
    static const char *const states[] = {
        [NVML_FABRIC_NOT_SUPPORTED] = "not supported",
        [NVML_FABRIC_NOT_STARTED] = "not started",
        [NVML_FABRIC_IN_PROGRESS] = "in progress",
        [NVML_FABRIC_COMPLETED] = "completed",
    };
    struct gpu_facts *const gpu = reading->gpu;
    struct nvml_fabric fabric = { 0 };
    char cluster[2 * sizeof fabric.cluster + 1];

    if (reading->nvml->fabric(reading->device, &fabric) != NVML_DONE ||
        fabric.state >= sizeof states / sizeof states[0]) {
        return;
    }
    for (size_t i = 0; i < sizeof fabric.cluster; i++) {
        snprintf(cluster + 2 * i, 3, "%02x", fabric.cluster[i]);
    }
    gpu->fabric_cluster = arena_text(reading->topology->arena, cluster);
    gpu->fabric_clique = fabric.clique;
    gpu->fabric_state = states[fabric.state];
    if (fabric.state == NVML_FABRIC_COMPLETED && fabric.status != NVML_DONE) {
        gpu->fabric_state = arena_format(
            reading->topology->arena, "completed with error %u", fabric.status);
    }
}

/* NVML rounds to whole MB/s; the line rates are known to the byte. */
static uint64_t exact_rate(uint64_t mbps)
{
    static const struct {
        uint64_t mbps, rate;
    } lines[] = {
        { 25781, UINT64_C(25781250000) },
        { 26562, UINT64_C(26562500000) },
        { 53125, UINT64_C(53125000000) },
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i].mbps == mbps) {
            return lines[i].rate;
        }
    }
    return mbps * MHZ;
}

static void read_link_rate(const struct reading *reading)
{
    struct nvml_field fields[] = {
        { .field = NVML_FIELD_LINK_SPEED_MBPS },
        { .field = NVML_FIELD_LINK_GET_SPEED },
    };
    uint64_t mbps = 0;

    if (reading->nvml->fields(reading->device, 2, fields) != NVML_DONE) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        if (nvml_field_number(&fields[i], &mbps) && mbps != 0) {
            reading->gpu->nvlink_rate = exact_rate(mbps);
            return;
        }
    }
}

static void read_links(const struct reading *reading)
{
    struct gpu_facts *const gpu = reading->gpu;

    for (unsigned int link = 0; link < NVML_LINKS; link++) {
        unsigned int state = 0;

        if (reading->nvml->link_state(reading->device, link, &state) !=
            NVML_DONE) {
            continue;
        }
        gpu->nvlinks++;
        gpu->nvlinks_active += state == NVML_LINK_ACTIVE;
    }
    if (gpu->nvlinks > 0) {
        read_link_rate(reading);
    }
}

static const char *process_text(struct topology *topology, unsigned int pid)
{
    char name[64] = "";

    if (!sysfs_read(
            name, sizeof name, "%s/proc/%u/comm", topology->root, pid)) {
        snprintf(name, sizeof name, "?");
    }
    return arena_format(topology->arena, "%u %s", pid, name);
}

static void read_processes(const struct reading *reading)
{
    struct topology *const topology = reading->topology;
    struct gpu_facts *const gpu = reading->gpu;
    struct nvml_process found[PROCESS_LIMIT];
    unsigned int count = PROCESS_LIMIT;

    if (reading->nvml->processes(reading->device, &count, found) != NVML_DONE ||
        count == 0 || count > PROCESS_LIMIT) {
        return;
    }
    gpu->processes =
        arena_alloc(topology->arena, count, sizeof *gpu->processes);
    for (unsigned int i = 0; gpu->processes != NULL && i < count; i++) {
        const char *const text = process_text(topology, found[i].pid);

        if (found[i].pid != (unsigned int)getpid() && text != NULL) {
            gpu->processes[gpu->processes_count++] = text;
        }
    }
}

static void read_gpu(const struct reading *reading)
{
    read_identity(reading);
    read_pcie(reading);
    read_memory(reading);
    read_state(reading);
    read_fabric(reading);
    read_links(reading);
    read_processes(reading);
}

/* NVML's number of a GPU is its place among all GPUs of the machine. */
static void match(struct topology *topology, unsigned int number)
{
    const struct nvml_api *const nvml = &topology->nvml;
    struct facts *const facts = topology->facts;
    struct nvmlDevice_st *handle = NULL;
    struct nvml_pci pci;
    char text[32];

    if (nvml->device_at(number, &handle) != NVML_DONE ||
        nvml->device_pci(handle, &pci) != NVML_DONE) {
        return;
    }
    snprintf(
        text, sizeof text, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        struct gpu_facts *const gpu = &facts->gpus[i];
        const struct reading reading = { topology, nvml, handle, gpu };

        if (gpu->pci == NULL || strcmp(gpu->pci, text) != 0) {
            continue;
        }
        topology->handles[i] = handle;
        gpu->index = (int32_t)number;
        read_gpu(&reading);
    }
}

int32_t topology_nvml_details(struct topology *topology, struct error *err)
{
    unsigned int count = 0;

    topology->handles = arena_alloc(topology->arena,
        topology->facts->gpus_count + 1, sizeof *topology->handles);
    FAIL_IF(topology->handles == NULL, err, NVBW_E_SYSTEM,
        "no memory for the facts");
    if (topology->has_nvml) {
        topology->nvml.device_count(&count);
    }
    for (unsigned int i = 0; i < count; i++) {
        match(topology, i);
    }
    return NVBW_OK;
}

/* 1 if a link leads to this very GPU, or to a switch that reaches all. */
static int leads_to(const struct topology *topology,
    struct nvmlDevice_st *device, unsigned int link, const char *pci)
{
    const struct nvml_api *const nvml = &topology->nvml;
    unsigned int value = 0;
    struct nvml_pci remote;
    char text[32];

    if (nvml->link_state(device, link, &value) != NVML_DONE ||
        value != NVML_LINK_ACTIVE) {
        return 0;
    }
    if (nvml->link_remote_type(device, link, &value) == NVML_DONE &&
        value == NVML_REMOTE_SWITCH) {
        return 1;
    }
    if (nvml->link_remote_pci(device, link, &remote) != NVML_DONE) {
        return 0;
    }
    snprintf(text, sizeof text, "%04x:%02x:%02x.0", remote.domain, remote.bus,
        remote.device);
    return pci != NULL && strcmp(pci, text) == 0;
}

static uint32_t links_from(
    const struct topology *topology, uint32_t from, uint32_t to)
{
    const char *const pci = topology->facts->gpus[to].pci;
    uint32_t count = 0;

    if (topology->handles[from] == NULL) {
        return 0;
    }
    for (unsigned int link = 0; link < NVML_LINKS; link++) {
        count +=
            (uint32_t)leads_to(topology, topology->handles[from], link, pci);
    }
    return count;
}

uint32_t topology_nvml_links(
    struct topology *topology, uint32_t from, uint32_t to)
{
    const uint32_t there = links_from(topology, from, to);
    const uint32_t back = there == 0 ? 0 : links_from(topology, to, from);

    return there < back ? there : back;
}

const char *topology_nvml_path(
    struct topology *topology, uint32_t from, uint32_t to)
{
    static const struct {
        unsigned int level;
        const char *name;
    } names[] = {
        { NVML_PATH_INTERNAL, "PIX" },
        { NVML_PATH_SINGLE, "PIX" },
        { NVML_PATH_MULTIPLE, "PXB" },
        { NVML_PATH_HOSTBRIDGE, "PHB" },
        { NVML_PATH_NODE, "NODE" },
        { NVML_PATH_SYSTEM, "SYS" },
    };
    struct nvmlDevice_st *const one = topology->handles[from];
    struct nvmlDevice_st *const other = topology->handles[to];
    unsigned int level = 0;

    if (one == NULL || other == NULL ||
        topology->nvml.common_ancestor(one, other, &level) != NVML_DONE) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].level == level) {
            return names[i].name;
        }
    }
    return NULL;
}
