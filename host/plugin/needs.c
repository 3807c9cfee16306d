/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "needs.h"

#include "state.h"

#include <string.h>

/* What one question is asked about. */
struct inquiry {
    const struct testcase_schema *testcase;
    const struct facts *facts;
    const uint32_t *gpus;
    uint32_t gpus_count;
    uint32_t min_gpus; /* effective */
    struct needs_rules rules;
    struct arena *arena;
};

/* A check: NULL reason, or the reason and its sentence. Sentences come from
 * the arena; NULL there means that memory is out. */
struct finding {
    const char *reason;
    const char *message;
};
typedef struct finding check_fn(const struct inquiry *ask);

static const struct finding fine = { NULL, NULL };

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int axis_is(const char *axis, const char *name)
{
    return axis != NULL && strcmp(axis, name) == 0;
}

/* How many GPUs a metric's axes take to have a cell at all. */
static uint32_t gpus_of_metric(const struct metric_schema *metric)
{
    const int rows = axis_is(metric->rows, "gpu");
    const int cols = axis_is(metric->cols, "gpu");
    if (rows && cols && (metric->flags & NVBW_METRIC_PAIRS) != 0) {
        return 2;
    }
    return rows || cols ? 1 : 0;
}

/* The GPUs that the testcase needs, said outright or implied. Across ranks a
 * peer can be another rank's GPU, so one GPU is enough there. */
static uint32_t effective_min_gpus(const struct testcase_schema *testcase)
{
    const uint64_t of_gpu = NVBW_NEED_PEER | NVBW_NEED_NVLINK |
                            NVBW_NEED_MULTICAST | NVBW_NEED_FABRIC;
    const uint64_t of_pair = NVBW_NEED_PEER | NVBW_NEED_NVLINK;
    const int is_mpi = (testcase->need_features & NVBW_NEED_MPI) != 0;
    uint32_t least = testcase->need_gpus;

    if (least < 1 &&
        ((testcase->need_features & of_gpu) != 0 ||
            testcase->need_compute > 0 || testcase->need_gpu_bytes > 0)) {
        least = 1;
    }
    if (least < 2 && !is_mpi && (testcase->need_features & of_pair) != 0) {
        least = 2;
    }
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        const uint32_t of_axes = gpus_of_metric(&testcase->metrics[i]);
        least = least < of_axes ? of_axes : least;
    }
    return least;
}

static int is_usable(const struct gpu_facts *gpu)
{
    return gpu->device >= 0 && gpu->trouble == NULL;
}

static uint32_t usable_gpus(const struct facts *facts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        count += is_usable(&facts->gpus[i]) ? 1 : 0;
    }
    return count;
}

/* A GPU's name for a sentence: "GPU 1 (NVIDIA H200)". */
static const char *title(const struct inquiry *ask, const struct gpu_facts *gpu)
{
    const char *text = arena_format(ask->arena, "GPU %d (%s)", gpu->index,
        gpu->name == NULL ? "unknown model" : gpu->name);
    return text == NULL ? "a GPU" : text;
}

static struct finding check_excluded(const struct inquiry *ask)
{
    const uint32_t usable = usable_gpus(ask->facts);
    if (ask->min_gpus == 0 || ask->gpus_count > 0 || usable == 0) {
        return fine;
    }
    return (struct finding){ "excluded",
        arena_format(ask->arena,
            "needs %u GPU%s, the plan selects none of the %u here: see "
            "devices",
            ask->min_gpus, plural(ask->min_gpus), usable) };
}

/* No GPU: says why and how to get one. */
static struct finding check_device(const struct inquiry *ask)
{
    const struct facts *facts = ask->facts;
    if (ask->min_gpus == 0 || usable_gpus(facts) > 0) {
        return fine;
    }
    if (facts->driver_trouble != NULL) {
        return (struct finding){ "no_device",
            arena_format(ask->arena, "needs %u GPU%s: %s", ask->min_gpus,
                plural(ask->min_gpus), facts->driver_trouble) };
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (facts->gpus[i].trouble != NULL) {
            return (struct finding){ "no_device",
                arena_format(ask->arena,
                    "needs %u GPU%s, none of %u can be used: %s: %s",
                    ask->min_gpus, plural(ask->min_gpus), facts->gpus_count,
                    title(ask, &facts->gpus[i]), facts->gpus[i].trouble) };
        }
    }
    return (struct finding){ "no_device",
        arena_format(ask->arena,
            "needs %u GPU%s, none is visible: check nvidia-smi, "
            "CUDA_VISIBLE_DEVICES and that a container was given its GPUs",
            ask->min_gpus, plural(ask->min_gpus)) };
}

