/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What NVML tells of NVLink, fabric and the way between two GPUs. */
#include <string.h>

#include "sim_nvml.h"

#define ENTER(symbol)                                                          \
    const struct profile_gpu *gpu = NULL;                                      \
    const nvml_result refused_ =                                               \
        nvml_enter_device(CALL_##symbol, device, &gpu);                        \
    if (refused_ != NVML_DONE) {                                               \
        return refused_;                                                       \
    }

#define SWITCH_ADDRESS "00000000:03:00.0"

nvml_result nvmlDeviceGetNvLinkState(
    struct nvmlDevice_st *device, unsigned int link, unsigned int *out)
{
    ENTER(nvmlDeviceGetNvLinkState)
    if (gpu->nvlink.links == 0) {
        return NVML_NOT_SUPPORTED;
    }
    if (link >= gpu->nvlink.links) {
        return NVML_INVALID_ARGUMENT;
    }
    *out = link < gpu->nvlink.active ? NVML_LINK_ACTIVE : 0;
    return NVML_DONE;
}

static nvml_result check_link(const struct profile_gpu *gpu, unsigned int link)
{
    if (gpu->nvlink.links == 0) {
        return NVML_NOT_SUPPORTED;
    }
    return link < gpu->nvlink.active ? (nvml_result)NVML_DONE
                                     : (nvml_result)NVML_INVALID_ARGUMENT;
}

nvml_result nvmlDeviceGetNvLinkRemoteDeviceType(
    struct nvmlDevice_st *device, unsigned int link, unsigned int *out)
{
    ENTER(nvmlDeviceGetNvLinkRemoteDeviceType)
    const nvml_result checked = check_link(gpu, link);

    if (checked == NVML_DONE) {
        *out = gpu->nvlink.switched ? NVML_REMOTE_SWITCH : NVML_REMOTE_GPU;
    }
    return checked;
}

/* Without switches the links are dealt to the other GPUs of the island. */
static const struct profile_gpu *far_end(
    const struct profile_gpu *gpu, unsigned int link)
{
    const struct profile *profile = nvml_profile();
    uint32_t peers = 0;

    for (uint32_t i = 0; i < profile->count; i++) {
        peers += profile->gpus[i].island == gpu->island;
    }
    if (peers < 2) {
        return NULL;
    }
    uint32_t left = link % (peers - 1);

    for (uint32_t i = 0; i < profile->count; i++) {
        const struct profile_gpu *other = &profile->gpus[i];

        if (other != gpu && other->island == gpu->island && left-- == 0) {
            return other;
        }
    }
    return NULL;
}

nvml_result nvmlDeviceGetNvLinkRemotePciInfo_v2(
    struct nvmlDevice_st *device, unsigned int link, struct nvml_pci *out)
{
    ENTER(nvmlDeviceGetNvLinkRemotePciInfo_v2)
    const nvml_result checked = check_link(gpu, link);

    if (checked != NVML_DONE) {
        return checked;
    }
    const struct profile_gpu *other =
        gpu->nvlink.switched ? NULL : far_end(gpu, link);

    nvml_give_pci(other == NULL ? SWITCH_ADDRESS : other->pci, out);
    return NVML_DONE;
}

static void give_field(const struct nvmlDevice_st *device,
    const struct profile_gpu *gpu, struct nvml_field *field)
{
    uint64_t value = 0;
    const unsigned int speed_mbps = (unsigned int)(gpu->nvlink.line * 1000);

    field->value_type = NVML_VALUE_UINT;
    field->result = NVML_DONE;
    if (nvml_watch_field(device, gpu, field->field, &value)) {
        field->value_type = NVML_VALUE_ULONGLONG;
        field->value.ulonglong = value;
        return;
    }
    switch (field->field) {
    case NVML_FIELD_LINK_SPEED_MBPS:
    case NVML_FIELD_LINK_GET_SPEED:
        field->value.uint = speed_mbps;
        break;
    case NVML_FIELD_LINK_COUNT:
        field->value.uint = gpu->nvlink.links;
        break;
    case NVML_FIELD_C2C_LINK_COUNT:
        field->value.uint = gpu->coherent;
        break;
    default:
        field->result = NVML_NOT_SUPPORTED;
        break;
    }
}

nvml_result nvmlDeviceGetFieldValues(
    struct nvmlDevice_st *device, int count, struct nvml_field *values)
{
    ENTER(nvmlDeviceGetFieldValues)
    for (int i = 0; i < count; i++) {
        give_field(device, gpu, &values[i]);
    }
    return NVML_DONE;
}

nvml_result nvmlDeviceGetGpuFabricInfo(
    struct nvmlDevice_st *device, struct nvml_fabric *out)
{
    ENTER(nvmlDeviceGetGpuFabricInfo)
    memset(out, 0, sizeof *out);
    out->state =
        gpu->fabric > 0 ? NVML_FABRIC_COMPLETED : NVML_FABRIC_NOT_SUPPORTED;
    /* A domain without a channel has a cluster of zeros. */
    if (gpu->fabric > 1) {
        memset(out->cluster, 0x5a, sizeof out->cluster);
        out->clique = gpu->island;
    }
    return NVML_DONE;
}

nvml_result nvmlDeviceGetTopologyCommonAncestor(struct nvmlDevice_st *device,
    struct nvmlDevice_st *other, unsigned int *out)
{
    ENTER(nvmlDeviceGetTopologyCommonAncestor)
    const struct profile_gpu *second = &nvml_profile()->gpus[nvml_index(other)];

    if (second == gpu) {
        *out = NVML_PATH_INTERNAL;
    } else if (gpu->pcie.uplink > 0 &&
               gpu->pcie.uplink == second->pcie.uplink) {
        *out = NVML_PATH_SINGLE;
    } else {
        *out = second->node == gpu->node ? NVML_PATH_NODE : NVML_PATH_SYSTEM;
    }
    return NVML_DONE;
}
