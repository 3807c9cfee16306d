/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The physical link to the host: what is fitted, up and carried. */
#include <math.h>
#include <string.h>

#include "ceiling.h"
#include "diagnosis.h"

enum {
    OF_PCIE = 1u << ASPECT_HOST | 1u << ASPECT_HOST_SM,
    OF_PEERS = 1u << ASPECT_PEER | 1u << ASPECT_PEER_SM
};

/* Without NVLink peers cross PCIe as well. */
static uint32_t pcie_aspects(const struct gpu_facts *gpu)
{
    return gpu->nvlinks_active == 0 ? OF_PCIE | OF_PEERS : OF_PCIE;
}

/* ---- by facts ---- */

/* 1 if what was measured shows that the link is better than its facts say, as
 * those of an idle link or of a guest may be. */
static int is_refuted(const struct diagnosis *diagnosis, uint32_t gpu)
{
    const struct pcie_facts *const pcie = &diagnosis->facts->gpus[gpu].pcie;
    const struct sight *const sight =
        suspects_of(&diagnosis->suspects, gpu, ASPECT_HOST);

    return sight->figure > ceiling_pcie(pcie->generation, pcie->width) &&
           !(sight->ratio < SUSPECT_QUIET);
}

static int32_t look_width(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];
        const struct pcie_facts *const pcie = &gpu->pcie;

        if (gpu->coherent_link == 1 || pcie->width == 0 ||
            pcie->width >= pcie->max_width || is_refuted(diagnosis, i)) {
            continue;
        }

        const char *const seen =
            arena_format(diagnosis->judging->arena, "width x%u of x%u, Gen%u",
                pcie->width, pcie->max_width, pcie->generation);

        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_with_sight(diagnosis, seen, i, ASPECT_HOST)));
        suspects_explain(&diagnosis->suspects, i, pcie_aspects(gpu));
    }
    return NVBW_OK;
}

/* An idle link runs slower, so a figure must say the same. */
static int32_t look_generation(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];
        const struct pcie_facts *const pcie = &gpu->pcie;
        const struct sight *const sight =
            suspects_of(&diagnosis->suspects, i, ASPECT_HOST);

        if (gpu->coherent_link == 1 || pcie->generation == 0 ||
            pcie->generation >= pcie->max_generation ||
            !(sight->figure <= ceiling_pcie(pcie->generation, pcie->width))) {
            continue;
        }
        /* A link that idled when the facts were read, and is slow otherwise,
         * is told from its figure below. */
        if (!(sight->ratio < SUSPECT_QUIET) &&
            !(suspects_least(&diagnosis->suspects, i, ASPECT_HOST)
                    ->utilisation < SUSPECT_USUAL)) {
            continue;
        }

        const char *const seen = arena_format(diagnosis->judging->arena,
            "Gen%u where Gen%u is possible, x%u", pcie->generation,
            pcie->max_generation, pcie->width);

        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_with_sight(diagnosis, seen, i, ASPECT_HOST)));
        suspects_explain(&diagnosis->suspects, i, pcie_aspects(gpu));
    }
    return NVBW_OK;
}

/* Whether traffic between this GPU and a host was measured in the record. */
static int is_of_host(const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_record *const flow = &record->flows[i];

        if (flow->counted && (flow->src_memory == NVBW_MEM_PINNED ||
                                 flow->dst_memory == NVBW_MEM_PINNED)) {
            return 1;
        }
    }
    return 0;
}

static const struct gpu_telemetry *telemetry_of(
    const struct record *record, uint32_t gpu)
{
    for (uint32_t i = 0; i < record->telemetry_count; i++) {
        if (record->telemetry[i].gpu == gpu) {
            return &record->telemetry[i];
        }
    }
    return NULL;
}

