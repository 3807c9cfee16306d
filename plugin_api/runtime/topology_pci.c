/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What sysfs knows of a GPU's slot: node, link, root port, settings. */
#include "topology_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pci_config.h"
#include "sysfs.h"

enum { CONFIG_BYTES = 4096, CHAIN_DEVICES = 32, ADDRESS_BYTES = 16 };

/* The devices from the root port down to the GPU, and the root bus. */
struct chain {
    char root_bus[ADDRESS_BYTES]; /* "pci0000:00" */
    char devices[CHAIN_DEVICES][ADDRESS_BYTES];
    uint32_t count;
};

static int is_address(const char *text, size_t length)
{
    return length == 12 && text[4] == ':' && text[7] == ':' && text[10] == '.';
}

static void add_part(struct chain *chain, const char *part, size_t length)
{
    if (length < ADDRESS_BYTES && strncmp(part, "pci", 3) == 0 &&
        memchr(part, ':', length) != NULL) {
        memcpy(chain->root_bus, part, length);
        chain->root_bus[length] = '\0';
        chain->count = 0;
    } else if (is_address(part, length) && chain->count < CHAIN_DEVICES) {
        memcpy(chain->devices[chain->count], part, length);
        chain->devices[chain->count][length] = '\0';
        chain->count++;
    }
}

/* From the link /sys/bus/pci/devices/ADDRESS, whose text names all devices on
 * the way: "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0". */
static int read_chain(
    const struct topology *topology, const char *pci, struct chain *out)
{
    char path[SYSFS_PATH_BYTES];
    char link[SYSFS_PATH_BYTES * 2];

    *out = (struct chain){ .count = 0 };
    snprintf(
        path, sizeof path, "%s/sys/bus/pci/devices/%s", topology->root, pci);

    const ssize_t length = readlink(path, link, sizeof link - 1);

    if (length <= 0) {
        return 0;
    }
    link[length] = '\0';
    for (const char *at = link; *at != '\0';) {
        const size_t part = strcspn(at, "/");

        add_part(out, at, part);
        at += part + (at[part] == '/');
    }
    return out->count > 0 && out->root_bus[0] != '\0';
}

static uint32_t generation_of(const char *speed)
{
    static const struct {
        double rate; /* GT/s */
        uint32_t generation;
    } rates[] = {
        { 2.5, 1 },
        { 5.0, 2 },
        { 8.0, 3 },
        { 16.0, 4 },
        { 32.0, 5 },
        { 64.0, 6 },
        { 128.0, 7 },
    };
    const double rate = strtod(speed, NULL);

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        if (rate > rates[i].rate - 0.1 && rate < rates[i].rate + 0.1) {
            return rates[i].generation;
        }
    }
    return 0;
}

struct link {
    uint32_t generation, width;
};

/* which: "current" or "max". */
static struct link read_link(
    const struct topology *topology, const char *pci, const char *which)
{
    char speed[64];
    int64_t width = 0;
    struct link link = { 0, 0 };

    if (sysfs_read(speed, sizeof speed,
            "%s/sys/bus/pci/devices/%s/%s_link_speed", topology->root, pci,
            which)) {
        link.generation = generation_of(speed);
    }
    /* A port without a link says 0 or 255. */
    if (sysfs_number(&width, "%s/sys/bus/pci/devices/%s/%s_link_width",
            topology->root, pci, which) &&
        width > 0 && width <= 32) {
        link.width = (uint32_t)width;
    }
    return link;
}

static uint32_t smaller(uint32_t one, uint32_t other)
{
    if (one == 0 || other == 0) {
        return one == 0 ? other : one;
    }
    return one < other ? one : other;
}

static void fill(uint32_t *fact, uint32_t value)
{
    if (*fact == 0) {
        *fact = value;
    }
}

