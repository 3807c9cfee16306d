/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The physical link: what is fitted, what is up, what it carries. */
#include <math.h>
#include <string.h>

#include "ceiling.h"
#include "diagnosis.h"

enum {
    OF_PCIE = 1u << ASPECT_HOST | 1u << ASPECT_HOST_SM,
    OF_NVLINK = 1u << ASPECT_PEER | 1u << ASPECT_PEER_SM
};

static int is_same_model(
    const struct gpu_facts *one, const struct gpu_facts *other)
{
    return one->name != NULL && other->name != NULL &&
           strcmp(one->name, other->name) == 0;
}

/* Without NVLink peers cross PCIe as well. */
static uint32_t pcie_aspects(const struct gpu_facts *gpu)
{
    return gpu->nvlinks_active == 0 ? OF_PCIE | OF_NVLINK : OF_PCIE;
}

/* "; 27.75 GB/s where ..." or nothing. */
static const char *with_sight(const struct diagnosis *diagnosis,
    const char *text, uint32_t gpu, enum aspect aspect)
{
    const char *const sight = diagnosis_sight(
        diagnosis, suspects_of(&diagnosis->suspects, gpu, aspect));

    return sight == NULL || text == NULL
               ? text
               : arena_format(diagnosis->judging->arena, "%s; %s", text, sight);
}

/* ---- PCIe by facts ---- */

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
            with_sight(diagnosis, seen, i, ASPECT_HOST)));
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
            with_sight(diagnosis, seen, i, ASPECT_HOST)));
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

        if (is_same_model(gpu, like)) {
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
            with_sight(diagnosis, seen, i, ASPECT_HOST)));
        suspects_explain(&diagnosis->suspects, i, pcie_aspects(gpu));
    }
    return NVBW_OK;
}

/* ---- peers by facts ---- */

/* A slice has none by design, and of a lost GPU others have more to say. */
static int can_have_peers(const struct gpu_facts *gpu)
{
    return gpu->mig != 1 && gpu->trouble == NULL && gpu->device >= 0;
}

static int is_off(const struct facts *facts, const struct pair_facts *pair)
{
    return pair->nvlinks > 0 && pair->access == 0 &&
           can_have_peers(&facts->gpus[pair->from]) &&
           can_have_peers(&facts->gpus[pair->to]);
}

static int32_t look_access(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const struct facts *const facts = diagnosis->facts;
    const struct pair_facts *first = NULL;
    uint32_t linked = 0;
    uint32_t off = 0;

    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        linked += facts->pairs[i].nvlinks > 0;
        if (is_off(facts, &facts->pairs[i])) {
            first = off == 0 ? &facts->pairs[i] : first;
            off++;
        }
    }
    if (off == 0) {
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        const struct pair_facts *const pair = &facts->pairs[i];

        if (is_off(facts, pair)) {
            suspects_explain(&diagnosis->suspects, pair->from, OF_NVLINK);
            suspects_explain(&diagnosis->suspects, pair->to, OF_NVLINK);
        }
    }

    const int is_all = off == linked && facts->gpus_count > 2;
    const char *const seen = arena_format(diagnosis->judging->arena,
        "%u of %u linked pairs cannot map each other's memory", off, linked);

    return diagnosis_report(diagnosis, rule, is_all ? -1 : (int32_t)first->from,
        is_all ? -1 : (int32_t)first->to, NULL, seen);
}

static uint32_t most_links(
    const struct facts *facts, const struct gpu_facts *like)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];

        if (is_same_model(gpu, like) && gpu->nvlinks_active > most) {
            most = gpu->nvlinks_active;
        }
    }
    return most;
}

/* What is fitted may have no partner by design, as on cards with bridges; that
 * the same model has more up here is no design. */
static int32_t look_links_down(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &diagnosis->facts->gpus[i];
        const uint32_t most = most_links(diagnosis->facts, gpu);

        if (gpu->nvlinks_active >= most || gpu->nvlinks == 0 ||
            gpu->trouble != NULL) {
            continue;
        }

        const char *const seen = arena_format(diagnosis->judging->arena,
            "%u of %u are up, others have %u", gpu->nvlinks_active,
            gpu->nvlinks, most);

        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            with_sight(diagnosis, seen, i, ASPECT_PEER)));
        suspects_explain(&diagnosis->suspects, i, OF_NVLINK);
    }
    return NVBW_OK;
}

/* ---- by figures ---- */

static int has_nvlink(const struct facts *facts, uint32_t from, uint32_t to)
{
    const struct pair_facts *const pair = facts_pair(facts, from, to);

    return pair != NULL && pair->nvlinks > 0;
}

static int is_explained(const struct diagnosis *diagnosis, uint32_t gpu)
{
    return (diagnosis->suspects.explained[gpu] & (1u << ASPECT_PEER)) != 0;
}

