/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "multicast_guard.h"

#include <stdlib.h>
#include <string.h>

static int has_none(const struct gpu *gpu, uint32_t allowed)
{
    (void)allowed;
    return gpu->facts->multicast != 1;
}

static int is_not_allowed(const struct gpu *gpu, uint32_t allowed)
{
    (void)gpu;
    return allowed != 1;
}

/* Who tells NCCL not to use it has a reason that holds here too. */
static int nccl_is_told_not_to(const struct gpu *gpu, uint32_t allowed)
{
    const char *const text = secure_getenv("NCCL_NVLS_ENABLE");

    (void)gpu;
    (void)allowed;
    return text != NULL && strcmp(text, "0") == 0;
}

static int is_switched_off(const struct gpu *gpu, uint32_t allowed)
{
    const char *const text = secure_getenv("NVBW_DISABLE_MULTICAST");

    (void)gpu;
    (void)allowed;
    return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

/* In the order in which they are told. */
static const struct refusal {
    int (*holds)(const struct gpu *gpu, uint32_t allowed);
    int32_t reason;
    const char *text;
} refusals[] = {
    { has_none, NVBW_SKIP_NO_MULTICAST,
        "GPU %d has no NVLink multicast, which needs Hopper or newer behind an "
        "NVSwitch" },
    { is_not_allowed, NVBW_SKIP_MULTICAST_DISABLED,
        "GPU %d: the plan does not say allow_multicast = true; objects of "
        "NVLink multicast can take a shared host's GPUs out of service for "
        "others" },
    { nccl_is_told_not_to, NVBW_SKIP_MULTICAST_DISABLED,
        "GPU %d: NCCL_NVLS_ENABLE=0 is set, so NVLink multicast is not to be "
        "used here" },
    { is_switched_off, NVBW_SKIP_MULTICAST_DISABLED,
        "GPU %d: NVBW_DISABLE_MULTICAST is set, so NVLink multicast is not to "
        "be used here" },
};

int32_t multicast_permitted(
    const struct gpu *gpu, uint32_t allowed, struct error *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (!refusals[i].holds(gpu, allowed)) {
            continue;
        }
        error_set(err, NVBW_E_SKIPPED, refusals[i].text, gpu->facts->index);
        if (err != NULL) {
            err->code = refusals[i].reason;
        }
        return NVBW_E_SKIPPED;
    }
    return NVBW_OK;
}

int32_t multicast_create(const struct gpu *gpu, uint32_t allowed,
    const struct cu_multicast_prop *prop, cu_memory *out, struct error *err)
{
    TRY(multicast_permitted(gpu, allowed, err));
    CUDA_TRY(gpu->api, err, gpu->api->multicast_create(out, prop),
        "GPU %d: a multicast object of %u GPUs", gpu->facts->index,
        prop->devices);
    return NVBW_OK;
}
