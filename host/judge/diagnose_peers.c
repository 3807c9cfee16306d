/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The physical link between GPUs: what is up, what it carries. Without NVLink
 * it is the link to the host, whose faults have been told before. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"
#include "quantity.h"

enum { OF_PEERS = 1u << ASPECT_PEER | 1u << ASPECT_PEER_SM };

static int is_explained(const struct diagnosis *diagnosis, uint32_t gpu)
{
    return (diagnosis->suspects.explained[gpu] & (1u << ASPECT_PEER)) != 0;
}

/* ---- by facts ---- */

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
            suspects_explain(&diagnosis->suspects, pair->from, OF_PEERS);
            suspects_explain(&diagnosis->suspects, pair->to, OF_PEERS);
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

        if (diagnosis_same_model(gpu, like) && gpu->nvlinks_active > most) {
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
            diagnosis_with_sight(diagnosis, seen, i, ASPECT_PEER)));
        suspects_explain(&diagnosis->suspects, i, OF_PEERS);
    }
    return NVBW_OK;
}

/* ---- by way of the root complex ---- */

/* Of what both GPUs get with the host over the same links: a pair that has
 * less is slow. A switch passes copies on at full speed; what a root complex
 * leaves differs from model to model, so more must be missing there. */
#define SHARE_OF_SWITCH 0.70
#define SHARE_OF_ROOT   0.50

/* PCIe pairs that a fact of the machine applies to, by whether a switch could
 * pass their copies on. */
struct detour {
    uint8_t *is_slow; /* by position of one GPU and the other, gpus x gpus */
    uint32_t slow[2], measured[2];
    uint32_t from, to; /* of the slowest */
    double host;       /* what its GPUs get with the host; NaN: not measured */
    const struct sight *worst;
};

static int is_path(const struct pair_facts *pair, const char *path)
{
    return pair->path != NULL && strcmp(pair->path, path) == 0;
}

static int is_behind_switch(const struct pair_facts *pair)
{
    return is_path(pair, "PIX") || is_path(pair, "PXB");
}

/* What one host bridge has below it: copies from one root complex to another
 * leave by both anyway. A GPU at its CPU's own link has its host figures from
 * there, not from PCIe. */
static int is_below_one_bridge(
    const struct facts *facts, const struct pair_facts *pair)
{
    return (is_behind_switch(pair) || is_path(pair, "PHB")) &&
           facts->gpus[pair->from].coherent_link != 1 &&
           facts->gpus[pair->to].coherent_link != 1;
}

/* What turns at a switch does not reach the root port. */
static int redirects(
    const struct pcie_facts *pcie, const struct pair_facts *pair)
{
    return is_behind_switch(pair) ? pcie->acs_redirect_switch == 1
                                  : pcie->acs_redirect == 1;
}

static int has_redirect(
    const struct facts *facts, const struct pair_facts *pair)
{
    return is_below_one_bridge(facts, pair) &&
           (redirects(&facts->gpus[pair->from].pcie, pair) ||
               redirects(&facts->gpus[pair->to].pcie, pair));
}

static int is_translated(
    const struct facts *facts, const struct pair_facts *pair)
{
    return is_below_one_bridge(facts, pair) && facts->iommu != NULL &&
           strcmp(facts->iommu, "translated") == 0;
}

/* The worse of both ways between two GPUs by what it reaches. */
static const struct sight *least_way(
    const struct diagnosis *diagnosis, uint32_t one, uint32_t other)
{
    const struct sight *const there =
        suspects_least_pair(&diagnosis->suspects, one, other);
    const struct sight *const back =
        suspects_least_pair(&diagnosis->suspects, other, one);

    return isnan(there->figure) || back->figure < there->figure ? back : there;
}

/* The lesser of both GPUs' figures with the host. */
static double host_of_pair(
    const struct diagnosis *diagnosis, const struct pair_facts *pair)
{
    const double one =
        suspects_least(&diagnosis->suspects, pair->from, ASPECT_HOST)->figure;
    const double other =
        suspects_least(&diagnosis->suspects, pair->to, ASPECT_HOST)->figure;

    return isnan(one) || isnan(other) ? (double)NAN : fmin(one, other);
}

