/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvml_watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "nvml_api.h"
#include "sysfs.h"

enum {
    PROCESS_LIMIT = 64,
    FIELDS_MOST = 32,
    GENERATIONS = 8,
    EVENTS_MOST = 64
};
static const uint64_t WHOLE_NS = 12u * 1000 * 1000;

struct watched {
    struct nvmlDevice_st *device; /* NULL: NVML does not know it */
    uint64_t lacks;               /* bit per step: it is not to be had */
    uint32_t xids, last_xid, has_xids;
    uint32_t links;
};

struct nvml_watch {
    struct nvml_api nvml;
    struct nvmlEventSet_st *events; /* NULL: no Xid events */
    struct watched *gpus;           /* in order of facts->gpus */
    uint32_t gpus_count;
};

/* One GPU being read. */
struct reading {
    const struct nvml_api *nvml;
    struct watched *gpu;
    struct gpu_reading *out;
    struct arena *arena;
};

/* ---- fields: many values in one call ---- */

struct field_row {
    unsigned int field;
    uint32_t at; /* offset in gpu_reading; rows of one offset are added up */
    double scale;
};
#define AT(member) offsetof(struct gpu_reading, member)

static const struct field_row quick_fields[] = {
    { NVML_FIELD_POWER_MW, AT(power_w), 1e-3 },
    { NVML_FIELD_MEMORY_CELSIUS, AT(memory_celsius), 1.0 },
    { NVML_FIELD_PCIE_REPLAYS, AT(pcie_replays), 1.0 },
    { NVML_FIELD_LINK_REPLAYS, AT(nvlink_replays), 1.0 },
    { NVML_FIELD_LINK_RECOVERIES, AT(nvlink_recoveries), 1.0 },
    { NVML_FIELD_LINK_CRC_FLIT, AT(nvlink_crc), 1.0 },
    { NVML_FIELD_LINK_CRC_DATA, AT(nvlink_crc), 1.0 },
    { NVML_FIELD_ECC_CORRECTED, AT(ecc_corrected), 1.0 },
    { NVML_FIELD_ECC_UNCORRECTED, AT(ecc_uncorrected), 1.0 },
    { NVML_FIELD_POWER_CAP_NS, AT(power_cap_ns), 1.0 },
    { NVML_FIELD_SW_THERMAL_NS, AT(sw_thermal_ns), 1.0 },
    { NVML_FIELD_HW_THERMAL_NS, AT(hw_thermal_ns), 1.0 },
    { NVML_FIELD_POWER_BRAKE_NS, AT(power_brake_ns), 1.0 },
};
static const struct field_row slow_fields[] = {
    { NVML_FIELD_ROWS_CORRECTED, AT(rows_remapped), 1.0 },
    { NVML_FIELD_ROWS_UNCORRECTED, AT(rows_remapped), 1.0 },
    { NVML_FIELD_PCIE_IN_BYTES, AT(pcie_in_bytes), 1.0 },
    { NVML_FIELD_PCIE_OUT_BYTES, AT(pcie_out_bytes), 1.0 },
};
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static double get(const struct reading *reading, uint32_t at)
{
    return telemetry_get(reading->out, at);
}

static void set(const struct reading *reading, uint32_t at, double value)
{
    telemetry_set(reading->out, at, value);
}

static void read_fields_of(
    const struct reading *reading, const struct field_row *rows, size_t count)
{
    struct nvml_field fields[FIELDS_MOST] = { { 0 } };
    uint64_t value = 0;

    for (size_t i = 0; i < count; i++) {
        fields[i].field = rows[i].field;
    }
    if (reading->nvml->fields(reading->gpu->device, (int)count, fields) !=
        NVML_DONE) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (nvml_field_number(&fields[i], &value)) {
            const double before = get(reading, rows[i].at);

            set(reading, rows[i].at,
                (isnan(before) ? 0.0 : before) + (double)value * rows[i].scale);
        }
    }
}

static void read_quick_fields(const struct reading *reading)
{
    read_fields_of(reading, quick_fields, COUNT(quick_fields));
}

static void read_slow_fields(const struct reading *reading)
{
    read_fields_of(reading, slow_fields, COUNT(slow_fields));
}

/* ---- one call, one value ---- */

static void read_clocks(const struct reading *reading)
{
    unsigned int mhz = 0;

    if (reading->nvml->clock_mhz(
            reading->gpu->device, NVML_CLOCK_IS_SM, &mhz) == NVML_DONE) {
        reading->out->sm_mhz = mhz;
    }
    if (reading->nvml->clock_mhz(
            reading->gpu->device, NVML_CLOCK_IS_MEMORY, &mhz) == NVML_DONE) {
        reading->out->memory_mhz = mhz;
    }
}

