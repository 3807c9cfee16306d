/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "topology.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel_images.h"
#include "sysfs.h"
#include "topology_parts.h"

enum {
    NODES_LIMIT = 64,
    /* The driver has been started before, so NVML needs no time for that. */
    NVML_SECONDS = 15,
    READING_ARENA_BYTES = 256 << 20
};

struct gpu_facts *topology_add_gpu(struct topology *topology)
{
    struct facts *const facts = topology->facts;

    facts->gpus = arena_append(
        topology->arena, facts->gpus, &facts->gpus_count, sizeof *facts->gpus);
    if (facts->gpus == NULL) {
        return NULL;
    }

    struct gpu_facts *const gpu = &facts->gpus[facts->gpus_count - 1];

    *gpu = (struct gpu_facts){ .index = -1,
        .device = -1,
        .near_node = -1,
        .pcie = { .relaxed_ordering = -1,
            .acs_redirect = -1,
            .acs_redirect_switch = -1 } };
    return gpu;
}

static int by_address(const void *one, const void *other)
{
    const struct gpu_facts *const a = one;
    const struct gpu_facts *const b = other;

    return strcmp(a->pci == NULL ? "" : a->pci, b->pci == NULL ? "" : b->pci);
}

/* PCI order; the numbers stand where NVML has no better ones. */
static void order_gpus(struct facts *facts)
{
    if (facts->gpus_count > 0) {
        qsort(facts->gpus, facts->gpus_count, sizeof *facts->gpus, by_address);
    }
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        facts->gpus[i].index = (int32_t)i;
    }
}

/* A simulated machine may have nodes that this one lacks: its first node
 * stands for them. */
static int32_t add_simulated_nodes(struct topology *topology, struct error *err)
{
    struct facts *const facts = topology->facts;

    for (uint32_t i = 0; facts->simulated && i < facts->gpus_count; i++) {
        const int32_t number = facts->gpus[i].near_node;
        struct node_facts node;

        if (number < 0 || facts->nodes_count >= NODES_LIMIT ||
            facts_find_node(facts, number) >= 0) {
            continue;
        }
        node = facts->nodes[0];
        node.number = number;
        node.distances = NULL;
        node.distances_count = 0;
        facts->nodes = arena_append(topology->arena, facts->nodes,
            &facts->nodes_count, sizeof *facts->nodes);
        FAIL_IF(facts->nodes == NULL, err, NVBW_E_SYSTEM,
            "no memory for the facts");
        facts->nodes[facts->nodes_count - 1] = node;
    }
    return NVBW_OK;
}

static void read_driver_version(struct topology *topology)
{
    if (topology->facts->driver_version == NULL &&
        !topology->facts->simulated) {
        topology->facts->driver_version = sysfs_text(
            topology->arena, "%s/sys/module/nvidia/version", topology->root);
    }
}

/* A GPU without a name would be nobody's. */
static void name_gpus(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (facts->gpus[i].name == NULL) {
            facts->gpus[i].name = "unknown GPU";
        }
    }
}

/* What comes after the driver's own list. */
static int32_t read_rest(
    struct topology *topology, int with_nvml, struct error *err)
{
    struct facts *const facts = topology->facts;

    if (with_nvml) {
        TRY(topology_nvml_list(topology, topology->driver_file, err));
    }
    order_gpus(facts);
    TRY(topology_nvml_details(topology, err));
    topology_pci(topology);
    name_gpus(facts);
    read_driver_version(topology);
    TRY(add_simulated_nodes(topology, err));
    return topology_paths(topology, err);
}

/* The rest, read by a thread on a copy, since NVML may never answer. */
struct reading {
    struct topology topology;
    struct facts facts;
    struct arena arena;
    struct error err;
    int32_t status;
    int done;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
};

static void *read_in_thread(void *user)
{
    struct reading *const reading = user;

    reading->status = read_rest(&reading->topology, 1, &reading->err);
    pthread_mutex_lock(&reading->lock);
    reading->done = 1;
    pthread_cond_signal(&reading->ended);
    pthread_mutex_unlock(&reading->lock);
    return NULL;
}

static int is_done_in_time(struct reading *reading)
{
    struct timespec until;
    int status = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += NVML_SECONDS;
    pthread_mutex_lock(&reading->lock);
    while (!reading->done && status == 0) {
        status =
            pthread_cond_timedwait(&reading->ended, &reading->lock, &until);
    }

    const int done = reading->done;

    pthread_mutex_unlock(&reading->lock);
    return done;
}

