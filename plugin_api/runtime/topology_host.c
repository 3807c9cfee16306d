/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The system itself: names, memory, IOMMU, virtualisation. */
#include "topology.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "sysfs.h"

static void read_names(
    const char *root, struct arena *arena, struct facts *facts)
{
    struct utsname names;
    const char *const cpuinfo = sysfs_text(arena, "%s/proc/cpuinfo", root);
    const char *const release = sysfs_text(arena, "%s/etc/os-release", root);

    if (uname(&names) == 0) {
        facts->host = arena_text(arena, names.nodename);
        facts->kernel = arena_text(arena, names.release);
        facts->cpu = arena_text(arena, names.machine);
    }

    const char *const model = sysfs_value(arena, cpuinfo, "model name");

    if (model != NULL) {
        facts->cpu = model;
    }
    facts->os = sysfs_value(arena, release, "PRETTY_NAME");
}

static void read_machine(
    const char *root, struct arena *arena, struct facts *facts)
{
    const char *const vendor =
        sysfs_text(arena, "%s/sys/class/dmi/id/sys_vendor", root);
    const char *const product =
        sysfs_text(arena, "%s/sys/class/dmi/id/product_name", root);

    if (vendor != NULL && product != NULL) {
        facts->machine = arena_format(arena, "%s %s", vendor, product);
    } else {
        facts->machine = vendor != NULL ? vendor : product;
    }
}

/* Every device is in a group where an IOMMU is in use; the first group stands
 * for all, since the kernel's default holds for all. */
static const char *iommu_of(const char *root)
{
    char type[32];

    if (!sysfs_read(
            type, sizeof type, "%s/sys/kernel/iommu_groups/0/type", root)) {
        return "off";
    }
    return strcmp(type, "identity") == 0 ? "passthrough" : "translated";
}

struct hypervisor {
    const char *signature, *name;
};

static const char *hypervisor_name(void)
{
#if defined(__x86_64__)
    static const struct hypervisor known[] = {
        { "KVMKVMKVM", "KVM" },
        { "Microsoft Hv", "Hyper-V" },
        { "VMwareVMware", "VMware" },
        { "XenVMMXenVMM", "Xen" },
        { "TCGTCGTCGTCG", "QEMU" },
    };
    enum { HYPERVISOR_BIT = 31, HYPERVISOR_LEAF = 0x40000000 };
    unsigned int a = 0;
    unsigned int words[4] = { 0 };

    __cpuid(1, a, words[0], words[1], words[2]);
    if (((words[1] >> HYPERVISOR_BIT) & 1) == 0) {
        return NULL;
    }
    words[3] = 0;
    __cpuid(HYPERVISOR_LEAF, a, words[0], words[1], words[2]);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp((const char *)words, known[i].signature,
                strlen(known[i].signature)) == 0) {
            return known[i].name;
        }
    }
    return "unknown hypervisor";
#else
    return NULL;
#endif
}

static int32_t imex_channel(const char *root)
{
    char path[SYSFS_PATH_BYTES];

    for (int channel = 0; channel < 8; channel++) {
        snprintf(path, sizeof path,
            "%s/dev/nvidia-caps-imex-channels/channel%d", root, channel);
        if (access(path, R_OK | W_OK) == 0) {
            return 1;
        }
    }
    return 0;
}

int32_t topology_host(const char *root, struct arena *arena,
    struct facts *facts, struct error *err)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);

    read_names(root, arena, facts);
    read_machine(root, arena, facts);
    FAIL_IF(facts->host == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    if (pages > 0 && page_bytes > 0) {
        facts->page_bytes = (uint64_t)page_bytes;
        facts->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
    }
    facts->iommu = iommu_of(root);
    facts->virtualisation = hypervisor_name();
    facts->imex_channel = imex_channel(root);
    return NVBW_OK;
}
