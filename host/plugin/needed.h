/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether the libraries that a plugin needs are there, asked of the file
 * system in the loader's own order and without loading anything. */
#ifndef NVBW_NEEDED_H
#define NVBW_NEEDED_H

#include "elf_check.h"

/* Where libraries are looked for. */
struct needed_places {
    const char *library_path;   /* LD_LIBRARY_PATH, or NULL */
    const unsigned char *cache; /* /etc/ld.so.cache, or NULL */
    size_t cache_bytes;
    const char *const *folders; /* default ones; NULL-terminated */
};

/* The loader's default folders on this machine. */
extern const char *const needed_default_folders[];

/* The first library of the report that is nowhere, or NULL. folder is the
 * plugin's own, for $ORIGIN. What cannot be told for sure counts as there:
 * the loader has the last word. */
const char *needed_missing(const struct elf_report *report, const char *folder,
    const struct needed_places *places);

/* Looks a name up in the bytes of an ld.so.cache: a path into the bytes, or
 * NULL. *position starts at 0 and is moved on, so that the next call gives the
 * next entry of that name. Pure. */
const char *needed_in_cache(const unsigned char *cache, size_t cache_bytes,
    const char *name, uint32_t *position);

#endif
