/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "topo_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "quantity.h"

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* ---- machine ---- */

static void print_machine(const struct facts *facts)
{
    if (facts->simulated) {
        printf("*** SIMULATED DRIVER (profile %s): no such machine is here "
               "***\n",
            or_text(facts->profile, "unknown"));
    }
    printf("%s, %s, Linux %s\n", or_text(facts->host, "unknown host"),
        or_text(facts->cpu, "unknown CPU"), or_text(facts->kernel, "?"));
    if (facts->driver_version != NULL) {
        printf("driver %s, CUDA %u.%u\n", facts->driver_version,
            facts->cuda_version / 1000, facts->cuda_version % 1000 / 10);
    }
    if (facts->driver_trouble != NULL) {
        printf("%s\n", facts->driver_trouble);
    } else if (facts->nvml_trouble != NULL) {
        printf("NVLinks and PCIe are known in part: %s\n", facts->nvml_trouble);
    }
    if (facts->iommu != NULL) {
        printf("IOMMU %s\n", facts->iommu);
    }
}

static void print_nodes(const struct facts *facts)
{
    char size[32];

    printf("\nNUMA nodes\n");
    for (uint32_t i = 0; i < facts->nodes_count; i++) {
        const struct node_facts *const node = &facts->nodes[i];

        quantity_format(
            (double)node->memory_bytes, NVBW_UNIT_BYTES, size, sizeof size);
        printf("  node %-2d %9s  CPUs %s\n", node->number, size,
            or_text(node->cpus, "none"));
    }
}

/* ---- GPUs ---- */

static void print_pcie(const struct pcie_facts *pcie)
{
    if (pcie->width == 0 && pcie->max_width == 0) {
        printf("         PCIe unknown");
        return;
    }
    printf("         PCIe Gen%u x%u now, Gen%u x%u at most", pcie->generation,
        pcie->width, pcie->max_generation, pcie->max_width);
}

/* What PCI configuration space says; who may not read it sees no such line. */
static void print_settings(const struct pcie_facts *pcie)
{
    const char *comma = "         ";

    if (pcie->max_payload > 0) {
        printf("%spayload %u B", comma, pcie->max_payload);
        comma = ", ";
    }
    if (pcie->max_read_request > 0) {
        printf("%sread request %u B", comma, pcie->max_read_request);
        comma = ", ";
    }
    if (pcie->relaxed_ordering >= 0) {
        printf("%srelaxed ordering %s", comma,
            pcie->relaxed_ordering == 1 ? "on" : "off");
        comma = ", ";
    }
    if (pcie->acs_redirect >= 0) {
        printf("%sACS %s", comma,
            pcie->acs_redirect == 1 ? "redirects peer traffic"
                                    : "redirects nothing");
        comma = ", ";
    }
    printf("%s", comma[0] == ',' ? "\n" : "");
}

static void print_nvlink(const struct gpu_facts *gpu)
{
    if (gpu->nvlinks == 0) {
        printf("         no NVLink\n");
        return;
    }
    printf(
        "         NVLink %u of %u active", gpu->nvlinks_active, gpu->nvlinks);
    if (gpu->nvlink_rate > 0) {
        printf(", %g GB/s each (payload %g)", (double)gpu->nvlink_rate / 1e9,
            ceiling_nvlink_payload((double)gpu->nvlink_rate) / 1e9);
    }
    printf("\n");
}

static void print_gpu(const struct gpu_facts *gpu)
{
    printf("  GPU %-2d %s, %s, %s\n", gpu->index,
        or_text(gpu->name, "unknown GPU"), or_text(gpu->pci, "no address"),
        or_text(gpu->uuid, "no UUID"));
    print_pcie(&gpu->pcie);
    if (gpu->near_node >= 0) {
        printf(", near node %d\n", gpu->near_node);
    } else {
        printf(", nearest node unknown\n");
    }
    print_settings(&gpu->pcie);
    print_nvlink(gpu);
    if (gpu->coherent_link == 1) {
        printf("         C2C to its CPU: host traffic does not cross PCIe\n");
    }
    if (gpu->mig == 1) {
        printf("         MIG is on\n");
    }
    if (gpu->trouble != NULL) {
        printf("         cannot be used: %s\n", gpu->trouble);
    }
}