static void read_reasons(const struct reading *reading)
{
    unsigned long long bits = 0;

    /* The same question by its newer and its older name. */
    if (reading->nvml->event_reasons(reading->gpu->device, &bits) !=
            NVML_DONE &&
        reading->nvml->throttle_reasons(reading->gpu->device, &bits) !=
            NVML_DONE) {
        return;
    }
    reading->out->reasons = (uint32_t)bits;
    reading->out->has_reasons = 1;
}

static void read_temperature(const struct reading *reading)
{
    unsigned int celsius = 0;

    if (reading->nvml->temperature(
            reading->gpu->device, NVML_SENSOR_GPU, &celsius) == NVML_DONE) {
        reading->out->celsius = celsius;
    }
}

static void read_link(const struct reading *reading)
{
    unsigned int value = 0;

    if (reading->nvml->pcie_generation(reading->gpu->device, &value) ==
            NVML_DONE &&
        value < GENERATIONS) {
        reading->out->pcie_generation = value;
    }
    if (reading->nvml->pcie_width(reading->gpu->device, &value) == NVML_DONE) {
        reading->out->pcie_width = value;
    }
}

static void read_utilisation(const struct reading *reading)
{
    struct nvml_utilisation share = { 0 };

    if (reading->nvml->utilisation(reading->gpu->device, &share) == NVML_DONE) {
        reading->out->busy_percent = share.gpu;
        reading->out->memory_percent = share.memory;
    }
}

static void read_nvlinks(const struct reading *reading)
{
    unsigned int state = 0;
    uint32_t active = 0;

    for (unsigned int link = 0; link < reading->gpu->links; link++) {
        active += reading->nvml->link_state(
                      reading->gpu->device, link, &state) == NVML_DONE &&
                  state == NVML_LINK_ACTIVE;
    }
    if (reading->gpu->links > 0) {
        reading->out->nvlinks = active;
    }
}

/* ---- where there is no field for it ---- */

static void replace_power(const struct reading *reading)
{
    unsigned int mw = 0;

    if (reading->nvml->power_mw(reading->gpu->device, &mw) == NVML_DONE) {
        reading->out->power_w = mw * 1e-3;
    }
}

static void replace_replays(const struct reading *reading)
{
    unsigned int replays = 0;

    if (reading->nvml->pcie_replays(reading->gpu->device, &replays) ==
        NVML_DONE) {
        reading->out->pcie_replays = replays;
    }
}

static void replace_ecc(const struct reading *reading)
{
    unsigned long long errors = 0;

    if (reading->nvml->ecc_errors(reading->gpu->device, NVML_ECC_CORRECTED,
            NVML_ECC_VOLATILE, &errors) == NVML_DONE) {
        reading->out->ecc_corrected = (double)errors;
    }
    if (reading->nvml->ecc_errors(reading->gpu->device, NVML_ECC_UNCORRECTED,
            NVML_ECC_VOLATILE, &errors) == NVML_DONE) {
        reading->out->ecc_uncorrected = (double)errors;
    }
}

static void replace_rows(const struct reading *reading)
{
    unsigned int rows[4] = { 0 };

    if (reading->nvml->remapped_rows(reading->gpu->device, &rows[0], &rows[1],
            &rows[2], &rows[3]) == NVML_DONE) {
        reading->out->rows_remapped = (double)rows[0] + (double)rows[1];
    }
}

static double violation_ns(const struct reading *reading, unsigned int policy)
{
    struct nvml_violation violation = { 0 };

    return reading->nvml->violation(reading->gpu->device, policy, &violation) ==
                   NVML_DONE
               ? (double)violation.violation_ns
               : NAN;
}

static void replace_power_cap(const struct reading *reading)
{
    reading->out->power_cap_ns = violation_ns(reading, NVML_POLICY_POWER);
}

/* It does not tell hardware and software apart. */
static void replace_thermal(const struct reading *reading)
{
    reading->out->sw_thermal_ns = violation_ns(reading, NVML_POLICY_THERMAL);
}

static double sum_of_links(const struct reading *reading, unsigned int counter)
{
    double sum = NAN;

    for (unsigned int link = 0; link < reading->gpu->links; link++) {
        unsigned long long value = 0;

        if (reading->nvml->link_errors(
                reading->gpu->device, link, counter, &value) == NVML_DONE) {
            sum = (isnan(sum) ? 0.0 : sum) + (double)value;
        }
    }
    return sum;
}

static void replace_link_replays(const struct reading *reading)
{
    reading->out->nvlink_replays = sum_of_links(reading, NVML_LINK_REPLAYS);
}

