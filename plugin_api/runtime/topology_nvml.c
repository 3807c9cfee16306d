/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* NVML's list of GPUs: all of the machine, in PCI order. */
#include "topology_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *pci_text(struct arena *arena, const struct nvml_pci *pci)
{
    return arena_format(
        arena, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device);
}

static int is_same(const char *one, const char *other)
{
    return one != NULL && strcmp(one, other) == 0;
}

/* By its address, or by its UUID where the driver did not tell the address. */
static int is_listed(
    const struct facts *facts, const char *pci, const char *uuid)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        struct gpu_facts *const gpu = &facts->gpus[i];

        if (gpu->pci == NULL && is_same(gpu->uuid, uuid)) {
            gpu->pci = pci;
        }
        if (is_same(gpu->pci, pci)) {
            return 1;
        }
    }
    return 0;
}

/* A GPU that CUDA_VISIBLE_DEVICES hides was left out by whoever set it; any
 * other that the driver does not offer is in trouble. */
static int32_t add_hidden(
    struct topology *topology, const char *pci, struct error *err)
{
    struct gpu_facts *gpu = NULL;

    if (topology->has_cuda && secure_getenv("CUDA_VISIBLE_DEVICES") != NULL) {
        return NVBW_OK;
    }
    gpu = topology_add_gpu(topology);
    FAIL_IF(gpu == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    gpu->pci = pci;
    gpu->trouble = topology->facts->driver_trouble;
    if (gpu->trouble == NULL) {
        gpu->trouble =
            "NVML sees it but the CUDA driver does not offer it; see "
            "dmesg for lines with NVRM and Xid";
    }
    return NVBW_OK;
}

static int32_t list(struct topology *topology, struct error *err)
{
    const struct nvml_api *const nvml = &topology->nvml;
    unsigned int count = 0;

    if (nvml->device_count(&count) != NVML_DONE) {
        topology->facts->nvml_trouble = "NVML does not count the GPUs";
        return NVBW_OK;
    }
    for (unsigned int i = 0; i < count; i++) {
        struct nvmlDevice_st *handle = NULL;
        struct nvml_pci pci;
        char uuid[NVML_TEXT_BYTES] = "";

        if (nvml->device_at(i, &handle) != NVML_DONE ||
            nvml->device_pci(handle, &pci) != NVML_DONE) {
            topology->facts->nvml_trouble = arena_format(topology->arena,
                "NVML does not give GPU %u; see dmesg for Xid lines", i);
            continue;
        }

        const char *const text = pci_text(topology->arena, &pci);

        FAIL_IF(text == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
        nvml->device_uuid(handle, uuid, sizeof uuid);
        if (!is_listed(topology->facts, text, uuid)) {
            TRY(add_hidden(topology, text, err));
        }
    }
    return NVBW_OK;
}

static const char *text_of(struct topology *topology,
    nvml_result (*read)(char *out, unsigned int size))
{
    char text[NVML_TEXT_BYTES] = "";

    return read(text, sizeof text) == NVML_DONE
               ? arena_text(topology->arena, text)
               : NULL;
}

int32_t topology_nvml_list(
    struct topology *topology, const char *driver_file, struct error *err)
{
    struct facts *const facts = topology->facts;
    struct error why = { 0 };

    if (nvml_open(driver_file, &topology->nvml, &why) < 0) {
        facts->nvml_trouble = arena_text(topology->arena, why.text);
        return NVBW_OK;
    }
    topology->has_nvml = 1;
    facts->driver_version = text_of(topology, topology->nvml.driver_version);
    facts->nvml_version = text_of(topology, topology->nvml.nvml_version);
    return list(topology, err);
}