static void close_reading(struct reading *reading)
{
    pthread_cond_destroy(&reading->ended);
    pthread_mutex_destroy(&reading->lock);
    arena_clear(&reading->arena);
    free(reading);
}

/* A copied list has no room for more; arena_append needs one that it made. */
static void *make_growable(
    struct arena *arena, const void *list, uint32_t count, size_t size)
{
    void *copy = NULL;
    uint32_t have = 0;

    while (have < count) {
        copy = arena_append(arena, copy, &have, size);
        if (copy == NULL) {
            return NULL;
        }
    }
    if (count > 0) {
        memcpy(copy, list, count * size);
    }
    return copy;
}

static int32_t copy_facts(
    struct reading *reading, const struct facts *facts, struct error *err)
{
    struct facts *const own = &reading->facts;

    TRY(fields_copy(&facts_fields, facts, &reading->arena, own, err));
    own->gpus = make_growable(
        &reading->arena, own->gpus, own->gpus_count, sizeof *own->gpus);
    own->nodes = make_growable(
        &reading->arena, own->nodes, own->nodes_count, sizeof *own->nodes);
    FAIL_IF((own->gpus == NULL && own->gpus_count > 0) ||
                (own->nodes == NULL && own->nodes_count > 0),
        err, NVBW_E_SYSTEM, "no memory for the facts");
    return NVBW_OK;
}

static int32_t open_reading(
    const struct topology *topology, struct reading **out, struct error *err)
{
    struct reading *const reading = calloc(1, sizeof *reading);
    pthread_condattr_t attributes;

    FAIL_IF(reading == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    arena_init(&reading->arena, READING_ARENA_BYTES);
    reading->topology = *topology;
    reading->topology.arena = &reading->arena;
    reading->topology.facts = &reading->facts;
    pthread_mutex_init(&reading->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reading->ended, &attributes);
    pthread_condattr_destroy(&attributes);

    const int32_t status = copy_facts(reading, topology->facts, err);

    if (status < 0) {
        close_reading(reading);
        return status;
    }
    *out = reading;
    return NVBW_OK;
}

/* A thread that hangs in NVML keeps what it works on: it may come back. */
static int32_t read_with_nvml(
    struct topology *topology, int *out_hangs, struct error *err)
{
    struct reading *reading = NULL;

    TRY(open_reading(topology, &reading, err));
    if (pthread_create(&reading->thread, NULL, read_in_thread, reading) != 0) {
        close_reading(reading);
        return error_set(err, NVBW_E_SYSTEM, "no thread to ask NVML");
    }
    *out_hangs = !is_done_in_time(reading);
    if (*out_hangs) {
        pthread_detach(reading->thread);
        return NVBW_OK;
    }
    pthread_join(reading->thread, NULL);

    int32_t status = reading->status;

    if (status < 0 && err != NULL) {
        *err = reading->err;
    }
    if (status >= 0) {
        status = fields_copy(&facts_fields, &reading->facts, topology->arena,
            topology->facts, err);
    }
    close_reading(reading);
    return status;
}

static int32_t read_gpus(struct topology *topology, struct error *err)
{
    int hangs = 0;

    TRY(topology_cuda(topology, topology->driver_file, err));
    TRY(read_with_nvml(topology, &hangs, err));
    if (!hangs) {
        return NVBW_OK;
    }
    TRY(read_rest(topology, 0, err));
    topology->facts->nvml_trouble = arena_format(topology->arena,
        "NVML did not answer within %d s; see dmesg for lines with NVRM",
        NVML_SECONDS);
    return NVBW_OK;
}

int32_t topology_read(const char *driver_file, struct arena *arena,
    struct facts *out, struct error *err)
{
    struct topology *const topology = arena_alloc(arena, 1, sizeof *topology);

    FAIL_IF(topology == NULL, err, NVBW_E_SYSTEM, "no memory for the facts");
    *out = (struct facts){ .driver_file = driver_file == NULL ? "libcuda.so.1"
                                                              : driver_file,
        .sm_kernels = (uint32_t)kernel_images_built };
    topology->root = "";
    topology->driver_file = driver_file;
    topology->arena = arena;
    topology->facts = out;
    TRY(topology_host(topology->root, arena, out, err));
    TRY(topology_numa(topology->root, arena, out, err));
    return read_gpus(topology, err);
}
