/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What comes from a plugin is read through here: structs of another size than
 * this build's, and pointers that a mistaken plugin left NULL. Pure. */
#ifndef NVBW_ABI_H
#define NVBW_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* A struct that claims to be larger than this is no struct. */
enum { ABI_STRUCT_LIMIT = 4096, ABI_LIST_LIMIT = 10000 };

/* Whether a plugin of this magic and these minors may be loaded (C2, C6). The
 * struct is this build's copy, as abi_read made it. Names the rule. */
int32_t abi_accept(const struct nvbw_plugin *plugin, struct error *err);
/* The same for any host minor: what the tests vary. */
int32_t abi_accept_on(
    const struct nvbw_plugin *plugin, uint32_t host_minor, struct error *err);

/* Copies a struct that begins with size and flags into *out of own_bytes:
 * min(size, own_bytes), the rest zero (C4). known_flags: the bits that this
 * host understands; any other is NVBW_E_INVALID. what names it in errors. */
int32_t abi_read(const void *given, const char *what, uint32_t known_flags,
    void *out, size_t own_bytes, struct error *err);

/* How many elements a NULL-terminated list has (NULL: none), or
 * NVBW_E_INVALID past ABI_LIST_LIMIT. */
int32_t abi_count(
    const void *list, const char *what, uint32_t *out_count, struct error *err);

/* Whether text is a lower_snake_case name. */
int abi_is_name(const char *text);

#endif