/* The worse of both ways between two GPUs. */
static const struct sight *both_ways(
    const struct diagnosis *diagnosis, uint32_t one, uint32_t other)
{
    const struct sight *const there =
        suspects_pair(&diagnosis->suspects, one, other);
    const struct sight *const back =
        suspects_pair(&diagnosis->suspects, other, one);

    return isnan(there->figure) || back->figure < there->figure ? back : there;
}

/* Linked pairs that are no faster than PCIe would be: all of them together, or
 * each by itself. */
static int32_t look_at_pcie_speed(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const uint32_t gpus = diagnosis->facts->gpus_count;
    const struct sight *worst = NULL;
    uint32_t slow = 0;
    uint32_t measured = 0;

    for (uint32_t i = 0; i < gpus * gpus; i++) {
        const uint32_t from = i / gpus;
        const uint32_t to = i % gpus;
        const struct sight *const sight =
            suspects_least_pair(&diagnosis->suspects, from, to);

        if (from == to || isnan(sight->figure) ||
            !has_nvlink(diagnosis->facts, from, to)) {
            continue;
        }
        measured++;
        if (sight->utilisation < SUSPECT_TRIAGE) {
            slow++;
            worst = sight;
        }
    }
    /* Fewer are one GPU's or one pair's, and have rules below. */
    if (slow == 0 || slow < measured) {
        return NVBW_OK;
    }
    for (uint32_t i = 0; i < gpus; i++) {
        suspects_explain(&diagnosis->suspects, i, OF_NVLINK);
    }
    return diagnosis_report(diagnosis, rule, gpus == 2 ? 0 : -1,
        gpus == 2 ? 1 : -1, NULL, diagnosis_sight(diagnosis, worst));
}

static int32_t look_at_nvlink_gpu(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    for (uint32_t i = 0; i < diagnosis->facts->gpus_count; i++) {
        if (!suspects_is_low(
                &diagnosis->suspects, i, ASPECT_PEER, SUSPECT_QUIET)) {
            continue;
        }
        TRY(diagnosis_report(diagnosis, rule, (int32_t)i, -1, NULL,
            diagnosis_sight(
                diagnosis, suspects_of(&diagnosis->suspects, i, ASPECT_PEER))));
        suspects_explain(&diagnosis->suspects, i, OF_NVLINK);
    }
    return NVBW_OK;
}

static int32_t look_at_pair(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    const uint32_t gpus = diagnosis->facts->gpus_count;

    for (uint32_t i = 0; i < gpus; i++) {
        for (uint32_t j = i + 1; j < gpus; j++) {
            const struct sight *const sight = both_ways(diagnosis, i, j);

            if (is_explained(diagnosis, i) || is_explained(diagnosis, j) ||
                !(sight->ratio < SUSPECT_QUIET)) {
                continue;
            }
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, (int32_t)j, NULL,
                diagnosis_sight(diagnosis, sight)));
        }
    }
    return NVBW_OK;
}

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
    { .id = "p2p_off",
        .looks_at = "peer access of pairs with NVLink",
        .look = look_access,
        .sentence = "has NVLink but no peer access over it",
        .of_two = "have NVLink but no peer access over it",
        .action = "enable P2P: driver settings, fabric manager, IOMMU and ACS",
        .next = "`nvidia-smi topo -p2p rw` names the reason per pair" },
    { .id = "nvlink_down",
        .looks_at = "NVLinks that are up, among GPUs of one model",
        .look = look_links_down,
        .sentence = "lacks NVLinks",
        .action = "drain the machine; reseat GPU board or bridge, then reset",
        .next = "`nvidia-smi nvlink -s` and `-e` name links and errors; look "
                "for Xid 74" },
    { .id = "nvlink_pcie_speed",
        .looks_at = "figures of all pairs with NVLink against their links",
        .look = look_at_pcie_speed,
        .sentence = "has NVLink, but copies between GPUs are as slow as PCIe",
        .of_two = "have NVLink, but copies between them are as slow as PCIe",
        .action = "look whether the fabric manager runs and P2P is enabled",
        .next = "`nvidia-smi nvlink -gt d` before and after: counters that "
                "do not rise prove that the links are not used" },
    { .id = "nvlink_gpu",
        .looks_at = "a GPU whose row and column are low",
        .look = look_at_nvlink_gpu,
        .sentence = "is slow to and from all other GPUs",
        .action = "drain the machine; reset the GPU, then reseat it",
        .next = "`nvidia-smi nvlink -e` of this GPU: replays and CRC errors "
                "cost bandwidth before a link goes down" },
    { .id = "pair_low",
        .looks_at = "one pair that is low, its GPUs elsewhere not",
        .look = look_at_pair,
        .sentence = "are slow between each other only",
        .action = "look at the link between them: bridge, switch port, ACS",
        .next = "`nvidia-smi topo -m` for its way, `nvidia-smi nvlink -e` at "
                "both ends" },
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