static struct finding check_mpi(const struct inquiry *ask)
{
    const uint32_t ranks = ask->facts->ranks;

    if ((ask->testcase->need_features & NVBW_NEED_MPI) == 0 ||
        (ask->rules.mpi &&
            (ranks == 0 || ranks >= ask->testcase->need_ranks))) {
        return fine;
    }
    if (ask->rules.mpi) {
        return (struct finding){ "no_mpi",
            arena_format(ask->arena,
                "needs %u MPI ranks, this job has %u: start it as mpirun -np 8 "
                "nvbw-host --mpi -c plans/multinode.cfg, or with srun",
                ask->testcase->need_ranks, ranks) };
    }
    return (struct finding){ "no_mpi",
        arena_format(ask->arena,
            "needs MPI%s: start it as mpirun -np 8 nvbw-host --mpi -c "
            "plans/multinode.cfg, or with srun",
            ask->testcase->need_ranks > 1
                ? arena_format(
                      ask->arena, " with %u ranks", ask->testcase->need_ranks)
                : "") };
}

static struct finding check_gpu_count(const struct inquiry *ask)
{
    if (ask->gpus_count >= ask->min_gpus) {
        return fine;
    }
    return (struct finding){ "too_few_devices",
        arena_format(ask->arena, "needs %u GPU%s, %u %s selected",
            ask->min_gpus, plural(ask->min_gpus), ask->gpus_count,
            ask->gpus_count == 1 ? "is" : "are") };
}

static struct finding check_driver(const struct inquiry *ask)
{
    const uint32_t need = ask->testcase->need_driver;
    const uint32_t have = ask->facts->cuda_version;
    if (need <= have) {
        return fine;
    }
    return (struct finding){ "driver_too_old",
        arena_format(ask->arena,
            "needs a driver for CUDA %u.%u, this one (%s) is for %u.%u",
            need / 1000, need % 1000 / 10,
            ask->facts->driver_version == NULL ? "version unknown"
                                               : ask->facts->driver_version,
            have / 1000, have % 1000 / 10) };
}

static struct finding check_compute(const struct inquiry *ask)
{
    const uint32_t need = ask->testcase->need_compute;
    for (uint32_t i = 0; i < ask->gpus_count; i++) {
        const struct gpu_facts *gpu = &ask->facts->gpus[ask->gpus[i]];
        if (gpu->compute < need) {
            return (struct finding){ "arch_too_old",
                arena_format(ask->arena,
                    "needs compute capability %u.%u on every selected GPU, "
                    "%s has %u.%u",
                    need / 10, need % 10, title(ask, gpu), gpu->compute / 10,
                    gpu->compute % 10) };
        }
    }
    return fine;
}

/* Counts the selected pairs, and those that a property holds for. */
typedef int pair_fn(const struct pair_facts *pair);

static int has_access(const struct pair_facts *pair)
{
    return pair->access == 1;
}

static int has_nvlink(const struct pair_facts *pair)
{
    return pair->nvlinks > 0;
}