static void print_gpus(const struct topo *topo)
{
    printf("\nGPUs%s\n", topo->gpus_count == 0 ? ": none to be seen" : "");
    for (uint32_t i = 0; i < topo->gpus_count; i++) {
        print_gpu(&topo->facts->gpus[topo->gpus[i]]);
    }
}

/* ---- peers ---- */

static void print_pair(const struct facts *facts, uint32_t from, uint32_t to)
{
    const struct pair_facts *const pair = facts_pair(facts, from, to);
    char text[16] = "X";

    if (from != to) {
        snprintf(text, sizeof text, "%.8s%s",
            pair == NULL ? "?" : or_text(pair->path, "?"),
            pair != NULL && pair->access == 1 ? "" : "*");
    }
    printf(" %6s", text);
}

static int has_inaccessible(const struct topo *topo)
{
    for (uint32_t i = 0; i < topo->facts->pairs_count; i++) {
        if (topo->facts->pairs[i].access != 1) {
            return 1;
        }
    }
    return 0;
}

static void print_pairs(const struct topo *topo)
{
    const struct facts *const facts = topo->facts;
    char label[16];

    if (topo->gpus_count < 2) {
        return;
    }
    printf("\nPeer paths, from row to column\n%8s", "");
    for (uint32_t col = 0; col < topo->gpus_count; col++) {
        snprintf(
            label, sizeof label, "GPU%d", facts->gpus[topo->gpus[col]].index);
        printf(" %6s", label);
    }
    printf("\n");
    for (uint32_t row = 0; row < topo->gpus_count; row++) {
        printf("  GPU%-3d", facts->gpus[topo->gpus[row]].index);
        for (uint32_t col = 0; col < topo->gpus_count; col++) {
            print_pair(facts, topo->gpus[row], topo->gpus[col]);
        }
        printf("\n");
    }
    printf("  NV#: so many NVLinks; PIX: one PCIe switch; PXB: several; PHB: "
           "a host\n  bridge; NODE: bridges of one NUMA node; SYS: between "
           "NUMA nodes; ?: unknown\n");
    if (has_inaccessible(topo)) {
        printf("  *: the row cannot map the memory of the column\n");
    }
}

/* ---- limits ---- */

/* One line serves both: the same link, and numbers that follow each other. */
static int is_alike(const struct facts *facts, const struct topo_limit *one,
    const struct topo_limit *two)
{
    return facts->gpus[one->gpu].index + 1 == facts->gpus[two->gpu].index &&
           strcmp(one->name, two->name) == 0 &&
           strcmp(one->expected.formula, two->expected.formula) == 0 &&
           strcmp(one->now.formula, two->now.formula) == 0;
}

static void print_limit(const struct topo *topo, uint32_t at, uint32_t count)
{
    const struct topo_limit *const limit = &topo->limits[at];
    const struct gpu_facts *const gpus = topo->facts->gpus;
    char who[48];

    snprintf(who, sizeof who, "GPU %d", gpus[limit->gpu].index);
    if (count > 1) {
        const size_t used = strlen(who);

        snprintf(who + used, sizeof who - used, " to %d",
            gpus[topo->limits[at + count - 1].gpu].index);
    }
    printf("  %-10s %s\n", who, limit->expected.formula);
    if (!isnan(limit->now.rate) && limit->now.rate < limit->expected.rate) {
        printf("  %-10s now only %s\n", "", limit->now.formula);
    }
}

static void print_limits(const struct topo *topo)
{
    printf("\nMost that a link can carry, each direction; `expected` in limits "
           "is this times\nthe efficiency of the traffic, `link` is the link "
           "as it is now\n");
    for (uint32_t i = 0; i < topo->limits_count;) {
        uint32_t count = 1;

        while (i + count < topo->limits_count &&
               is_alike(topo->facts, &topo->limits[i + count - 1],
                   &topo->limits[i + count])) {
            count++;
        }
        print_limit(topo, i, count);
        i += count;
    }
}

void topo_text_print(const struct topo *topo)
{
    print_machine(topo->facts);
    print_gpus(topo);
    print_nodes(topo->facts);
    print_pairs(topo);
    if (topo->limits_count > 0) {
        print_limits(topo);
    }
}
