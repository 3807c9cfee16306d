/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A selection under construction. */
struct selection {
    const struct facts *facts;
    uint32_t *gpus;
    uint32_t count;
};

static void add(struct selection *selection, uint32_t position)
{
    for (uint32_t i = 0; i < selection->count; i++) {
        if (selection->gpus[i] == position) {
            return;
        }
    }
    selection->gpus[selection->count++] = position;
}

/* nvidia-smi writes eight digits of the PCI domain, sysfs four. */
static int is_address(const char *pci, const char *word)
{
    return pci != NULL && strchr(word, ':') != NULL &&
           strcasecmp(pci + strspn(pci, "0"), word + strspn(word, "0")) == 0;
}

static int32_t find(const struct facts *facts, const char *word)
{
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        if (is_address(facts->gpus[i].pci, word)) {
            return (int32_t)i;
        }
    }
    return facts_find_gpu(facts, word);
}

/* 1 and both ends of "0-3". */
static int read_range(const char *word, long *out_first, long *out_last)
{
    const size_t first = strspn(word, "0123456789");

    if (first == 0 || first > 4 || word[first] != '-') {
        return 0;
    }

    const size_t last = strspn(word + first + 1, "0123456789");

    if (last == 0 || last > 4 || word[first + 1 + last] != '\0') {
        return 0;
    }
    *out_first = strtol(word, NULL, 10);
    *out_last = strtol(word + first + 1, NULL, 10);
    return *out_first <= *out_last;
}

int devices_is_one(const char *word)
{
    long first = 0;
    long last = 0;

    return strcmp(word, "all") != 0 && strchr(word, ',') == NULL &&
           !read_range(word, &first, &last);
}

static int32_t refuse(
    const struct facts *facts, const char *word, struct error *err)
{
    return error_set(err, NVBW_E_INVALID,
        "there is no GPU \"%.80s\" here, this machine has %u: name them by "
        "index, range, UUID or PCI address, or write all",
        word, (unsigned)facts->gpus_count);
}

static int32_t add_one(
    struct selection *selection, const char *word, struct error *err)
{
    const int32_t position = *word == '\0' ? -1 : find(selection->facts, word);

    if (position < 0) {
        return refuse(selection->facts, word, err);
    }
    add(selection, (uint32_t)position);
    return NVBW_OK;
}

static int32_t add_word(
    struct selection *selection, const char *word, struct error *err)
{
    long first = 0;
    long last = 0;

    if (strcmp(word, "all") == 0) {
        for (uint32_t i = 0; i < selection->facts->gpus_count; i++) {
            add(selection, i);
        }
        return NVBW_OK;
    }
    if (!read_range(word, &first, &last)) {
        return add_one(selection, word, err);
    }
    for (long index = first; index <= last; index++) {
        char number[16];

        snprintf(number, sizeof number, "%ld", index);
        TRY(add_one(selection, number, err));
    }
    return NVBW_OK;
}

int32_t devices_select(const struct facts *facts, const char *const *words,
    uint32_t words_count, struct arena *arena, uint32_t **out_gpus,
    uint32_t *out_count, struct error *err)
{
    struct selection selection = { .facts = facts };

    *out_gpus = NULL;
    *out_count = 0;
    if (facts->gpus_count == 0) {
        return NVBW_OK;
    }
    selection.gpus =
        arena_alloc(arena, facts->gpus_count, sizeof *selection.gpus);
    FAIL_IF(selection.gpus == NULL, err, NVBW_E_SYSTEM,
        "no memory for the selection of GPUs");
    for (uint32_t i = 0; i < words_count; i++) {
        TRY(add_word(&selection, words[i], err));
    }
    *out_gpus = selection.gpus;
    *out_count = selection.count;
    return NVBW_OK;
}

static int is_in(const uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == value) {
            return 1;
        }
    }
    return 0;
}

void devices_intersect(uint32_t *list, uint32_t *count, const uint32_t *allowed,
    uint32_t allowed_count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (is_in(allowed, allowed_count, list[i])) {
            list[kept++] = list[i];
        }
    }
    *count = kept;
}
