/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvml_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "nvml_api.h"
#include "nvml_processes.h"
#include "wire.h"

enum { FIELDS_MOST = 32, GENERATIONS = 8, EVENTS_MOST = 64 };
#define NS_PER_MS UINT64_C(1000000)
static const uint64_t WHOLE_NS = 12 * NS_PER_MS;

enum { STEPS_MOST = 32 };

struct watched {
    struct nvmlDevice_st *device;  /* NULL: NVML does not know it */
    uint64_t lacks;                /* bit per step: it is not to be had */
    uint64_t taken_ns[STEPS_MOST]; /* when each step was taken last, 0: never */
    struct gpu_reading last;       /* what the steps gave then; its texts are
                                      gone */
    uint32_t xids, last_xid, has_xids;
    uint32_t links;
};

struct nvml_watch {
    struct nvml_api nvml;
    struct nvmlEventSet_st *events; /* NULL: no Xid events */
    struct watched *gpus;           /* in order of facts->gpus */
    uint32_t gpus_count;
    uint32_t is_simulated; /* asking costs nothing, and time is another */
    uint32_t turn; /* with which GPU what is slow begins: time may be over
                      before the last */
};

/* One GPU being read. */
struct reading {
    const struct nvml_api *nvml;
    struct watched *gpu;
    struct gpu_reading *out;
    struct arena *arena;
    uint32_t spares;   /* 1: what takes long is not asked for each time */
    uint64_t until_ns; /* no step begins later */
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

/* What gives the value at `at` and, where there is one, at `also`; one that
 * replaces stands in for a step that did not. A step that gives nothing is not
 * taken again. every_ms: no sooner than that after the last time while something
 * is measured; a gauge then stands for what it was, a counter is absent. On an H200 the counters of 18 links take 40 ms, a clock or a
 * temperature up to 3 ms when it was not asked for lately, and all fields
 * together 0.6 ms. */
struct step {
    void (*read)(const struct reading *reading);
    uint32_t at, also;
    uint32_t replaces; /* 1: only while there is no value */
    uint32_t every_ms;
    uint32_t is_gauge;
};

static const struct step quick_steps[] = {
    { read_quick_fields, AT(power_w), 0, 0, 0, 0 },
    { read_clocks, AT(sm_mhz), AT(memory_mhz), 0, 100, 1 },
    { read_temperature, AT(celsius), 0, 0, 500, 1 },
    { read_link, AT(pcie_width), AT(pcie_generation), 0, 0, 1 },
    { replace_power, AT(power_w), 0, 1, 100, 1 },
    { replace_replays, AT(pcie_replays), 0, 1, 0, 0 },
    { replace_power_cap, AT(power_cap_ns), 0, 1, 0, 0 },
    { replace_thermal, AT(sw_thermal_ns), 0, 1, 0, 0 },
};
static const struct step slow_steps[] = {
    { replace_ecc, AT(ecc_uncorrected), AT(ecc_corrected), 1, 500, 0 },
    { replace_link_replays, AT(nvlink_replays), 0, 1, 2000, 0 },
    { replace_link_recoveries, AT(nvlink_recoveries), 0, 1, 2000, 0 },
    { replace_link_crc, AT(nvlink_crc), 0, 1, 2000, 0 },
    { read_utilisation, AT(busy_percent), AT(memory_percent), 0, 200, 1 },
    { read_nvlinks, AT(nvlinks), 0, 0, 2000, 1 },
    { read_slow_fields, AT(pcie_in_bytes), AT(pcie_out_bytes), 0, 500, 0 },
    { replace_rows, AT(rows_remapped), 0, 1, 2000, 0 },
};
_Static_assert(COUNT(quick_steps) + COUNT(slow_steps) <= STEPS_MOST,
    "a GPU has room for fewer steps");

static void keep(
    struct gpu_reading *to, const struct gpu_reading *from, uint32_t at)
{
    if (at != 0) {
        telemetry_set(to, at, telemetry_get(from, at));
    }
}

/* 1: it is not taken now: it was lately, or the time is over. */
static int is_passed_over(
    const struct reading *reading, const struct step *step, size_t number)
{
    const uint64_t now_ns = clock_machine_ns();
    const uint64_t taken_ns = reading->gpu->taken_ns[number];

    return reading->spares &&
           (now_ns >= reading->until_ns ||
               (taken_ns != 0 &&
                   now_ns - taken_ns < step->every_ms * NS_PER_MS));
}

static int use_last(
    const struct reading *reading, const struct step *step, size_t number)
{
    const struct watched *const gpu = reading->gpu;

    if (!is_passed_over(reading, step, number)) {
        return 0;
    }
    if (step->is_gauge && gpu->taken_ns[number] != 0) {
        keep(reading->out, &gpu->last, step->at);
        keep(reading->out, &gpu->last, step->also);
    }
    return 1;
}

/* `first`: the bit in `lacks` of the first of these steps. */
static void take_steps(const struct reading *reading, const struct step *steps,
    size_t count, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        const struct step *const step = &steps[i];
        const uint64_t bit = UINT64_C(1) << (first + i);

        if ((reading->gpu->lacks & bit) != 0 ||
            (step->replaces && !isnan(get(reading, step->at))) ||
            use_last(reading, step, first + i)) {
            continue;
        }
        step->read(reading);
        reading->gpu->taken_ns[first + i] = clock_machine_ns();
        keep(&reading->gpu->last, reading->out, step->at);
        keep(&reading->gpu->last, reading->out, step->also);
        if (step->replaces && isnan(get(reading, step->at))) {
            reading->gpu->lacks |= bit;
        }
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
    const uint32_t *gpus, uint32_t count, uint32_t kind, struct arena *arena,
    uint32_t *out_count)
{
    const uint64_t began_ns = clock_machine_ns();
    struct gpu_reading *const list =
        arena_alloc(arena, (size_t)count + 1, sizeof *list);
    struct reading reading = { .nvml = &watch->nvml,
        .arena = arena,
        .spares = kind != READ_POLL && !watch->is_simulated,
        .until_ns = UINT64_MAX };

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
    reading.until_ns = began_ns + WHOLE_NS;
    for (uint32_t i = 0; kind != READ_LOAD && i < *out_count; i++) {
        reading.out = &list[(watch->turn + i) % *out_count];
        reading.gpu = &watch->gpus[reading.out->gpu];
        take_steps(&reading, slow_steps, COUNT(slow_steps), COUNT(quick_steps));
        nvml_processes_add(
            watch->nvml.processes, reading.gpu->device, reading.out, arena);
        nvml_processes_add(watch->nvml.graphics_processes, reading.gpu->device,
            reading.out, arena);
    }
    watch->turn++;

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
    watch->is_simulated = facts->simulated;
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
