/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Whether the bytes of a file are a plugin that dlopen can be trusted with: a
 * shared object of this machine, whole, that exports nvbw_plugin_v1 and
 * nothing else (rules C1 and C23). Pure: reads nothing but the given bytes,
 * whatever they hold. */
#ifndef NVBW_ELF_CHECK_H
#define NVBW_ELF_CHECK_H

#include "status.h"

enum {
    ELF_NEEDED_LIMIT = 128 /* libraries; real plugins have under ten */
};

/* What a good file asks of the loader. Texts point into the bytes. */
struct elf_report {
    const char *needed[ELF_NEEDED_LIMIT]; /* DT_NEEDED, in order */
    uint32_t needed_count;
    const char *runpath; /* DT_RUNPATH, or NULL */
    const char *rpath;   /* DT_RPATH where there is no DT_RUNPATH, or NULL */
};

/* NVBW_OK and *out, or NVBW_E_INVALID with what is wrong; the sentence does
 * not name the file. */
int32_t elf_check(const void *bytes, size_t length, struct elf_report *out,
    struct error *err);

/* 1 if these first bytes of a file are those of a shared object that this
 * process could load, as far as an ELF header tells. */
int elf_is_loadable(const void *bytes, size_t length);

#endif
