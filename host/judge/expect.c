/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "expect.h"

#include <string.h>

#include "quantity.h"
#include "telemetry_rules.h"

struct expect {
    const struct plan *plan;
    const struct facts *facts;
    struct arena *arena;
    const struct plan_value *value;
    struct expect_fault *faults;
    uint32_t count;
    struct error *err;
};

static int32_t add(struct expect *expect, int32_t gpu, const char *what)
{
    expect->faults = arena_append(
        expect->arena, expect->faults, &expect->count, sizeof *expect->faults);
    FAIL_IF(expect->faults == NULL || what == NULL, expect->err, NVBW_E_SYSTEM,
        "out of memory");
    expect->faults[expect->count - 1] =
        (struct expect_fault){ .key = expect->value->name,
            .gpu = gpu,
            .what = what,
            .origin = expect->value->origin };
    return NVBW_OK;
}

static const char *wanted(const struct expect *expect)
{
    return expect->value->texts_count > 0 ? expect->value->texts[0] : "";
}

static int32_t wanted_number(const struct expect *expect, int64_t *out_number)
{
    return quantity_int(wanted(expect), out_number, expect->err);
}

static const char *driver_trouble(const struct expect *expect)
{
    const char *const trouble = expect->facts->driver_trouble;

    return trouble == NULL ? "" : arena_format(expect->arena, " (%s)", trouble);
}

static int32_t check_gpus(struct expect *expect)
{
    int64_t number = 0;

    TRY(wanted_number(expect, &number));
    if (expect->facts->gpus_count == (uint64_t)number) {
        return NVBW_OK;
    }
    return add(expect, -1,
        arena_format(expect->arena, "expected %lld GPUs, found %u%s",
            (long long)number, expect->facts->gpus_count,
            driver_trouble(expect)));
}

static int32_t check_nodes(struct expect *expect)
{
    int64_t number = 0;

    TRY(wanted_number(expect, &number));
    if (expect->facts->nodes_count == (uint64_t)number) {
        return NVBW_OK;
    }
    return add(expect, -1,
        arena_format(expect->arena, "expected %lld NUMA nodes, found %u",
            (long long)number, expect->facts->nodes_count));
}

static int32_t check_driver(struct expect *expect)
{
    const char *const version = expect->facts->driver_version;

    if (version != NULL &&
        strncmp(version, wanted(expect), strlen(wanted(expect))) == 0) {
        return NVBW_OK;
    }
    return add(expect, -1,
        arena_format(expect->arena, "expected driver %s, found %s",
            wanted(expect), version == NULL ? "none" : version));
}

static int32_t check_model(struct expect *expect)
{
    for (uint32_t i = 0; i < expect->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &expect->facts->gpus[i];

        if (gpu->name == NULL || strstr(gpu->name, wanted(expect)) == NULL) {
            TRY(add(expect, (int32_t)i,
                arena_format(expect->arena,
                    "expected model \"%s\", GPU %d is \"%s\"", wanted(expect),
                    gpu->index, gpu->name == NULL ? "?" : gpu->name)));
        }
    }
    return NVBW_OK;
}

/* A number that every GPU must have. */
static int32_t check_each(struct expect *expect, const char *what,
    uint32_t (*get)(const struct gpu_facts *gpu))
{
    int64_t number = 0;

    TRY(wanted_number(expect, &number));
    for (uint32_t i = 0; i < expect->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &expect->facts->gpus[i];

        if (get(gpu) != (uint64_t)number) {
            TRY(add(expect, (int32_t)i,
                arena_format(expect->arena, "expected %s %lld, GPU %d has %u",
                    what, (long long)number, gpu->index, get(gpu))));
        }
    }
    return NVBW_OK;
}

static uint32_t get_nvlinks(const struct gpu_facts *gpu)
{
    return gpu->nvlinks_active;
}

/* A link's speed falls while it idles, so the most that it can do counts. */
static uint32_t get_generation(const struct gpu_facts *gpu)
{
    return gpu->pcie.max_generation;
}

static uint32_t get_width(const struct gpu_facts *gpu)
{
    return gpu->pcie.width;
}

static int32_t check_nvlinks(struct expect *expect)
{
    return check_each(expect, "active NVLinks", get_nvlinks);
}

static int32_t check_generation(struct expect *expect)
{
    return check_each(expect, "PCIe generation", get_generation);
}

static int32_t check_width(struct expect *expect)
{
    return check_each(expect, "PCIe width", get_width);
}

static int32_t check_nvlink(struct expect *expect)
{
    int yes = 0;

    TRY(quantity_bool(wanted(expect), &yes, expect->err));
    for (uint32_t i = 0; yes && i < expect->facts->pairs_count; i++) {
        const struct pair_facts *const pair = &expect->facts->pairs[i];

        if (pair->nvlinks == 0 && pair->from < pair->to) {
            TRY(add(expect, (int32_t)pair->from,
                arena_format(expect->arena,
                    "expected NVLink between all GPUs, GPU %d and GPU %d "
                    "have %s",
                    expect->facts->gpus[pair->from].index,
                    expect->facts->gpus[pair->to].index,
                    pair->path == NULL ? "none" : pair->path)));
        }
    }
    return NVBW_OK;
}

/* The watch worker looks at what uses the GPUs when the run begins, and lets
 * others settle; where there is none, facts must do. */
static int32_t check_idle(struct expect *expect)
{
    struct telemetry_rules rules;
    int yes = 0;

    telemetry_rules_read(expect->plan, &rules);
    if (rules.enabled && expect->facts->nvml_trouble == NULL &&
        expect->facts->ranks == 0) {
        return NVBW_OK;
    }

    TRY(quantity_bool(wanted(expect), &yes, expect->err));
    for (uint32_t i = 0; yes && i < expect->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &expect->facts->gpus[i];

        for (uint32_t k = 0; k < gpu->processes_count; k++) {
            if (!telemetry_rules_counts(&rules, gpu->processes[k])) {
                continue;
            }
            TRY(add(expect, (int32_t)i,
                arena_format(expect->arena,
                    "expected idle GPUs, GPU %d is used by %s", gpu->index,
                    gpu->processes[k])));
            break;
        }
    }
    return NVBW_OK;
}

struct expectation {
    const char *key;
    int32_t (*check)(struct expect *expect);
};
static const struct expectation expectations[] = {
    { "gpus", check_gpus },
    { "model", check_model },
    { "driver", check_driver },
    { "nodes", check_nodes },
    { "nvlink", check_nvlink },
    { "nvlinks", check_nvlinks },
    { "pcie_generation", check_generation },
    { "pcie_width", check_width },
    { "idle", check_idle },
};

static int32_t check_value(struct expect *expect)
{
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        if (strcmp(expectations[i].key, expect->value->name) == 0) {
            return expectations[i].check(expect);
        }
    }
    return error_set(expect->err, NVBW_E_INVALID, "expect has no key \"%s\"",
        expect->value->name);
}

int32_t expect_check(const struct plan *plan, const struct facts *facts,
    struct arena *arena, struct expect_fault **out_faults, uint32_t *out_count,
    struct error *err)
{
    struct expect expect = {
        .plan = plan, .facts = facts, .arena = arena, .err = err
    };

    for (uint32_t i = 0; i < plan->expect_count; i++) {
        expect.value = &plan->expect[i];
        TRY(check_value(&expect));
    }
    *out_faults = expect.faults;
    *out_count = expect.count;
    return NVBW_OK;
}
