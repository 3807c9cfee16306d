/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The physical link between GPUs: what is up, what it carries. Without NVLink
 * it is the link to the host, whose faults have been told before. */
#include <math.h>
#include <string.h>

#include "diagnosis.h"

enum { OF_PEERS = 1u << ASPECT_PEER | 1u << ASPECT_PEER_SM };

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