static void replace_link_recoveries(const struct reading *reading)
{
    reading->out->nvlink_recoveries =
        sum_of_links(reading, NVML_LINK_RECOVERIES);
}

static void replace_link_crc(const struct reading *reading)
{
    const double data = sum_of_links(reading, NVML_LINK_CRC_DATA);

    reading->out->nvlink_crc = sum_of_links(reading, NVML_LINK_CRC_FLIT);
    if (!isnan(data)) {
        reading->out->nvlink_crc = fmax(reading->out->nvlink_crc, 0.0) + data;
    }
}

/* ---- steps ---- */

/* What gives the value at `at`; a step with `other` stands in for one that did
 * not. A step that gives nothing is not taken again. */
struct step {
    void (*read)(const struct reading *reading);
    uint32_t at;
    uint32_t replaces; /* 1: only while there is no value */
};

static const struct step quick_steps[] = {
    { read_quick_fields, AT(power_w), 0 },
    { read_clocks, AT(sm_mhz), 0 },
    { read_temperature, AT(celsius), 0 },
    { read_link, AT(pcie_width), 0 },
    { replace_power, AT(power_w), 1 },
    { replace_replays, AT(pcie_replays), 1 },
    { replace_power_cap, AT(power_cap_ns), 1 },
    { replace_thermal, AT(sw_thermal_ns), 1 },
};
static const struct step slow_steps[] = {
    { replace_ecc, AT(ecc_uncorrected), 1 },
    { replace_link_replays, AT(nvlink_replays), 1 },
    { replace_link_recoveries, AT(nvlink_recoveries), 1 },
    { replace_link_crc, AT(nvlink_crc), 1 },
    { read_utilisation, AT(busy_percent), 0 },
    { read_nvlinks, AT(nvlinks), 0 },
    { read_slow_fields, AT(pcie_in_bytes), 0 },
    { replace_rows, AT(rows_remapped), 1 },
};

/* `first`: the bit in `lacks` of the first of these steps. */
static void take_steps(const struct reading *reading, const struct step *steps,
    size_t count, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        const struct step *const step = &steps[i];
        const uint64_t bit = UINT64_C(1) << (first + i);

        if ((reading->gpu->lacks & bit) != 0 ||
            (step->replaces && !isnan(get(reading, step->at)))) {
            continue;
        }
        step->read(reading);
        if (step->replaces && isnan(get(reading, step->at))) {
            reading->gpu->lacks |= bit;
        }
    }
}

/* ---- other processes ---- */

/* The parent's pid, 0 where it is not known. */
static uint32_t parent_of(const char *root, uint32_t pid)
{
    char text[512] = "";

    if (!sysfs_read(text, sizeof text, "%s/proc/%u/stat", root, pid)) {
        return 0;
    }

    /* The name in parentheses may hold anything; the last one ends it. */
    const char *const end = strrchr(text, ')');

    return end == NULL || strlen(end) < 4
               ? 0
               : (uint32_t)strtoul(end + 4, NULL, 10);
}

const char *nvml_watch_stranger(
    struct arena *arena, const char *root, uint32_t pid, uint32_t family)
{
    char name[64] = "";

    for (uint32_t at = pid; at > 1; at = parent_of(root, at)) {
        if (at == family) {
            return NULL;
        }
    }
    return sysfs_read(name, sizeof name, "%s/proc/%u/comm", root, pid)
               ? arena_format(arena, "%u %s", pid, name)
               : NULL;
}