static int any_pair(const struct inquiry *ask, pair_fn *holds)
{
    for (uint32_t i = 0; i < ask->gpus_count; i++) {
        for (uint32_t j = 0; j < ask->gpus_count; j++) {
            const struct pair_facts *pair =
                facts_pair(ask->facts, ask->gpus[i], ask->gpus[j]);
            if (i != j && pair != NULL && holds(pair)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Only if no pair at all can do it; single pairs that cannot are skipped cell
 * by cell where they are measured. */
static struct finding check_peer(const struct inquiry *ask)
{
    if ((ask->testcase->need_features & NVBW_NEED_PEER) == 0 ||
        ask->gpus_count < 2 || any_pair(ask, has_access)) {
        return fine;
    }
    return (struct finding){ "no_peer_access",
        arena_format(ask->arena,
            "needs peer access, none of the %u selected GPUs can address "
            "another's memory",
            ask->gpus_count) };
}

static struct finding check_nvlink(const struct inquiry *ask)
{
    if ((ask->testcase->need_features & NVBW_NEED_NVLINK) == 0 ||
        ask->gpus_count < 2 || any_pair(ask, has_nvlink)) {
        return fine;
    }
    return (struct finding){ "no_nvlink",
        arena_format(ask->arena,
            "needs NVLink, none of the %u selected GPUs is linked to another",
            ask->gpus_count) };
}

static struct finding check_multicast(const struct inquiry *ask)
{
    if ((ask->testcase->need_features & NVBW_NEED_MULTICAST) == 0) {
        return fine;
    }
    for (uint32_t i = 0; i < ask->gpus_count; i++) {
        const struct gpu_facts *gpu = &ask->facts->gpus[ask->gpus[i]];
        if (gpu->multicast != 1) {
            return (struct finding){ "no_multicast",
                arena_format(ask->arena,
                    "needs NVLink multicast on every selected GPU, %s has "
                    "none",
                    title(ask, gpu)) };
        }
    }
    if (!ask->rules.allow_multicast) {
        return (struct finding){ "multicast_disabled",
            arena_format(ask->arena,
                "needs allow_multicast = true in the plan: objects of NVLink "
                "multicast can take a shared host's GPUs out of service for "
                "others") };
    }
    return fine;
}

static struct finding check_fabric(const struct inquiry *ask)
{
    if ((ask->testcase->need_features & NVBW_NEED_FABRIC) == 0) {
        return fine;
    }
    for (uint32_t i = 0; i < ask->gpus_count; i++) {
        const struct gpu_facts *gpu = &ask->facts->gpus[ask->gpus[i]];
        if (gpu->fabric != 1) {
            return (struct finding){ "no_fabric",
                arena_format(ask->arena,
                    "needs an NVLink fabric, %s is not part of one (%s)",
                    title(ask, gpu),
                    gpu->fabric_state == NULL ? "no fabric state"
                                              : gpu->fabric_state) };
        }
    }
    if (ask->facts->imex_channel == 0) {
        return (struct finding){ "no_imex_channel",
            arena_format(ask->arena,
                "needs an IMEX channel, none can be used: see "
                "/dev/nvidia-caps-imex-channels") };
    }
    return fine;
}

static struct finding check_gpu_memory(const struct inquiry *ask)
{
    const uint64_t need = ask->testcase->need_gpu_bytes;
    for (uint32_t i = 0; i < ask->gpus_count; i++) {
        const struct gpu_facts *gpu = &ask->facts->gpus[ask->gpus[i]];
        if (gpu->memory_bytes > 0 && gpu->free_bytes < need) {
            return (struct finding){ "memory",
                arena_format(ask->arena,
                    "needs %.1f MiB free on every selected GPU, %s has %.1f "
                    "MiB of %.1f MiB free",
                    (double)need / 1048576.0, title(ask, gpu),
                    (double)gpu->free_bytes / 1048576.0,
                    (double)gpu->memory_bytes / 1048576.0) };
        }
    }
    return fine;
}

static struct finding check_host_memory(const struct inquiry *ask)
{
    const uint64_t need = ask->testcase->need_pinned_bytes;
    uint64_t free_bytes = 0; /* 0 in the end: not known */
    for (uint32_t i = 0; i < ask->facts->nodes_count; i++) {
        free_bytes += ask->facts->nodes[i].free_bytes;
    }
    if (free_bytes == 0 || free_bytes >= need) {
        return fine;
    }
    return (struct finding){ "memory",
        arena_format(ask->arena,
            "needs %.1f MiB of free host memory, there are %.1f MiB",
            (double)need / 1048576.0, (double)free_bytes / 1048576.0) };
}

/* In order of precedence. not_built has no check here: descriptors do not say
 * whether a testcase uses kernels, flows do, so the engine gives that reason
 * where it meets such a flow. */
static check_fn *const checks[] = {
    check_excluded,
    check_device,
    check_mpi,
    check_gpu_count,
    check_driver,
    check_compute,
    check_peer,
    check_nvlink,
    check_multicast,
    check_fabric,
    check_gpu_memory,
    check_host_memory,
};

int32_t needs_check(const struct testcase_schema *testcase,
    const struct facts *facts, const uint32_t *gpus, uint32_t gpus_count,
    struct needs_rules rules, struct arena *arena, struct needs_answer *out,
    struct error *err)
{
    const struct inquiry ask = {
        .testcase = testcase,
        .facts = facts,
        .gpus = gpus,
        .gpus_count = gpus_count,
        .min_gpus = effective_min_gpus(testcase),
        .rules = rules,
        .arena = arena,
    };
    *out = (struct needs_answer){ 0 };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const struct finding finding = checks[i](&ask);
        if (finding.reason == NULL) {
            continue;
        }
        FAIL_IF(finding.message == NULL, err, NVBW_E_SYSTEM,
            "no memory for the needs of testcase %s", testcase->name);
        out->state = STATE_SKIP;
        out->reason = finding.reason;
        out->message = finding.message;
        return NVBW_OK;
    }
    return NVBW_OK;
}
