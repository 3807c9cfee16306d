/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_profile.h"

#include <libconfig.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 5 };

enum setting_type { SETTING_COUNT, SETTING_REAL, SETTING_TEXT };

struct setting_row {
    const char *path;
    enum setting_type type;
    size_t offset, size;
};

#define ROW(record, path_text, kind, member)                                   \
    {                                                                          \
        .path = (path_text), .type = (kind),                                   \
        .offset = offsetof(struct record, member),                             \
        .size = sizeof(((struct record *)0)->member)                           \
    }
#define GPU_COUNT(member) ROW(profile_gpu, #member, SETTING_COUNT, member)
#define GPU_REAL(member)  ROW(profile_gpu, #member, SETTING_REAL, member)
#define GPU_TEXT(member)  ROW(profile_gpu, #member, SETTING_TEXT, member)
#define CLASS_ROWS(upper, lower)                                               \
    ROW(profile_gpu, "rate." #lower, SETTING_REAL,                             \
        classes[TRANSFER_##upper].rate),                                       \
        ROW(profile_gpu, "cost_us." #lower, SETTING_REAL,                      \
            classes[TRANSFER_##upper].cost_us),                                \
        ROW(profile_gpu, "load." #lower, SETTING_REAL,                         \
            classes[TRANSFER_##upper].load),

static const struct setting_row gpu_rows[] = { GPU_TEXT(model), GPU_TEXT(uuid),
    GPU_TEXT(pci), GPU_TEXT(serial), GPU_TEXT(vbios), GPU_TEXT(board),
    GPU_TEXT(process), GPU_COUNT(node), GPU_COUNT(memory_mib),
    GPU_COUNT(reserved_mib), GPU_COUNT(l2_kib), GPU_COUNT(units),
    GPU_COUNT(compute), GPU_COUNT(memory_clock_mhz), GPU_COUNT(sm_clock_mhz),
    GPU_COUNT(memory_bus_bits), GPU_COUNT(shared_kib), GPU_COUNT(peer),
    GPU_COUNT(island), GPU_COUNT(coherent), GPU_COUNT(mig), GPU_COUNT(watchdog),
    GPU_COUNT(fabric), GPU_COUNT(multicast), GPU_COUNT(vmm),
    GPU_COUNT(engines_h2d), GPU_COUNT(engines_d2h), GPU_COUNT(engines_peer),
    GPU_COUNT(engines_local), GPU_COUNT(throttle), GPU_COUNT(temperature),
    GPU_COUNT(power_w), GPU_COUNT(power_limit_w), GPU_COUNT(ecc_uncorrected),
    GPU_COUNT(rows_remapped), GPU_COUNT(replays), GPU_REAL(memory_rate),
    GPU_REAL(l2_rate), GPU_REAL(clock_offset_ms), GPU_REAL(clock_drift_ppm),
    GPU_REAL(kernel_us), GPU_REAL(graph_us), GPU_REAL(latency_host_ns),
    GPU_REAL(latency_peer_ns), GPU_REAL(latency_local_ns),
    GPU_REAL(latency_bulk_ns), GPU_REAL(latency_spread_ns),
    GPU_REAL(latency_loaded_host_ns), GPU_REAL(latency_loaded_peer_ns),
    GPU_REAL(latency_loaded_local_ns), GPU_REAL(latency_knee),
    GPU_COUNT(pcie.gen), GPU_COUNT(pcie.width), GPU_COUNT(pcie.max_gen),
    GPU_COUNT(pcie.max_width), GPU_REAL(pcie.down), GPU_REAL(pcie.up),
    GPU_REAL(pcie.duplex), GPU_COUNT(pcie.uplink), GPU_REAL(pcie.uplink_rate),
    GPU_COUNT(pcie.acs), GPU_REAL(pcie.redirect_rate), GPU_COUNT(nvlink.links),
    GPU_COUNT(nvlink.active), GPU_COUNT(nvlink.version),
    GPU_COUNT(nvlink.switched), GPU_REAL(nvlink.line), GPU_REAL(nvlink.in),
    GPU_REAL(nvlink.out), GPU_REAL(nvlink.duplex),
    TRANSFER_CLASSES(CLASS_ROWS){ .path = NULL } };

#define TOP(type, member) ROW(profile, #member, type, member)

static const struct setting_row top_rows[] = { TOP(SETTING_TEXT, name),
    TOP(SETTING_TEXT, driver_version), TOP(SETTING_TEXT, faults),
    TOP(SETTING_COUNT, cuda_version), TOP(SETTING_COUNT, count),
    TOP(SETTING_COUNT, tray), TOP(SETTING_COUNT, queue_depth),
    TOP(SETTING_COUNT, nvml), TOP(SETTING_COUNT, sparse_above_mib),
    TOP(SETTING_REAL, quantum_us), TOP(SETTING_REAL, event_resolution_ns),
    TOP(SETTING_COUNT, host.nodes), TOP(SETTING_REAL, host.read),
    TOP(SETTING_REAL, host.write), TOP(SETTING_REAL, host.total),
    TOP(SETTING_REAL, host.weight_down), TOP(SETTING_REAL, host.weight_up),
    TOP(SETTING_REAL, host.between_nodes), TOP(SETTING_COUNT, host.far),
    TOP(SETTING_TEXT, host.iommu), { .path = NULL } };

struct load {
    struct profile *profile;
    const char *folder, *file;
    char *text;
    size_t text_size;
    int is_base;
};

static int complain(
    const struct load *load, const config_setting_t *at, const char *what)
{
    const char *name = config_setting_name(at);

    snprintf(load->text, load->text_size, "%s:%u: %s \"%s\"", load->file,
        config_setting_source_line(at), what, name == NULL ? "?" : name);
    return -1;
}

static int is_number(const config_setting_t *setting)
{
    const int type = config_setting_type(setting);

    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 ||
           type == CONFIG_TYPE_FLOAT || type == CONFIG_TYPE_BOOL;
}

static double number_of(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_FLOAT:
        return config_setting_get_float(setting);
    case CONFIG_TYPE_BOOL:
        return config_setting_get_bool(setting);
    default:
        return (double)config_setting_get_int64(setting);
    }
}

static int store(const struct load *load, const struct setting_row *row,
    const config_setting_t *setting, void *record)
{
    char *const at = (char *)record + row->offset;

    if (row->type == SETTING_TEXT) {
        const char *text = config_setting_get_string(setting);

        if (text == NULL || strlen(text) >= row->size) {
            return complain(load, setting, "not a text, or too long:");
        }
        snprintf(at, row->size, "%s", text);
        return 0;
    }
    if (!is_number(setting) || number_of(setting) < 0) {
        return complain(load, setting, "not a number of zero or more:");
    }
    const double number = number_of(setting);

    if (row->type == SETTING_REAL) {
        memcpy(at, &number, sizeof number);
        return 0;
    }
    if (number > UINT32_MAX) {
        return complain(load, setting, "too large:");
    }
    const uint32_t count = (uint32_t)number;

    memcpy(at, &count, sizeof count);
    return 0;
}

static const struct setting_row *find_row(
    const struct setting_row *rows, const char *path)
{
    for (; rows->path != NULL; rows++) {
        if (strcmp(rows->path, path) == 0) {
            return rows;
        }
    }
    return NULL;
}

static int apply(const struct load *load, const struct setting_row *rows,
    const config_setting_t *group, const char *prefix, void *record);

static int apply_one(const struct load *load, const struct setting_row *rows,
    const config_setting_t *setting, const char *path, void *record)
{
    if (config_setting_is_group(setting)) {
        return apply(load, rows, setting, path, record);
    }
    const struct setting_row *row = find_row(rows, path);

    return row == NULL ? complain(load, setting, "unknown setting")
                       : store(load, row, setting, record);
}

/* Stores every setting of a group, with those of the groups in it. */
static int apply(const struct load *load, const struct setting_row *rows,
    const config_setting_t *group, const char *prefix, void *record)
{
    const int count = config_setting_length(group);

    for (int i = 0; i < count; i++) {
        const config_setting_t *setting =
            config_setting_get_elem(group, (unsigned)i);
        char path[2 * PROFILE_TEXT];

        snprintf(path, sizeof path, "%s%s%s", prefix,
            prefix[0] != '\0' ? "." : "", config_setting_name(setting));
        if (strcmp(path, "index") != 0 &&
            apply_one(load, rows, setting, path, record) != 0) {
            return -1;
        }
    }
    return 0;
}

/* What no profile has to say. */
static void set_defaults(struct profile *profile)
{
    *profile = (struct profile){ .cuda_version = 13000,
        .driver_version = "580.159.04",
        .queue_depth = 1024,
        .nvml = 1,
        .sparse_above_mib = 16,
        .quantum_us = 20,
        .event_resolution_ns = 500,
        .host = {
            .nodes = 1, .weight_down = 1, .weight_up = 1, .iommu = "off" } };
}

static void set_gpu_defaults(struct profile_gpu *gpu, uint32_t index)
{
    *gpu = (struct profile_gpu){ .model = "Simulated GPU",
        .vbios = "00.00.00.00.00",
        .memory_mib = 16384,
        .l2_kib = 32768,
        .units = 64,
        .compute = 90,
        .memory_clock_mhz = 2000,
        .sm_clock_mhz = 1500,
        .memory_bus_bits = 4096,
        .shared_kib = 228,
        .peer = 1,
        .vmm = 1,
        .engines_h2d = 1,
        .engines_d2h = 1,
        .engines_peer = 4,
        .engines_local = 1,
        .temperature = 40,
        .power_w = 100,
        .power_limit_w = 400,
        .latency_host_ns = 1000,
        .latency_peer_ns = 800,
        .latency_local_ns = 300 };
    for (uint32_t i = 0; i < TRANSFER_CLASSES_END; i++) {
        gpu->classes[i].load = 1;
    }
    snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-00000000-0000-0000-0000-%012x",
        index + 1);
    snprintf(gpu->pci, sizeof gpu->pci, "%08x:%02x:00.0", index / 30,
        (index % 30) * 8 + 8);
    snprintf(gpu->serial, sizeof gpu->serial, "%013u", 1650000000U + index);
}

static int make_gpus(const struct load *load)
{
    struct profile *profile = load->profile;

    if (profile->count > PROFILE_GPUS_MAX) {
        snprintf(load->text, load->text_size, "%s: count is over %d",
            load->file, PROFILE_GPUS_MAX);
        return -1;
    }
    profile->gpus = calloc((size_t)profile->count + 1, sizeof *profile->gpus);
    if (profile->gpus == NULL) {
        snprintf(load->text, load->text_size, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < profile->count; i++) {
        set_gpu_defaults(&profile->gpus[i], i);
    }
    return 0;
}

static int apply_to_all(const struct load *load, const config_setting_t *group)
{
    for (uint32_t i = 0; i < load->profile->count; i++) {
        if (apply(load, gpu_rows, group, "", &load->profile->gpus[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int apply_to_one(const struct load *load, const config_setting_t *group)
{
    const config_setting_t *index = config_setting_get_member(group, "index");

    if (index == NULL || !is_number(index)) {
        return complain(load, group, "a group without index in");
    }
    const double number = number_of(index);

    if (number < 0 || number >= load->profile->count) {
        /* A base may have more GPUs than the profile takes of it. */
        return load->is_base ? 0 : complain(load, index, "no such GPU:");
    }
    return apply(
        load, gpu_rows, group, "", &load->profile->gpus[(uint32_t)number]);
}

static int apply_gpus(const struct load *load, const config_setting_t *list)
{
    const int count = config_setting_length(list);

    for (int i = 0; i < count; i++) {
        if (apply_to_one(load, config_setting_get_elem(list, (unsigned)i)) !=
            0) {
            return -1;
        }
    }
    return 0;
}

/* The settings of the file's top that are not about GPUs. */
static int apply_top(const struct load *load, const config_setting_t *root)
{
    static const char *const others[] = { "gpu", "gpus", "base", "title" };
    const int count = config_setting_length(root);

    for (int i = 0; i < count; i++) {
        const config_setting_t *setting =
            config_setting_get_elem(root, (unsigned)i);
        const char *name = config_setting_name(setting);
        int is_other = 0;

        for (size_t j = 0; j < sizeof others / sizeof others[0]; j++) {
            is_other |= strcmp(name, others[j]) == 0;
        }
        if (is_other) {
            continue;
        }
        if (apply_one(load, top_rows, setting, name, load->profile) != 0) {
            return -1;
        }
    }
    return 0;
}

static int apply_file(const struct load *load, const config_t *config)
{
    const config_setting_t *all = config_lookup(config, "gpu");
    const config_setting_t *some = config_lookup(config, "gpus");

    if (all != NULL && apply_to_all(load, all) != 0) {
        return -1;
    }
    return some != NULL ? apply_gpus(load, some) : 0;
}

static void find_file(
    const struct load *load, const char *name, char *out, size_t size)
{
    if (strchr(name, '/') != NULL) {
        snprintf(out, size, "%s", name);
    } else {
        snprintf(out, size, "%s/%s.cfg", load->folder, name);
    }
}

/* The file and its bases, which say first what it then changes. */
struct chain {
    config_t configs[FILES_MAX];
    char files[FILES_MAX][PATH_MAX];
    uint32_t count;
};

static int read_chain(
    const struct load *load, const char *name, struct chain *chain)
{
    while (name != NULL) {
        if (chain->count == FILES_MAX) {
            snprintf(load->text, load->text_size, "%s: too many bases",
                chain->files[0]);
            return -1;
        }
        config_t *config = &chain->configs[chain->count];
        char *file = chain->files[chain->count];

        find_file(load, name, file, PATH_MAX);
        config_init(config);
        chain->count++;
        if (!config_read_file(config, file)) {
            snprintf(load->text, load->text_size, "%s:%d: %s", file,
                config_error_line(config), config_error_text(config));
            return -1;
        }
        name = NULL;
        config_lookup_string(config, "base", &name);
    }
    return 0;
}

/* First what is about the machine, which says how many GPUs there are. */
static int apply_chain(struct load *load, const struct chain *chain)
{
    for (uint32_t i = chain->count; i > 0; i--) {
        load->file = chain->files[i - 1];
        if (apply_top(load, config_root_setting(&chain->configs[i - 1])) != 0) {
            return -1;
        }
    }
    if (make_gpus(load) != 0) {
        return -1;
    }
    for (uint32_t i = chain->count; i > 0; i--) {
        load->file = chain->files[i - 1];
        load->is_base = i > 1;
        if (apply_file(load, &chain->configs[i - 1]) != 0) {
            return -1;
        }
    }
    return 0;
}

int profile_load(const char *name, const char *folder, struct profile *out,
    char *text, size_t text_size)
{
    struct load load = {
        .profile = out, .folder = folder, .text = text, .text_size = text_size
    };
    struct chain *chain = calloc(1, sizeof *chain);

    set_defaults(out);
    if (chain == NULL) {
        snprintf(text, text_size, "out of memory");
        return -1;
    }
    const int result =
        read_chain(&load, name, chain) != 0 ? -1 : apply_chain(&load, chain);

    for (uint32_t i = 0; i < chain->count; i++) {
        config_destroy(&chain->configs[i]);
    }
    free(chain);
    if (result != 0) {
        profile_free(out);
    }
    return result;
}

void profile_free(struct profile *profile)
{
    free(profile->gpus);
    profile->gpus = NULL;
    profile->count = 0;
}
