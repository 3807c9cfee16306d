/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "rehearsal_facts.h"

enum { GPUS = 2 };

static void make_gpu(struct arena *arena, struct gpu_facts *gpu, int32_t i)
{
    *gpu = (struct gpu_facts){
        .index = i,
        .device = i,
        .name = "rehearsal GPU",
        .uuid = arena_format(arena, "GPU-00000000-0000-0000-0000-%012d", i + 1),
        .pci = arena_format(arena, "0000:%02x:00.0", i + 1),
        .near_node = 0,
        .compute = 90,
        .units = 132,
        .memory_bytes = UINT64_C(80) << 30,
        .free_bytes = UINT64_C(79) << 30,
        .l2_bytes = UINT64_C(50) << 20,
        .pcie = { .generation = 5,
            .width = 16,
            .max_generation = 5,
            .max_width = 16,
            .relaxed_ordering = -1,
            .acs_redirect = -1,
            .acs_redirect_switch = -1 },
        .nvlinks = 18,
        .nvlinks_active = 18,
        .nvlink_rate = UINT64_C(26562500000),
    };
}

int32_t rehearsal_facts(
    struct arena *arena, struct facts *facts, struct error *err)
{
    if (facts->gpus_count >= GPUS) {
        return NVBW_OK;
    }

    struct gpu_facts *const gpus = arena_alloc(arena, GPUS, sizeof *gpus);
    struct pair_facts *const pairs =
        arena_alloc(arena, (size_t)GPUS * (GPUS - 1), sizeof *pairs);

    FAIL_IF(gpus == NULL || pairs == NULL, err, NVBW_E_SYSTEM, "out of memory");
    for (int32_t i = 0; i < GPUS; i++) {
        make_gpu(arena, &gpus[i], i);
        pairs[i] = (struct pair_facts){ .from = (uint32_t)i,
            .to = (uint32_t)(1 - i),
            .access = 1,
            .nvlinks = 18,
            .path = "NV18" };
    }
    facts->gpus = gpus;
    facts->gpus_count = GPUS;
    facts->pairs = pairs;
    facts->pairs_count = GPUS * (GPUS - 1);
    facts->cuda_version = 13000;
    facts->driver_trouble = NULL;
    facts->sm_kernels = 1;
    return NVBW_OK;
}
