/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_faults.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_MAX = 128 };

/* A whole number from 0 and what follows it; 0 where there is none. */
static int read_number(const char **text, uint64_t *out)
{
    char *end = NULL;

    if (!isdigit((unsigned char)**text)) {
        return 0;
    }
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static int read_all(const char *text, uint64_t *out)
{
    return read_number(&text, out) && *text == '\0';
}

static int read_size(const char *text, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint32_t shift;
    } units[] = { { "", 0 }, { "B", 0 }, { "KiB", 10 }, { "MiB", 20 },
        { "GiB", 30 }, { "TiB", 40 } };

    if (!read_number(&text, out)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].unit) == 0 &&
            *out <= UINT64_MAX >> units[i].shift) {
            *out <<= units[i].shift;
            return 1;
        }
    }
    return 0;
}

/* "G@N" */
static int read_gpu(const char *text, struct fault *fault)
{
    uint64_t gpu = 0;

    if (!read_number(&text, &gpu) || gpu > UINT32_MAX) {
        return 0;
    }
    fault->value = (uint32_t)gpu;
    fault->number = 1;
    fault->onwards = 1;
    return *text == '\0' ||
           (*text == '@' && read_all(text + 1, &fault->number));
}

/* "N=CODE", "N+=CODE", "N=hang", "hang", "N=late", "N+=late", "N=kill" */
static int read_call(const char *text, struct fault *fault)
{
    uint64_t code = 0;

    fault->kind = FAULT_CALL_HANG;
    if (strcmp(text, "hang") == 0) {
        fault->number = 1;
        return 1;
    }
    if (!read_number(&text, &fault->number) || fault->number == 0) {
        return 0;
    }
    if (*text == '+') {
        fault->onwards = 1;
        text++;
    }
    if (*text++ != '=') {
        return 0;
    }
    if (strcmp(text, "hang") == 0) {
        return 1;
    }
    if (strcmp(text, "late") == 0) {
        fault->kind = FAULT_CALL_LATE;
        return 1;
    }
    if (strcmp(text, "kill") == 0) {
        fault->kind = FAULT_CALL_KILL;
        return 1;
    }
    fault->kind = FAULT_CALL;
    if (!read_all(text, &code) || code == 0 || code > UINT32_MAX) {
        return 0;
    }
    fault->value = (uint32_t)code;
    return 1;
}

enum value_form { VALUE_NONE, VALUE_NUMBER, VALUE_GPU, VALUE_SIZE };

static const struct {
    const char *prefix;
    enum fault_kind kind;
    enum value_form form;
    uint32_t onwards;
} forms[] = {
    { "copy:flip=", FAULT_COPY_FLIP, VALUE_NUMBER, 0 },
    { "copy:skip=", FAULT_COPY_SKIP, VALUE_NUMBER, 0 },
    { "peer:drop", FAULT_PEER_DROP, VALUE_NONE, 1 },
    { "multicast:drop=", FAULT_MULTICAST_DROP, VALUE_GPU, 1 },
    { "stream:hang=", FAULT_STREAM_HANG, VALUE_NUMBER, 0 },
    { "kernel:fail=", FAULT_KERNEL_FAIL, VALUE_NUMBER, 0 },
    { "kernel:serial", FAULT_KERNEL_SERIAL, VALUE_NONE, 1 },
    { "gpu_lost=", FAULT_GPU_LOST, VALUE_GPU, 1 },
    { "slow=", FAULT_GPU_SLOW, VALUE_GPU, 1 },
    { "pcie=", FAULT_GPU_PCIE, VALUE_GPU, 1 },
    { "nvlink=", FAULT_GPU_NVLINK, VALUE_GPU, 1 },
    { "busy=", FAULT_GPU_BUSY, VALUE_GPU, 1 },
    { "ecc=", FAULT_GPU_ECC, VALUE_GPU, 1 },
    { "replays=", FAULT_GPU_REPLAYS, VALUE_GPU, 1 },
    { "nvlink_errors=", FAULT_GPU_LINK_ERRORS, VALUE_GPU, 1 },
    { "remap=", FAULT_GPU_REMAP, VALUE_GPU, 1 },
    { "throttle=", FAULT_GPU_HOT, VALUE_GPU, 1 },
    { "power_cap=", FAULT_GPU_CAPPED, VALUE_GPU, 1 },
    { "xid=", FAULT_GPU_XID, VALUE_GPU, 1 },
    { "alloc_above=", FAULT_ALLOC_ABOVE, VALUE_SIZE, 0 },
};

static int read_value(
    enum value_form form, const char *text, struct fault *fault)
{
    switch (form) {
    case VALUE_NUMBER:
        return read_all(text, &fault->number) && fault->number > 0;
    case VALUE_GPU:
        return read_gpu(text, fault);
    case VALUE_SIZE:
        return read_size(text, &fault->number);
    case VALUE_NONE:
        break;
    }
    return *text == '\0';
}

static int read_item(const char *item, struct fault *fault)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const size_t length = strlen(forms[i].prefix);

        if (strncmp(item, forms[i].prefix, length) == 0) {
            fault->kind = forms[i].kind;
            fault->onwards = forms[i].onwards;
            return read_value(forms[i].form, item + length, fault);
        }
    }
    const char *colon = strchr(item, ':');
    const size_t length = colon == NULL ? 0 : (size_t)(colon - item);

    if (length == 0 || length >= FAULT_NAME) {
        return 0;
    }
    memcpy(fault->function, item, length);
    return read_call(colon + 1, fault);
}

static int add_item(const char *start, size_t length, struct faults *faults)
{
    char item[ITEM_MAX];
    struct fault fault = { .number = 0 };

    if (length >= sizeof item || faults->count == FAULTS_MAX) {
        return 0;
    }
    memcpy(item, start, length);
    item[length] = '\0';
    if (!read_item(item, &fault)) {
        return 0;
    }
    faults->list[faults->count++] = fault;
    return 1;
}

int faults_parse(
    const char *text, struct faults *faults, char *trouble, size_t size)
{
    static const char separators[] = ",; \t\n";

    for (;;) {
        text += strspn(text, separators);
        const size_t length = strcspn(text, separators);

        if (length == 0) {
            return 0;
        }
        if (!add_item(text, length, faults)) {
            snprintf(trouble, size, "fault \"%.*s\" is not understood",
                (int)(length < ITEM_MAX ? length : ITEM_MAX), text);
            return -1;
        }
        text += length;
    }
}

const struct fault *faults_find(const struct faults *faults,
    enum fault_kind kind, const char *function, uint64_t number)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct fault *fault = &faults->list[i];

        if (fault->kind != kind ||
            (function != NULL && strcmp(function, fault->function) != 0)) {
            continue;
        }
        if (number == fault->number ||
            (fault->onwards && number >= fault->number)) {
            return fault;
        }
    }
    return NULL;
}

uint64_t faults_of_gpu(const struct faults *faults, enum fault_kind kind,
    uint32_t gpu, uint64_t operations)
{
    uint64_t struck = 0;

    for (uint32_t i = 0; i < faults->count; i++) {
        const struct fault *fault = &faults->list[i];

        if (fault->kind == kind && fault->value == gpu &&
            operations >= fault->number) {
            const uint64_t since = operations - fault->number + 1;

            struck = since > struck ? since : struck;
        }
    }
    return struck;
}
