/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The standard parameters that steer the engine, from a unit's text. */
#include "engine.h"

#include <stddef.h>

#include "quantity.h"
#include "standard_types.h"

enum member_kind { MEMBER_U32, MEMBER_U64, MEMBER_F64 };

struct member {
    const char *param;
    enum member_kind kind;
    size_t offset;
};

#define MEMBER(name, kind_, member_)                                           \
    {                                                                          \
        (name), MEMBER_##kind_, offsetof(struct measure_params, member_)       \
    }

/* A choice's index is its value: mode fixed and chase random are 1. */
static const struct member members[] = {
    MEMBER("mode", U32, fixed),
    MEMBER("buffer_size", U64, buffer_bytes),
    MEMBER("copies", U32, copies),
    MEMBER("samples", U32, samples),
    MEMBER("min_samples", U32, min_samples),
    MEMBER("max_samples", U32, max_samples),
    MEMBER("warmup", U32, warmup),
    MEMBER("precision", F64, precision),
    MEMBER("precision_contended", F64, precision_contended),
    MEMBER("verify", U32, verify),
    MEMBER("gate", U32, gate),
    MEMBER("affinity", U32, affinity),
    MEMBER("seed", U64, seed),
    MEMBER("threads", U32, threads),
    MEMBER("chase", U32, chase_random),
};

/* What holds where a unit has no such parameter. */
static const struct measure_params absent = {
    .copies = 16,
    .samples = 8,
    .min_samples = 8,
    .max_samples = 15,
    .warmup = 4,
    .precision = 0.005,
    .precision_contended = 0.02,
    .verify = 1,
    .gate = 1,
    .affinity = 1,
};

static int32_t store(const struct member *member,
    const struct quantity_value *value, struct measure_params *out,
    struct error *err)
{
    char *const at = (char *)out + member->offset;

    if (member->kind == MEMBER_F64) {
        *(double *)(void *)at = value->real;
        return NVBW_OK;
    }
    FAIL_IF(value->integer < 0 ||
                (member->kind == MEMBER_U32 && value->integer > UINT32_MAX),
        err, NVBW_E_INVALID, "parameter %s: %lld is out of range",
        member->param, (long long)value->integer);
    if (member->kind == MEMBER_U64) {
        *(uint64_t *)(void *)at = (uint64_t)value->integer;
    } else {
        *(uint32_t *)(void *)at = (uint32_t)value->integer;
    }
    return NVBW_OK;
}

int32_t measure_params_parse(
    const struct unit *unit, struct measure_params *out, struct error *err)
{
    *out = absent;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct unit_param *const given =
            unit_param(unit, members[i].param);
        struct quantity_value value = { 0 };

        if (given == NULL || given->values_count == 0) {
            continue;
        }
        TRY(quantity_param(
            standard_type(members[i].param), given->values[0], &value, err));
        TRY(store(&members[i], &value, out, err));
    }
    FAIL_IF(out->copies == 0 || out->samples == 0, err, NVBW_E_INVALID,
        "parameters copies and samples are at least 1");
    FAIL_IF(out->min_samples > out->max_samples, err, NVBW_E_INVALID,
        "parameter min_samples (%u) is above max_samples (%u)",
        out->min_samples, out->max_samples);
    return NVBW_OK;
}
