/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Finds plugin files and reads, without loading them, whether they may be
 * loaded: trust, ELF, the exported symbol, needed libraries. */
#ifndef NVBW_DISCOVER_H
#define NVBW_DISCOVER_H

#include "plan.h"
#include "schema.h"

/* Folders in order of precedence. */
struct plugin_source {
    const char *folder;
    uint32_t installed; /* 1: the installed plugin folder */
};
struct discover_request {
    const struct plugin_source *sources;
    uint32_t sources_count;
    uint32_t trust_all;    /* --trust-plugins */
    const char *host_file; /* the nvbw-host binary: its owner is trusted */
};

/* One file that looks like a plugin. A file that must not be loaded has state
 * set (STATE_SKIP missing_library or no_mpi, STATE_ERROR refused). */
struct candidate {
    const char *file;  /* real path */
    const char *stem;  /* file name without ".so" */
    const char *given; /* path as found */
    uint32_t source;
    uint32_t installed, trusted;
    uint32_t pinned; /* 1: a suite names the file; the caller's to fill in */
    const char *sha256;
    uint32_t state;
    const char *reason, *message;
};
struct candidates {
    struct candidate *list;
    uint32_t count;
};

/* Every *.so of the sources, in name order within each. Problems: folders
 * that cannot be read, two files of one name in one source (error), in two
 * sources (warning). */
int32_t discover_plugins(const struct discover_request *request,
    struct arena *arena, struct candidates *out, struct problems *problems,
    struct error *err);
/* The same examination of one file (check-plugin, suite.file). */
int32_t discover_file(const struct discover_request *request, const char *file,
    struct arena *arena, struct candidate *out, struct error *err);

#endif