/* The slowest that the link was seen under load; NaN: never seen. */
static double load_seen(const struct diagnosis *diagnosis, uint32_t gpu,
    uint32_t *out_generation, uint32_t *out_width)
{
    const struct evidence *const evidence = diagnosis->judging->evidence;
    double slowest = NAN;

    for (uint32_t i = 0; i < evidence->records_count; i++) {
        const struct record *const record = &evidence->records[i];
        const struct gpu_telemetry *const seen = telemetry_of(record, gpu);

        if (seen == NULL || !is_of_host(record) ||
            !(seen->pcie_generation_most > 0.0) ||
            !(seen->pcie_width_least > 0.0)) {
            continue;
        }

        const uint32_t generation = (uint32_t)seen->pcie_generation_most;
        const uint32_t width = (uint32_t)seen->pcie_width_least;
        const double ceiling = ceiling_pcie(generation, width);

        if (isnan(slowest) || ceiling < slowest) {
            slowest = ceiling;
            *out_generation = generation;
            *out_width = width;
        }
    }
    return slowest;
}

/* What a link does under load counts, whatever it was when facts were read. A
 * figure above it says that it was read at a wrong moment. */
static int32_t look_under_load(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];
        const struct pcie_facts *const pcie = &gpu->pcie;
        uint32_t generation = 0;
        uint32_t width = 0;
        const double seen = load_seen(diagnosis, i, &generation, &width);

        if (!(seen < ceiling_pcie(pcie->max_generation, pcie->max_width)) ||
            (diagnosis->suspects.explained[i] & OF_PCIE) != 0 ||
            !(suspects_least(&diagnosis->suspects, i, ASPECT_HOST)->figure <=
                seen)) {
            continue;
        }

        const char *const text = arena_format(diagnosis->judging->arena,
            "Gen%u x%u while copies ran where Gen%u x%u is possible",
            generation, width, pcie->max_generation, pcie->max_width);

        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL, text));
        suspects_explain(&diagnosis->suspects, i, pcie_aspects(gpu));
    }
    return NVBW_OK;
}

/* The best slot that a GPU of this model has here. */
static double best_slot(const struct facts *facts, const struct gpu_facts *like)
{
    double best = NAN;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];

        if (diagnosis_same_model(gpu, like)) {
            best = fmax(best,
                ceiling_pcie(gpu->pcie.max_generation, gpu->pcie.max_width));
        }
    }
    return best;
}

static int32_t look_slot(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];
        const struct pcie_facts *const pcie = &gpu->pcie;

        if (gpu->coherent_link == 1 ||
            !(ceiling_pcie(pcie->max_generation, pcie->max_width) <
                best_slot(diagnosis->facts, gpu)) ||
            is_refuted(diagnosis, i)) {
            continue;
        }

        const char *const seen = arena_format(diagnosis->judging->arena,
            "Gen%u x%u at most", pcie->max_generation, pcie->max_width);

        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_with_sight(diagnosis, seen, i, ASPECT_HOST)));
        suspects_explain(&diagnosis->suspects, i, pcie_aspects(gpu));
    }
    return NVBW_OK;
}

/* ---- by figures ---- */

/* A GPU that is slow in its own memory as well is slow as a whole, unless its
 * link is slower than that would make it. */
static int is_link_low(const struct diagnosis *diagnosis, uint32_t gpu)
{
    const struct suspects *const suspects = &diagnosis->suspects;

    return suspects_is_low(suspects, gpu, ASPECT_HOST, SUSPECT_QUIET) &&
           (!suspects_is_low(suspects, gpu, ASPECT_LOCAL, SUSPECT_QUIET) ||
               suspects_is_low(suspects, gpu, ASPECT_HOST, 0.85));
}

/* 1 if all GPUs of its NUMA node are low, which is no link's fault. */
static int is_of_low_node(const struct diagnosis *diagnosis, uint32_t gpu)
{
    const int32_t node = diagnosis->facts->gpus[gpu].near_node;
    uint32_t low = 0;

    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        if (diagnosis->facts->gpus[i].near_node != node) {
            continue;
        }
        if (!is_link_low(diagnosis, i)) {
            return 0;
        }
        low++;
    }
    return low > 1 && node >= 0;
}

