/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Who is there, and who is not like the others. */
#include "fleet_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- differences ---- */

enum { VALUES_LIMIT = 256 };

typedef const char *(*value_fn)(
    const struct fleet_node *node, struct arena *arena);

static const char *build_of(const struct fleet_node *node, struct arena *arena)
{
    (void)arena;
    return node->build;
}

static const char *driver_of(const struct fleet_node *node, struct arena *arena)
{
    (void)arena;
    return node->driver_version;
}

/* Two plans of one name may differ. */
static const char *plan_of(const struct fleet_node *node, struct arena *arena)
{
    return node->plan_sha256 == NULL
               ? node->plan
               : arena_format(arena, "%s, sha256 %.12s",
                     node->plan == NULL ? "unnamed" : node->plan,
                     node->plan_sha256);
}

static const char *gpus_of(const struct fleet_node *node, struct arena *arena)
{
    return arena_format(arena, "%u x %s", node->gpus,
        node->gpu_model == NULL ? "no GPU" : node->gpu_model);
}

static const char *driver_kind_of(
    const struct fleet_node *node, struct arena *arena)
{
    (void)arena;
    return node->simulated ? "simulated" : "real";
}

static const struct {
    const char *what;
    value_fn value;
} attributes[] = {
    { "build", build_of },
    { "driver", driver_of },
    { "plan", plan_of },
    { "GPUs", gpus_of },
    { "machine", driver_kind_of },
};

static int is_same(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* The most frequent first, then by the first node that has it. */
static int compare_values(const void *left, const void *right)
{
    const struct fleet_value *const one = left;
    const struct fleet_value *const other = right;

    if (one->count != other->count) {
        return one->count > other->count ? -1 : 1;
    }
    return (one->first > other->first) - (one->first < other->first);
}

/* Beyond the limit of values the rest is not told one by one. */
static int32_t tally(const struct fleet *fleet, struct fleet_difference *to,
    const char *value, uint32_t node, struct error *err)
{
    for (uint32_t i = 0; i < to->values_count; i++) {
        if (is_same(to->values[i].value, value)) {
            to->values[i].count++;
            return NVBW_OK;
        }
    }
    if (to->values_count == VALUES_LIMIT) {
        return NVBW_OK;
    }
    to->values = arena_append(
        fleet->arena, to->values, &to->values_count, sizeof *to->values);
    FAIL_IF(to->values == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
    to->values[to->values_count - 1] =
        (struct fleet_value){ .value = value, .count = 1, .first = node };
    return NVBW_OK;
}

static int32_t look_at(struct fleet *fleet, size_t attribute, struct error *err)
{
    struct fleet_difference found = { .what = attributes[attribute].what };

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        if (!fleet->nodes[i].superseded) {
            TRY(tally(fleet, &found,
                attributes[attribute].value(&fleet->nodes[i], fleet->arena), i,
                err));
        }
    }
    if (found.values_count < 2) {
        return NVBW_OK;
    }
    qsort(
        found.values, found.values_count, sizeof *found.values, compare_values);
    fleet->differences = arena_append(fleet->arena, fleet->differences,
        &fleet->differences_count, sizeof found);
    FAIL_IF(fleet->differences == NULL, err, NVBW_E_SYSTEM,
        "no memory for the fleet");
    fleet->differences[fleet->differences_count - 1] = found;
    return NVBW_OK;
}

int32_t fleet_find_differences(struct fleet *fleet, struct error *err)
{
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        TRY(look_at(fleet, i, err));
    }
    return NVBW_OK;
}

/* ---- missing and unexpected ---- */

static int compare_texts(const void *left, const void *right)
{
    return fleet_compare_names(
        *(const char *const *)left, *(const char *const *)right);
}

/* The name up to its first point: all that are one host have that in common,
 * and stand beside each other in this order. */
static int compare_short(const char *one, const char *other)
{
    const size_t length = strcspn(one, ".");
    const size_t other_length = strcspn(other, ".");
    const size_t least = length < other_length ? length : other_length;
    const int order = strncmp(one, other, least);

    return order != 0 ? order
                      : (length > other_length) - (length < other_length);
}

static int compare_shorts(const void *left, const void *right)
{
    const char *const one = *(const char *const *)left;
    const char *const other = *(const char *const *)right;
    const int order = compare_short(one, other);

    return order != 0 ? order : strcmp(one, other);
}

static int has_host(const char *const *sorted, uint32_t count, const char *host)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (compare_short(sorted[middle], host) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && compare_short(sorted[low], host) == 0; low++) {
        if (fleet_is_same_host(sorted[low], host)) {
            return 1;
        }
    }
    return 0;
}

/* Those of the first list that are not in the second, by name, once each. */
static int32_t subtract(const struct fleet *fleet, const char *const *from,
    uint32_t from_count, const char *const *sorted, uint32_t sorted_count,
    const char ***out, uint32_t *out_count, struct error *err)
{
    for (uint32_t i = 0; i < from_count; i++) {
        if (has_host(sorted, sorted_count, from[i]) ||
            (i > 0 && strcmp(from[i], from[i - 1]) == 0)) {
            continue;
        }
        *out = arena_append(fleet->arena, *out, out_count, sizeof **out);
        FAIL_IF(*out == NULL, err, NVBW_E_SYSTEM, "no memory for the fleet");
        (*out)[*out_count - 1] = from[i];
    }
    if (*out_count > 0) {
        qsort(*out, *out_count, sizeof **out, compare_texts);
    }
    return NVBW_OK;
}

int32_t fleet_find_missing(struct fleet *fleet, const char *const *expected,
    uint32_t expected_count, struct error *err)
{
    const char **const wanted =
        arena_alloc(fleet->arena, (size_t)expected_count + 1, sizeof *wanted);
    const char **const there = arena_alloc(
        fleet->arena, (size_t)fleet->nodes_count + 1, sizeof *there);

    fleet->expected_count = expected_count;
    if (expected_count == 0) {
        return NVBW_OK;
    }
    FAIL_IF(wanted == NULL || there == NULL, err, NVBW_E_SYSTEM,
        "no memory for the fleet");
    memcpy(wanted, expected, expected_count * sizeof *wanted);
    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        there[i] = fleet->nodes[i].host;
    }
    qsort(wanted, expected_count, sizeof *wanted, compare_shorts);
    if (fleet->nodes_count > 0) {
        qsort(there, fleet->nodes_count, sizeof *there, compare_shorts);
    }
    TRY(subtract(fleet, wanted, expected_count, there, fleet->nodes_count,
        &fleet->missing, &fleet->missing_count, err));
    return subtract(fleet, there, fleet->nodes_count, wanted, expected_count,
        &fleet->unexpected, &fleet->unexpected_count, err);
}
