/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "abi.h"

#include <string.h>

/* Of the headers before 1.0, "~NVBWDFT". */
#define MAGIC_DRAFT UINT64_C(0x5446445742564e7e)

/* What every struct of the contract begins with. */
struct head {
    uint32_t size, flags;
};

static int32_t check_minors(
    const struct nvbw_plugin *plugin, uint32_t host_minor, struct error *err)
{
    FAIL_IF(plugin->min_host_minor > plugin->abi_minor, err, NVBW_E_INVALID,
        "C6: it asks for host minor %u but was built with minor %u",
        plugin->min_host_minor, plugin->abi_minor);
    FAIL_IF(plugin->min_host_minor > host_minor, err, NVBW_E_INVALID,
        "C6: it needs a host of minor %u or later, this one is minor %u; "
        "update nvbw-host",
        plugin->min_host_minor, host_minor);
    return NVBW_OK;
}

int32_t abi_accept_on(
    const struct nvbw_plugin *plugin, uint32_t host_minor, struct error *err)
{
    FAIL_IF(plugin->magic == MAGIC_DRAFT, err, NVBW_E_INVALID,
        "C6: it was built from a draft of nvbw/plugin.h, from before 1.0; "
        "rebuild it with this host's");
    FAIL_IF(plugin->magic != NVBW_MAGIC, err, NVBW_E_INVALID,
        "C2: nvbw_plugin_v1 has no magic number: 0x%016llx is not a plugin's",
        (unsigned long long)plugin->magic);
    return check_minors(plugin, host_minor, err);
}

int32_t abi_accept(const struct nvbw_plugin *plugin, struct error *err)
{
    return abi_accept_on(plugin, NVBW_ABI_MINOR, err);
}

int32_t abi_read(const void *given, const char *what, uint32_t known_flags,
    void *out, size_t own_bytes, struct error *err)
{
    struct head head;

    memset(out, 0, own_bytes);
    FAIL_IF(given == NULL, err, NVBW_E_INVALID, "%s is NULL", what);
    memcpy(&head, given, sizeof head);
    FAIL_IF(head.size < sizeof head || head.size > ABI_STRUCT_LIMIT, err,
        NVBW_E_INVALID, "C2: %s has size %u; set .size to its sizeof", what,
        head.size);
    FAIL_IF((head.flags & ~known_flags) != 0, err, NVBW_E_INVALID,
        "C2: %s has flags 0x%x that this host does not know", what,
        head.flags & ~known_flags);
    memcpy(out, given, head.size < own_bytes ? head.size : own_bytes);
    return NVBW_OK;
}

int32_t abi_count(
    const void *list, const char *what, uint32_t *out_count, struct error *err)
{
    const void *const *const elements = list;
    uint32_t count = 0;

    while (elements != NULL && elements[count] != NULL) {
        count++;
        FAIL_IF(count > ABI_LIST_LIMIT, err, NVBW_E_INVALID,
            "C4: %s has more than %d entries; is its NULL missing", what,
            ABI_LIST_LIMIT);
    }
    *out_count = count;
    return NVBW_OK;
}

int abi_is_name(const char *text)
{
    if (text == NULL || text[0] < 'a' || text[0] > 'z') {
        return 0;
    }
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
           strlen(text);
}