static int32_t look_at_pcie_gpu(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const uint32_t gpus = diagnosis->facts->gpus_count;
    uint8_t *const is_low = arena_alloc(diagnosis->judging->arena, gpus, 1);

    FAIL_IF(is_low == NULL, diagnosis->judging->err, NVBW_E_SYSTEM,
        "no memory to diagnose");
    for (uint32_t i = 0; i < gpus; i++) {
        is_low[i] = is_link_low(diagnosis, i) && !is_of_low_node(diagnosis, i);
    }
    for (uint32_t i = 0; i < gpus; i++) {
        if (!is_low[i]) {
            continue;
        }
        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_sight(
                diagnosis, suspects_of(&diagnosis->suspects, i, ASPECT_HOST))));
        suspects_explain(
            &diagnosis->suspects, i, pcie_aspects(&diagnosis->facts->gpus[i]));
    }
    return NVBW_OK;
}

/* Where there are no siblings to compare with. */
static int32_t look_at_pcie_triage(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct sight *const least =
            suspects_least(&diagnosis->suspects, i, ASPECT_HOST);

        if ((diagnosis->suspects.explained[i] & OF_PCIE) != 0 ||
            !(least->utilisation < SUSPECT_TRIAGE)) {
            continue;
        }

        struct sight alone = *least;

        alone.ratio = NAN;
        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_sight(diagnosis, &alone)));
        suspects_explain(
            &diagnosis->suspects, i, pcie_aspects(&diagnosis->facts->gpus[i]));
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
    { .id = "pcie_width",
        .looks_at = "lanes in use against lanes of GPU and slot",
        .look = look_width,
        .sentence = "runs in too narrow a PCIe link",
        .action = "reseat the GPU or its riser; if it stays, drain the machine",
        .next = "LnkSta of `lspci -vv` and AER counters tell which end it "
                "is; swap slots to see whether it moves along" },
    { .id = "pcie_generation",
        .looks_at = "speed in use against that of GPU and slot, and a figure",
        .look = look_generation,
        .sentence = "runs in too slow a PCIe link",
        .action = "reseat the GPU or its riser; look for a link speed that "
                  "the firmware sets",
        .next = "LnkSta and LnkCtl2 of `lspci -vv` while a copy runs" },
    { .id = "pcie_under_load",
        .looks_at = "generation and lanes while copies ran",
        .look = look_under_load,
        .sentence = "trained its PCIe link down while it was measured",
        .action = "reseat the card and its riser; a link that trains down "
                  "under load has a bad contact or bad signals",
        .next = "`nvidia-smi -q -d PCI` in another window while copies run" },
    { .id = "pcie_slot",
        .looks_at = "what slots allow, among GPUs of one model",
        .look = look_slot,
        .sentence = "sits in a lesser PCIe slot than its siblings",
        .action = "move it to a slot like theirs",
        .next = "LnkCap of the slot's port in `lspci -vv`; firmware may have "
                "split the slot (bifurcation)" },
    { .id = "pcie_gpu",
        .looks_at = "a GPU that is low to and from the host",
        .look = look_at_pcie_gpu,
        .sentence = "is slow to and from the host, though its link claims all",
        .action = "reseat the GPU; a guest sees a link that the host narrowed",
        .next = "AER counters and replays (`nvidia-smi -q -d PCIE`); on a VM "
                "ask the host for LnkSta" },
    { .id = "pcie_triage",
        .looks_at = "figures under 30 % of the link, by themselves",
        .look = look_at_pcie_triage,
        .sentence = "gets far less from its PCIe link than is usual",
        .action = "look at the link first, then at host memory and IOMMU",
        .next =
            "70 to 85 % of a link is usual: run again with huge pages, then "
            "on the other NUMA node" },
};

const struct diagnosis_family diagnose_link = { "physical link", rules,
    sizeof rules / sizeof rules[0] };
