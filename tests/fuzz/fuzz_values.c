/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Every text that a person writes for a value, one a line: parsers refuse with
 * a sentence or give a value in range; what formats a value is read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "limit.h"
#include "plan_value.h"
#include "quantity.h"

enum { ROOM = 64 };

static plan_value_fn *const checks[] = { plan_value_required,
    plan_value_isolate, plan_value_confirm, plan_value_pass, plan_value_limit,
    plan_value_direction, plan_value_flag, plan_value_count, plan_value_rounds,
    plan_value_duration, plan_value_ratio, plan_value_date, plan_value_text,
    plan_value_sha256, plan_value_nvbandwidth_version, limit_check_devices,
    limit_check_pair, limit_check_size };
enum { CHECKS = sizeof checks / sizeof checks[0] };

static void is_told(int32_t status, const struct error *err)
{
    fuzz_claim(
        status >= 0 || err->text[0] != '\0', "a refusal without a sentence");
}

static void try_numbers(const char *text)
{
    struct error err = { 0 };
    char written[ROOM];
    uint64_t bytes;
    uint64_t again;
    uint64_t ns;
    int64_t whole;
    double real;
    int flag;
    int32_t status = quantity_size(text, &bytes, &err);

    is_told(status, &err);
    if (status >= 0) {
        quantity_format_size(bytes, written, sizeof written);
        fuzz_claim(quantity_size(written, &again, &err) >= 0 && again == bytes,
            "a size does not read back");
    }
    status = quantity_duration(text, &ns, &err);
    is_told(status, &err);
    if (status >= 0) {
        quantity_format_duration(ns, written, sizeof written);
    }
    is_told(quantity_int(text, &whole, &err), &err);
    is_told(quantity_bool(text, &flag, &err), &err);
    for (uint32_t unit = NVBW_UNIT_BYTES_PER_SECOND; unit <= NVBW_UNIT_RATIO;
         unit++) {
        status = quantity_real(text, unit, &real, &err);
        is_told(status, &err);
        fuzz_claim(status < 0 || isfinite(real), "a number that is none");
    }
}

static void try_limit(const char *text)
{
    struct error err = { 0 };
    char written[ROOM];
    enum limit_base base;
    double value;
    uint32_t unit;
    const int32_t status = quantity_limit(text, &base, &value, &unit, &err);

    is_told(status, &err);
    if (status >= 0) {
        fuzz_claim(isfinite(value), "a limit that is no number");
        fuzz_claim(base >= LIMIT_ABSOLUTE && base <= LIMIT_BASELINE,
            "a limit of nothing");
        quantity_format(value, unit, written, sizeof written);
    }
}

static void try_matches(const char *text)
{
    const int32_t devices[] = { 0, 3, 71 };

    limit_matches_name(text, "host_to_device_memcpy_ce", "bandwidth");
    limit_matches_name("*_ce", text, text);
    limit_matches_devices(text, devices, 3);
    limit_matches_pair(text, devices, 2);
    limit_matches_size(text, 1 << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct fuzz_part all = { bytes, length };
    char *const text = fuzz_text(&all);
    char *rest = text;
    const char *next;

    while ((next = strsep(&rest, "\n")) != NULL) {
        struct error err = { 0 };

        try_numbers(next);
        try_limit(next);
        try_matches(next);
        for (uint32_t i = 0; i < CHECKS; i++) {
            err.text[0] = '\0';
            is_told(checks[i](next, &err), &err);
        }
    }
    free(text);
    return 0;
}