static int is_listed(const struct gpu_reading *reading, const char *text)
{
    for (uint32_t i = 0; i < reading->processes_count; i++) {
        if (strcmp(reading->processes[i], text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add_processes(
    const struct reading *reading, nvml_processes_fn *list)
{
    struct gpu_reading *const out = reading->out;
    struct nvml_process found[PROCESS_LIMIT];
    unsigned int count = PROCESS_LIMIT;

    if (list(reading->gpu->device, &count, found) != NVML_DONE ||
        count > PROCESS_LIMIT) {
        return;
    }
    for (unsigned int i = 0; i < count; i++) {
        const char *const text = nvml_watch_stranger(
            reading->arena, "", found[i].pid, (uint32_t)getppid());

        if (text == NULL || is_listed(out, text)) {
            continue;
        }

        const char **const grown = arena_append(reading->arena, out->processes,
            &out->processes_count, sizeof *out->processes);

        if (grown == NULL) {
            out->processes_count = 0;
            return;
        }
        out->processes = grown;
        grown[out->processes_count - 1] = text;
    }
}

/* ---- Xid events ---- */

static void take_events(struct nvml_watch *watch)
{
    struct nvml_event event = { 0 };

    for (int i = 0; watch->events != NULL && i < EVENTS_MOST; i++) {
        if (watch->nvml.wait_event(watch->events, &event, 0) != NVML_DONE) {
            return;
        }
        for (uint32_t gpu = 0; gpu < watch->gpus_count; gpu++) {
            if (watch->gpus[gpu].device == event.device &&
                event.type == NVML_EVENT_XID) {
                watch->gpus[gpu].xids++;
                watch->gpus[gpu].last_xid = (uint32_t)event.data;
            }
        }
    }
}

static void register_events(struct nvml_watch *watch)
{
    if (watch->nvml.event_set(&watch->events) != NVML_DONE) {
        watch->events = NULL;
        return;
    }
    for (uint32_t i = 0; i < watch->gpus_count; i++) {
        struct watched *const gpu = &watch->gpus[i];

        gpu->has_xids = gpu->device != NULL &&
                        watch->nvml.register_events(gpu->device, NVML_EVENT_XID,
                            watch->events) == NVML_DONE;
    }
}

/* ---- reading ---- */

struct gpu_reading *nvml_watch_read(struct nvml_watch *watch,
    const uint32_t *gpus, uint32_t count, int whole, struct arena *arena,
    uint32_t *out_count)
{
    const uint64_t began_ns = clock_machine_ns();
    struct gpu_reading *const list =
        arena_alloc(arena, (size_t)count + 1, sizeof *list);
    struct reading reading = { .nvml = &watch->nvml, .arena = arena };

    *out_count = 0;
    if (list == NULL) {
        return NULL;
    }
    take_events(watch);
    for (uint32_t i = 0; i < count; i++) {
        if (gpus[i] >= watch->gpus_count ||
            watch->gpus[gpus[i]].device == NULL) {
            continue;
        }
        reading.gpu = &watch->gpus[gpus[i]];
        reading.out = &list[(*out_count)++];
        gpu_reading_init(reading.out);
        reading.out->gpu = gpus[i];
        reading.out->xids =
            reading.gpu->has_xids ? (double)reading.gpu->xids : (double)NAN;
        reading.out->last_xid = reading.gpu->last_xid;
        read_reasons(&reading);
        take_steps(&reading, quick_steps, COUNT(quick_steps), 0);
        reading.out->now_ns = clock_machine_ns();
    }
    for (uint32_t i = 0;
         whole && i < *out_count && clock_machine_ns() - began_ns < WHOLE_NS;
         i++) {
        reading.out = &list[i];
        reading.gpu = &watch->gpus[reading.out->gpu];
        take_steps(&reading, slow_steps, COUNT(slow_steps), COUNT(quick_steps));
        add_processes(&reading, watch->nvml.processes);
        add_processes(&reading, watch->nvml.graphics_processes);
    }

    const uint64_t took_ns = clock_machine_ns() - began_ns;

    for (uint32_t i = 0; i < *out_count; i++) {
        list[i].took_ns = took_ns;
    }
    return list;
}

/* ---- opening ---- */

static void match(struct nvml_watch *watch, const struct facts *facts,
    struct nvmlDevice_st *device)
{
    struct nvml_pci pci;
    char text[32];

    if (watch->nvml.device_pci(device, &pci) != NVML_DONE) {
        return;
    }
    snprintf(
        text, sizeof text, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];

        if (gpu->pci != NULL && strcmp(gpu->pci, text) == 0) {
            watch->gpus[i].device = device;
            watch->gpus[i].links =
                gpu->nvlinks < NVML_LINKS ? gpu->nvlinks : NVML_LINKS;
        }
    }
}

int32_t nvml_watch_open(const struct facts *facts, const char *driver_file,
    struct arena *arena, struct nvml_watch **out, struct error *err)
{
    struct nvml_watch *const watch = arena_alloc(arena, 1, sizeof *watch);
    unsigned int count = 0;

    FAIL_IF(watch == NULL, err, NVBW_E_SYSTEM, "no memory for telemetry");
    watch->gpus_count = facts->gpus_count;
    watch->gpus =
        arena_alloc(arena, (size_t)facts->gpus_count + 1, sizeof *watch->gpus);
    FAIL_IF(watch->gpus == NULL, err, NVBW_E_SYSTEM, "no memory for telemetry");
    TRY(nvml_open(driver_file, &watch->nvml, err));
    FAIL_IF(watch->nvml.device_count(&count) != NVML_DONE, err, NVBW_E_SYSTEM,
        "NVML does not count the GPUs");
    for (unsigned int i = 0; i < count; i++) {
        struct nvmlDevice_st *device = NULL;

        if (watch->nvml.device_at(i, &device) == NVML_DONE) {
            match(watch, facts, device);
        }
    }
    register_events(watch);
    *out = watch;
    return NVBW_OK;
}