static void look_at_way(const struct diagnosis *diagnosis,
    const struct pair_facts *pair, struct detour *detour)
{
    const struct sight *const sight =
        least_way(diagnosis, pair->from, pair->to);
    const double host = host_of_pair(diagnosis, pair);
    /* Without a figure, what is usual for the link stands for it. */
    const double reference =
        isnan(host) ? SUSPECT_USUAL * sight->figure / sight->utilisation : host;
    const int by_switch = is_behind_switch(pair);
    const double share = by_switch ? SHARE_OF_SWITCH : SHARE_OF_ROOT;

    if (isnan(sight->figure)) {
        return;
    }
    detour->measured[by_switch]++;
    if (!(sight->figure < share * reference)) {
        return;
    }
    detour->is_slow[pair->from * diagnosis->facts->gpus_count + pair->to] = 1;
    detour->slow[by_switch]++;
    if (detour->worst == NULL || sight->figure < detour->worst->figure) {
        detour->worst = sight;
        detour->host = host;
        detour->from = pair->from;
        detour->to = pair->to;
    }
}

static int32_t find_detour(const struct diagnosis *diagnosis,
    int (*applies)(const struct facts *, const struct pair_facts *),
    struct detour *out)
{
    const struct facts *const facts = diagnosis->facts;

    *out = (struct detour){ .is_slow = arena_alloc(diagnosis->judging->arena,
                                (size_t)facts->gpus_count * facts->gpus_count,
                                1) };
    FAIL_IF(out->is_slow == NULL, diagnosis->judging->err, NVBW_E_SYSTEM,
        "no memory to diagnose");
    for (uint32_t i = 0; i < facts->pairs_count; i++) {
        const struct pair_facts *const pair = &facts->pairs[i];

        if (pair->from < pair->to && pair->nvlinks == 0 &&
            applies(facts, pair) && !is_explained(diagnosis, pair->from) &&
            !is_explained(diagnosis, pair->to)) {
            look_at_way(diagnosis, pair, out);
        }
    }
    return NVBW_OK;
}

static uint32_t slow_pairs(const struct detour *detour)
{
    return detour->slow[0] + detour->slow[1];
}

/* "9.00 GB/s where both have 26.30 GB/s with the host (...)". */
static const char *detour_sight(
    const struct diagnosis *diagnosis, const struct detour *detour)
{
    struct arena *const arena = diagnosis->judging->arena;
    struct sight alone = *detour->worst;
    char figure[32];
    char host[32];

    if (isnan(detour->host)) {
        alone.ratio = NAN;
        return diagnosis_sight(diagnosis, &alone);
    }
    quantity_format(
        alone.figure, NVBW_UNIT_BYTES_PER_SECOND, figure, sizeof figure);
    quantity_format(
        detour->host, NVBW_UNIT_BYTES_PER_SECOND, host, sizeof host);
    return arena_format(arena, "%s where both have %s with the host (%s)",
        figure, host, alone.testcase);
}

static int32_t report_detour(struct diagnosis *diagnosis,
    const struct diagnosis_rule *rule, const struct detour *detour)
{
    const struct gpu_facts *const gpus = diagnosis->facts->gpus;
    const char *const sight = detour_sight(diagnosis, detour);

    if (slow_pairs(detour) == 1) {
        return diagnosis_report(diagnosis, rule, (int32_t)detour->from,
            (int32_t)detour->to, NULL, sight);
    }
    return diagnosis_report(diagnosis, rule, -1, -1, NULL,
        arena_format(diagnosis->judging->arena,
            "%u of %u such pairs are slow, %d and %d have %s",
            slow_pairs(detour), detour->measured[0] + detour->measured[1],
            gpus[detour->from].index, gpus[detour->to].index, sight));
}

static void explain_pairs(
    struct diagnosis *diagnosis, const struct detour *detour)
{
    const uint32_t gpus = diagnosis->facts->gpus_count;

    for (uint32_t i = 0; i < gpus * gpus; i++) {
        if (detour->is_slow[i]) {
            suspects_explain_pair(&diagnosis->suspects, i / gpus, i % gpus);
        }
    }
}

