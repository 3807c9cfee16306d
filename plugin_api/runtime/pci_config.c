/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "pci_config.h"

enum {
    CAPABILITIES_AT = 0x34,
    STATUS_AT = 0x06,
    STATUS_HAS_LIST = 1 << 4,
    EXPRESS_ID = 0x10,
    DEVICE_CONTROL = 8, /* from the capability's start */
    RELAXED_BIT = 4,
    PAYLOAD_SHIFT = 5,
    REQUEST_SHIFT = 12,
    SIZE_MASK = 7,
    SIZE_UNIT_BYTES = 128,
    CHAIN_LIMIT = 48,

    EXTENDED_AT = 0x100,
    ACS_ID = 0x0d,
    ACS_CONTROL = 6,
    ACS_REDIRECTS = 1 << 2 | 1 << 3,
    EXTENDED_LIMIT = 256
};

static uint32_t load16(const unsigned char *bytes, size_t at)
{
    return (uint32_t)bytes[at] | (uint32_t)bytes[at + 1] << 8;
}

static uint32_t load32(const unsigned char *bytes, size_t at)
{
    return load16(bytes, at) | load16(bytes, at + 2) << 16;
}

/* Where the capability begins; 0: not there or not readable. */
static size_t find_express(const unsigned char *bytes, size_t length)
{
    size_t at;

    if (length <= CAPABILITIES_AT ||
        (load16(bytes, STATUS_AT) & STATUS_HAS_LIST) == 0) {
        return 0;
    }
    at = bytes[CAPABILITIES_AT] & ~3u;
    for (int i = 0; i < CHAIN_LIMIT && at != 0; i++) {
        if (at + DEVICE_CONTROL + 2 > length) {
            return 0;
        }
        if (bytes[at] == EXPRESS_ID) {
            return at;
        }
        at = bytes[at + 1] & ~3u;
    }
    return 0;
}

void pci_config_settings(
    const unsigned char *bytes, size_t length, struct pci_settings *out)
{
    const size_t at = find_express(bytes, length);

    *out = (struct pci_settings){ .relaxed_ordering = -1 };
    if (at == 0) {
        return;
    }

    const uint32_t control = load16(bytes, at + DEVICE_CONTROL);

    out->max_payload = SIZE_UNIT_BYTES
                       << ((control >> PAYLOAD_SHIFT) & SIZE_MASK);
    out->max_read_request = SIZE_UNIT_BYTES
                            << ((control >> REQUEST_SHIFT) & SIZE_MASK);
    out->relaxed_ordering = (int32_t)((control >> RELAXED_BIT) & 1);
}

int32_t pci_config_redirects(const unsigned char *bytes, size_t length)
{
    size_t at = EXTENDED_AT;

    if (length <= EXTENDED_AT + 4) {
        return -1;
    }
    for (int i = 0; i < EXTENDED_LIMIT && at >= EXTENDED_AT; i++) {
        if (at + ACS_CONTROL + 2 > length) {
            return 0;
        }

        const uint32_t head = load32(bytes, at);

        if ((head & 0xffff) == ACS_ID) {
            return (load16(bytes, at + ACS_CONTROL) & ACS_REDIRECTS) != 0;
        }
        at = head >> 20;
    }
    return 0;
}