/* What NVML said stands. The slot is the bridge just above the GPU. */
static void read_links(const struct topology *topology,
    const struct chain *chain, struct gpu_facts *gpu)
{
    struct pcie_facts *const pcie = &gpu->pcie;
    const struct link now = read_link(topology, gpu->pci, "current");
    const struct link most = read_link(topology, gpu->pci, "max");
    struct link slot = { 0, 0 };

    if (chain->count >= 2) {
        slot = read_link(topology, chain->devices[chain->count - 2], "max");
    }
    fill(&pcie->generation, now.generation);
    fill(&pcie->width, now.width);
    fill(&pcie->gpu_max_generation, most.generation);
    fill(&pcie->gpu_max_width, most.width);
    fill(&pcie->max_generation, smaller(most.generation, slot.generation));
    fill(&pcie->max_width, smaller(most.width, slot.width));
}

static size_t read_config(
    const struct topology *topology, const char *pci, unsigned char *out)
{
    char path[SYSFS_PATH_BYTES];
    size_t done = 0;

    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/config",
        topology->root, pci);

    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return 0;
    }
    while (done < CONFIG_BYTES) {
        const ssize_t got = read(fd, out + done, CONFIG_BYTES - done);

        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    close(fd);
    return done;
}

static int32_t larger(int32_t one, int32_t other)
{
    return one > other ? one : other;
}

static void read_settings(const struct topology *topology,
    const struct chain *chain, struct gpu_facts *gpu)
{
    unsigned char bytes[CONFIG_BYTES];
    struct pci_settings settings;
    struct pcie_facts *const pcie = &gpu->pcie;

    pci_config_settings(
        bytes, read_config(topology, gpu->pci, bytes), &settings);
    pcie->max_payload = settings.max_payload;
    pcie->max_read_request = settings.max_read_request;
    pcie->relaxed_ordering = settings.relaxed_ordering;
    for (uint32_t i = 0; i + 1 < chain->count; i++) {
        const size_t length = read_config(topology, chain->devices[i], bytes);
        const int32_t redirects = pci_config_redirects(bytes, length);

        pcie->acs_redirect = larger(pcie->acs_redirect, redirects);
        if (i > 0) {
            pcie->acs_redirect_switch =
                larger(pcie->acs_redirect_switch, redirects);
        }
    }
}

static void read_gpu(struct topology *topology, struct gpu_facts *gpu)
{
    struct chain chain;
    int64_t node = -1;

    if (gpu->pci == NULL || !read_chain(topology, gpu->pci, &chain)) {
        return;
    }
    /* The driver's own number is -1 where the firmware says nothing. */
    if (sysfs_number(&node, "%s/sys/bus/pci/devices/%s/numa_node",
            topology->root, gpu->pci)) {
        gpu->near_node = node >= 0 ? (int32_t)node : gpu->near_node;
    }
    if (chain.count >= 2) {
        gpu->pcie.root = arena_text(topology->arena, chain.devices[0]);
    }
    read_links(topology, &chain, gpu);
    read_settings(topology, &chain, gpu);
}

void topology_pci(struct topology *topology)
{
    struct facts *const facts = topology->facts;

    /* An address of a simulated GPU may be another device's here. */
    if (facts->simulated) {
        return;
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        read_gpu(topology, &facts->gpus[i]);
    }
}

static uint32_t common_of(const struct chain *one, const struct chain *other)
{
    uint32_t common = 0;

    while (common < one->count && common < other->count &&
           strcmp(one->devices[common], other->devices[common]) == 0) {
        common++;
    }
    return common;
}

const char *topology_pci_path(const struct topology *topology,
    const struct gpu_facts *from, const struct gpu_facts *to)
{
    /* Below one switch: its downstream port and the GPU. */
    enum { BELOW_ONE_SWITCH = 2 };
    struct chain one;
    struct chain other;

    if (from->pci == NULL || to->pci == NULL ||
        !read_chain(topology, from->pci, &one) ||
        !read_chain(topology, to->pci, &other)) {
        return NULL;
    }
    if (strcmp(one.root_bus, other.root_bus) != 0) {
        return from->near_node == to->near_node ? "NODE" : "SYS";
    }

    const uint32_t common = common_of(&one, &other);

    if (common == 0) {
        return "PHB";
    }
    return one.count - common <= BELOW_ONE_SWITCH &&
                   other.count - common <= BELOW_ONE_SWITCH
               ? "PIX"
               : "PXB";
}
