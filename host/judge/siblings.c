/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "bounds.h"

#include <math.h>
#include <string.h>

#include "stats.h"

struct sibling_class {
    const char *metric;
    struct traffic traffic;
    const char *path; /* of a PCIe peer; NVLink pairs all compare */
    double *figures;
    uint32_t figures_count;
    double median; /* kept until the next figure */
    uint32_t median_of;
};

struct siblings {
    struct sibling_class *classes;
    uint32_t classes_count;
};

struct siblings *siblings_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct siblings));
}

static const char *pcie_path(
    const struct facts *facts, const struct record *record)
{
    for (uint32_t i = 0; i < record->flows_count; i++) {
        const struct flow_path path = flow_path_of(facts, &record->flows[i]);

        if (record->flows[i].counted && path.direction == FLOW_PEER &&
            path.link == LINK_PCIE) {
            const struct pair_facts *const pair =
                facts_pair(facts, (uint32_t)path.from, (uint32_t)path.to);

            return pair == NULL ? NULL : pair->path;
        }
    }
    return NULL;
}

static int is_same(const char *one, const char *other)
{
    return one == other ||
           (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static struct sibling_class *find(
    const struct siblings *siblings, const struct sibling_class *like)
{
    for (uint32_t i = 0; i < siblings->classes_count; i++) {
        struct sibling_class *const class = &siblings->classes[i];

        if (is_same(class->metric, like->metric) &&
            traffic_equal(&class->traffic, &like->traffic) &&
            is_same(class->path, like->path)) {
            return class;
        }
    }
    return NULL;
}

static struct sibling_class class_of(
    const struct facts *facts, const struct record *record)
{
    struct sibling_class class = { .metric = record->metric,
        .path = pcie_path(facts, record) };

    traffic_of_record(facts, record, &class.traffic);
    return class;
}

int32_t siblings_add(struct siblings *siblings, const struct facts *facts,
    const struct record *record, double figure, struct arena *arena,
    struct error *err)
{
    const struct sibling_class like = class_of(facts, record);
    struct sibling_class *class = find(siblings, &like);

    if (class == NULL) {
        struct sibling_class *const classes = arena_append(arena,
            siblings->classes, &siblings->classes_count, sizeof *classes);

        FAIL_IF(classes == NULL, err, NVBW_E_SYSTEM, "no memory to judge");
        siblings->classes = classes;
        class = &classes[siblings->classes_count - 1];
        *class = like;
    }

    double *const figures = arena_append(
        arena, class->figures, &class->figures_count, sizeof *figures);

    FAIL_IF(figures == NULL, err, NVBW_E_SYSTEM, "no memory to judge");
    figures[class->figures_count - 1] = figure;
    class->figures = figures;
    return NVBW_OK;
}

double siblings_median(const struct siblings *siblings,
    const struct facts *facts, const struct record *record, uint32_t *out_count)
{
    const struct sibling_class like = class_of(facts, record);
    struct sibling_class *const class = find(siblings, &like);

    *out_count = class == NULL ? 0 : class->figures_count;
    if (*out_count < SIBLINGS_LEAST) {
        return NAN;
    }
    if (class->median_of != class->figures_count) {
        class->median =
            stats_quantile(class->figures, class->figures_count, 0.5);
        class->median_of = class->figures_count;
    }
    return class->median;
}
