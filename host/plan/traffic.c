/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "traffic.h"

#include <stdio.h>

#include "state.h"

const struct name link_names[] = {
    { LINK_NONE, "none" },
    { LINK_PCIE, "pcie" },
    { LINK_NVLINK, "nvlink" },
    { LINK_MEMORY, "memory" },
    { 0, NULL },
};

const struct name way_names[] = {
    { WAY_NONE, "none" },
    { WAY_H2D, "h2d" },
    { WAY_D2H, "d2h" },
    { WAY_PUSH, "push" },
    { WAY_PULL, "pull" },
    { WAY_COPY, "copy" },
    { WAY_READ, "read" },
    { WAY_WRITE, "write" },
    { WAY_HOST, "host" },
    { WAY_BOTH, "both" },
    { 0, NULL },
};

const struct name load_names[] = {
    { LOAD_ALONE, "alone" },
    { LOAD_OPPOSED, "opposed" },
    { LOAD_SHARED, "shared" },
    { LOAD_SHARED_OPPOSED, "shared_opposed" },
    { 0, NULL },
};

static const struct field traffic_list[] = {
    FIELD_NAMED(traffic, link, link_names),
    FIELD_NAMED(traffic, initiator, initiator_names),
    FIELD_NAMED(traffic, way, way_names),
    FIELD_NAMED(traffic, load, load_names),
    FIELD_END,
};
const struct fields traffic_fields = FIELDS(traffic, traffic_list);

int traffic_equal(const struct traffic *one, const struct traffic *other)
{
    return one->link == other->link && one->initiator == other->initiator &&
           one->way == other->way && one->load == other->load;
}

/* Numbers may come from a journal, so the tables are searched. */
static const char *word(const struct name *words, uint32_t number)
{
    const char *const found = name_of(words, number);

    return found == NULL ? "?" : found;
}

void traffic_format(const struct traffic *traffic, char *out, size_t size)
{
    static const struct name ways[] = {
        { WAY_NONE, "none" },
        { WAY_H2D, "h2d" },
        { WAY_D2H, "d2h" },
        { WAY_PUSH, "peer push" },
        { WAY_PULL, "peer pull" },
        { WAY_COPY, "local copy" },
        { WAY_READ, "local read" },
        { WAY_WRITE, "local write" },
        { WAY_HOST, "host" },
        { WAY_BOTH, "both ways" },
        { 0, NULL },
    };
    static const struct name loads[] = {
        { LOAD_ALONE, "alone" },
        { LOAD_OPPOSED, "opposed" },
        { LOAD_SHARED, "shared" },
        { LOAD_SHARED_OPPOSED, "shared and opposed" },
        { 0, NULL },
    };

    snprintf(out, size, "%s %s %s", word(initiator_names, traffic->initiator),
        word(ways, traffic->way), word(loads, traffic->load));
}
