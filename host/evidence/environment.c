/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "environment.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "version.h"

enum { COMMAND_LIMIT = 64 * 1024 };

/* Exact names only: a prefix such as NVIDIA_ would also catch keys. */
static const char *const names_that_matter[] = {
    "CUDA_CACHE_DISABLE",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NCCL_NVLS_ENABLE",
    "NVBW_DISABLE_MULTICAST",
    "NVBW_PLUGIN_PATH",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_VISIBLE_DEVICES",
    "SLURM_JOB_ID",
    "SLURM_NODEID",
    "SLURM_PROCID",
};

const char *time_iso(struct arena *arena)
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[32] = "";

    if (gmtime_r(&now, &parts) != NULL) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    return arena_text(arena, text);
}

uint64_t time_monotonic_ns(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The first line of a small file of the kernel's; NULL if there is none. */
static const char *read_line(const char *file, struct arena *arena)
{
    FILE *const stream = fopen(file, "re");
    char text[128] = "";

    if (stream == NULL) {
        return NULL;
    }

    const int got = fgets(text, sizeof text, stream) != NULL;

    fclose(stream);
    text[strcspn(text, "\n")] = '\0';
    return got ? arena_text(arena, text) : NULL;
}

const char *environment_boot_id(struct arena *arena)
{
    return read_line("/proc/sys/kernel/random/boot_id", arena);
}

static int is_plain(const char *word)
{
    if (*word == '\0') {
        return 0;
    }
    for (; *word != '\0'; word++) {
        if (!isalnum((unsigned char)*word) &&
            strchr("_-+=./,:@%", *word) == NULL) {
            return 0;
        }
    }
    return 1;
}

static void add_quoted(struct strbuf *out, const char *word)
{
    if (is_plain(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add(out, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            strbuf_add(out, "'\\''");
        } else {
            strbuf_add_n(out, word, 1);
        }
    }
    strbuf_add(out, "'");
}

static const char *quote_command(
    int argc, const char *const *argv, struct arena *arena)
{
    struct strbuf text;

    strbuf_init(&text, COMMAND_LIMIT);
    for (int i = 0; i < argc; i++) {
        strbuf_add(&text, i == 0 ? "" : " ");
        add_quoted(&text, argv[i]);
    }

    const char *const command =
        arena_format(arena, "%s%s", text.text, text.failed ? " ..." : "");

    strbuf_free(&text);
    return command;
}

int32_t run_header_add(struct run_header *header, const char *name_value,
    struct arena *arena, struct error *err)
{
    const char **const list = arena_append(
        arena, header->environment, &header->environment_count, sizeof *list);
    const char *const copy = arena_text(arena, name_value);

    FAIL_IF(list == NULL || copy == NULL, err, NVBW_E_SYSTEM,
        "no memory for the header of the run");
    list[header->environment_count - 1] = copy;
    header->environment = list;
    return NVBW_OK;
}

static int matters(const char *name_value)
{
    const size_t length = strcspn(name_value, "=");

    for (size_t i = 0;
         i < sizeof names_that_matter / sizeof names_that_matter[0]; i++) {
        if (strlen(names_that_matter[i]) == length &&
            strncmp(names_that_matter[i], name_value, length) == 0) {
            return 1;
        }
    }
    return 0;
}

int32_t run_header_fill(struct run_header *header, int argc,
    const char *const *argv, struct arena *arena, struct error *err)
{
    *header = (struct run_header){
        .version = EVIDENCE_VERSION,
        .build = NVBW_BUILD,
        .run_id = read_line("/proc/sys/kernel/random/uuid", arena),
        .command = quote_command(argc, argv, arena),
        .started = time_iso(arena),
        .started_ns = time_monotonic_ns(),
        .boot_id = environment_boot_id(arena),
    };
    FAIL_IF(header->command == NULL || header->started == NULL, err,
        NVBW_E_SYSTEM, "no memory for the header of the run");
    for (char *const *at = environ; at != NULL && *at != NULL; at++) {
        if (matters(*at)) {
            TRY(run_header_add(header, *at, arena, err));
        }
    }
    return NVBW_OK;
}