/* Of what has explained pairs; what a GPU has over NVLink is another matter. */
static void explain_gpus(struct diagnosis *diagnosis)
{
    struct suspects *const suspects = &diagnosis->suspects;
    const uint32_t gpus = diagnosis->facts->gpus_count;

    for (uint32_t i = 0; i < gpus * gpus; i++) {
        if (diagnosis->facts->gpus[i / gpus].nvlinks == 0 &&
            suspects_pair_is_explained(suspects, i / gpus, i % gpus)) {
            suspects_explain(suspects, i / gpus, OF_PEERS);
        }
    }
}

/* The IOMMU is one for all: where another pair of this kind is fast, it is not
 * what makes this one slow. */
static int is_refuted(const struct detour *detour)
{
    return (detour->slow[0] > 0 && detour->slow[0] < detour->measured[0]) ||
           (detour->slow[1] > 0 && detour->slow[1] < detour->measured[1]);
}

/* Bridges and the IOMMU each are enough to make the detour, so each is told
 * where both are there: GPUs are explained after both. */
static int32_t look_redirect(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    struct detour detour;

    TRY(find_detour(diagnosis, has_redirect, &detour));
    if (slow_pairs(&detour) == 0) {
        return NVBW_OK;
    }
    explain_pairs(diagnosis, &detour);
    return report_detour(diagnosis, rule, &detour);
}

static int32_t look_translation(
    struct diagnosis *diagnosis, const struct diagnosis_rule *rule)
{
    struct detour detour;

    TRY(find_detour(diagnosis, is_translated, &detour));

    const int is_told = slow_pairs(&detour) > 0 && !is_refuted(&detour);

    if (is_told) {
        explain_pairs(diagnosis, &detour);
    }
    explain_gpus(diagnosis);
    return is_told ? report_detour(diagnosis, rule, &detour) : NVBW_OK;
}

/* ---- by figures ---- */

static int has_nvlink(const struct facts *facts, uint32_t from, uint32_t to)
{
    const struct pair_facts *const pair = facts_pair(facts, from, to);

    return pair != NULL && pair->nvlinks > 0;
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
        suspects_explain(&diagnosis->suspects, i, OF_PEERS);
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
        suspects_explain(&diagnosis->suspects, i, OF_PEERS);
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
                suspects_pair_is_explained(&diagnosis->suspects, i, j) ||
                !(sight->ratio < SUSPECT_QUIET)) {
                continue;
            }
            TRY(diagnosis_report(diagnosis, rule, (int32_t)i, (int32_t)j, NULL,
                diagnosis_sight(diagnosis, sight)));
        }
    }
    return NVBW_OK;
}

static const struct diagnosis_rule rules[] = {
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
    { .id = "acs_redirect",
        .looks_at = "peers over PCIe far below what both get with the host, "
                    "and bridges above them that redirect (ACS)",
        .look = look_redirect,
        .sentence = "sends copies between GPUs up to the root complex (ACS "
                    "redirect)",
        .of_two = "reach each other by the root complex only (ACS redirect)",
        .action = "disable ACS redirect on the bridges above these GPUs: in "
                  "firmware, or pci=disable_acs_redir= for the kernel",
        .next =
            "ReqRedir+ in ACSCtl of `lspci -vvv` names the bridges; `setpci "
            "-s BRIDGE ECAP_ACS+6.w=0` clears it until the next boot: "
            "measure again" },
    { .id = "iommu_translates",
        .looks_at = "peers over PCIe far below what both get with the host, "
                    "and an IOMMU that translates",
        .look = look_translation,
        .sentence = "sends copies between GPUs through the IOMMU",
        .of_two = "reach each other through the IOMMU only",
        .action = "set the IOMMU to passthrough (iommu=pt for the kernel) or "
                  "switch it off in firmware",
        .next = "/sys/kernel/iommu_groups/0/type must say identity after the "
                "boot, or not be there: measure again" },
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
};

const struct diagnosis_family diagnose_peers = { "physical link", rules,
    sizeof rules / sizeof rules[0] };
