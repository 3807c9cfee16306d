/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* PCI configuration space, as sysfs gives it: the settings of a device's
 * PCI Express capability. Pure. */
#ifndef NVBW_PCI_CONFIG_H
#define NVBW_PCI_CONFIG_H

#include <stddef.h>
#include <stdint.h>

struct pci_settings {
    uint32_t max_payload, max_read_request; /* bytes, 0: not readable */
    int32_t relaxed_ordering;               /* 1, 0, -1: not readable */
};

/* Users other than root are shown the first 64 bytes only. */
void pci_config_settings(
    const unsigned char *bytes, size_t length, struct pci_settings *out);
/* Whether a bridge sends requests between its devices up to the root (ACS
 * request or completion redirect): 1, 0, or -1 where it cannot be read. */
int32_t pci_config_redirects(const unsigned char *bytes, size_t length);

#endif
