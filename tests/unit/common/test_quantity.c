/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "quantity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct good {
    const char *text;
    uint64_t value;
};

static void test_sizes(void **state)
{
    static const struct good goods[] = {
        { "0 B", 0 },
        { "4096 B", 4096 },
        { "512 MiB", 512u << 20 },
        { "512MiB", 512u << 20 },
        { "  1 GB ", 1000000000 },
        { "1 kB", 1000 },
        { "1 KB", 1000 },
        { "1.5 KiB", 1536 },
        { "0.25 GiB", 256u << 20 },
        { "1.50000000000000000000000 KiB", 1536 },
        { "18446744073709551615 B", UINT64_MAX },
        { "16777215 TiB", UINT64_C(16777215) << 40 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(goods); i++) {
        uint64_t value = 1;
        struct error err = { 0 };

        if (quantity_size(goods[i].text, &value, &err) != NVBW_OK) {
            fail_msg("%s: %s", goods[i].text, err.text);
        }
        assert_true(value == goods[i].value);
    }
}

static const char *const bad_sizes[] = { NULL, "", " ", "\t", "512", "0", "-1",
    "-5 MiB", "MiB", "1e400", "1e400 B", "1e3 B", "1.5 B", "1.1 KiB",
    "0.0000000000000000001 B", "18446744073709551616 B", "16777216 TiB",
    "99999999999999999999999 B", "5 MX", "5 mib", "5 MiBx", "5 MiB x", "5. MiB",
    ".5 MiB", "+5 MiB", "0x10 B", "nan B", "inf", "5 Mi B", "5 %", "5\n" };

static void test_bad_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_sizes); i++) {
        uint64_t value = 77;
        struct error err = { 0 };

        if (quantity_size(bad_sizes[i], &value, &err) != NVBW_E_INVALID) {
            fail_msg("accepted \"%s\"", bad_sizes[i]);
        }
        assert_true(value == 77);
        assert_true(err.text[0] != '\0');
    }
}

static void test_words_about_units(void **state)
{
    uint64_t value = 0;
    double real = 0;
    enum limit_base base = LIMIT_ABSOLUTE;
    uint32_t unit = 0;
    struct error err = { 0 };

    (void)state;
    quantity_size("512", &value, &err);
    assert_string_equal(err.text,
        "\"512\" has no unit, write it like \"512 MiB\"; units of a size are "
        "B, kB, MB, GB, TB, KiB, MiB, GiB and TiB");
    quantity_duration("5 sec", &value, &err);
    assert_string_equal(err.text,
        "\"5 sec\" has the unknown unit \"sec\"; units of a duration are ns, "
        "us, ms, s, min, h and d");
    quantity_limit("50", &base, &real, &unit, &err);
    assert_non_null(strstr(err.text, "\"50\" has no unit"));
    assert_non_null(strstr(err.text, "GB/s"));
    assert_non_null(strstr(err.text, "expected"));
}

static void test_durations(void **state)
{
    static const struct good goods[] = {
        { "60 s", UINT64_C(60000000000) },
        { "250 ms", 250000000 },
        { "1500 ns", 1500 },
        { "1.5 us", 1500 },
        { "2 h", UINT64_C(7200000000000) },
        { "5 min", UINT64_C(300000000000) },
        { "10m", UINT64_C(600000000000) },
        { "1 d", UINT64_C(86400000000000) },
    };
    static const char *const bads[] = { "60", "-1 s", "1.5 ns", "1 year",
        "999999999 h", "1 S", "" };

    (void)state;
    for (size_t i = 0; i < COUNT(goods); i++) {
        uint64_t value = 1;

        assert_int_equal(
            quantity_duration(goods[i].text, &value, NULL), NVBW_OK);
        assert_true(value == goods[i].value);
    }
    for (size_t i = 0; i < COUNT(bads); i++) {
        uint64_t value = 1;

        assert_int_equal(
            quantity_duration(bads[i], &value, NULL), NVBW_E_INVALID);
    }
}

static void test_ints(void **state)
{
    static const char *const bads[] = { "", "1.0", "1e3", "12 x", "0x10",
        "9223372036854775808", "-9223372036854775809", "--1", "- 1", "+1" };
    int64_t value = 0;

    (void)state;
    assert_int_equal(quantity_int("-12", &value, NULL), NVBW_OK);
    assert_true(value == -12);
    assert_int_equal(
        quantity_int("9223372036854775807", &value, NULL), NVBW_OK);
    assert_true(value == INT64_MAX);
    assert_int_equal(
        quantity_int("-9223372036854775808", &value, NULL), NVBW_OK);
    assert_true(value == INT64_MIN);
    assert_int_equal(quantity_int("-0", &value, NULL), NVBW_OK);
    assert_true(value == 0);
    for (size_t i = 0; i < COUNT(bads); i++) {
        if (quantity_int(bads[i], &value, NULL) != NVBW_E_INVALID) {
            fail_msg("accepted \"%s\"", bads[i]);
        }
    }
}

static void test_bools(void **state)
{
    static const char *const yes[] = { "true", "on", "yes", "True" };
    static const char *const no[] = { "false", "off", "no" };
    static const char *const bads[] = { "", "1", "0", "y", "truee" };
    int value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++) {
        assert_int_equal(quantity_bool(yes[i], &value, NULL), NVBW_OK);
        assert_int_equal(value, 1);
    }
    for (size_t i = 0; i < COUNT(no); i++) {
        assert_int_equal(quantity_bool(no[i], &value, NULL), NVBW_OK);
        assert_int_equal(value, 0);
    }
    for (size_t i = 0; i < COUNT(bads); i++) {
        assert_int_equal(quantity_bool(bads[i], &value, NULL), NVBW_E_INVALID);
    }
}

static void test_reals(void **state)
{
    static const char *const bads[] = { "", "1e400", "-1e400", "nan", "inf",
        "0x1p3", "1,5", "1 x", "5 %", ".5", "1.", "1e",
        "0."
        "00000000000000000000000000000000000000000000000000000000000000001" };
    double value = 0;

    (void)state;
    assert_int_equal(quantity_real("0.25", 0, &value, NULL), NVBW_OK);
    assert_true(value == 0.25);
    assert_int_equal(quantity_real("-2.5e3", 0, &value, NULL), NVBW_OK);
    assert_true(value == -2500);
    assert_int_equal(
        quantity_real("0.5 %", NVBW_UNIT_RATIO, &value, NULL), NVBW_OK);
    assert_true(value == 0.005);
    assert_int_equal(
        quantity_real("0.005", NVBW_UNIT_RATIO, &value, NULL), NVBW_OK);
    assert_true(value == 0.005);
    for (size_t i = 0; i < COUNT(bads); i++) {
        if (quantity_real(bads[i], 0, &value, NULL) != NVBW_E_INVALID) {
            fail_msg("accepted \"%s\"", bads[i]);
        }
    }
}

static void test_misread_ratios(void **state)
{
    double value = 0;
    struct error err;

    (void)state;
    assert_int_equal(quantity_ratio("0.05", 0.005, &value, &err), NVBW_OK);
    assert_true(value == 0.05);
    assert_int_equal(quantity_ratio("50 %", 0.005, &value, &err), NVBW_OK);
    assert_true(value == 0.5);
    assert_int_equal(
        quantity_ratio("0.5", 0.005, &value, &err), NVBW_E_INVALID);
    assert_string_equal(err.text,
        "\"0.5\" is 50 %; write \"0.5 %\" or, if that is meant, \"50 %\"");
}

struct good_limit {
    const char *text;
    enum limit_base base;
    double value;
    uint32_t unit;
};

static void test_limits(void **state)
{
    static const struct good_limit goods[] = {
        { "48 GB/s", LIMIT_ABSOLUTE, 48e9, NVBW_UNIT_BYTES_PER_SECOND },
        { "48GB/s", LIMIT_ABSOLUTE, 48e9, NVBW_UNIT_BYTES_PER_SECOND },
        { "1500 ns", LIMIT_ABSOLUTE, 1500, NVBW_UNIT_NANOSECONDS },
        { "1.5 us", LIMIT_ABSOLUTE, 1500, NVBW_UNIT_NANOSECONDS },
        { "0.5 %", LIMIT_ABSOLUTE, 0.005, NVBW_UNIT_RATIO },
        { "95 % of expected", LIMIT_EXPECTED, 0.95, NVBW_UNIT_RATIO },
        { "95% of expected", LIMIT_EXPECTED, 0.95, NVBW_UNIT_RATIO },
        { "80 % of link ", LIMIT_LINK, 0.8, NVBW_UNIT_RATIO },
        { "97 %  of  siblings", LIMIT_SIBLINGS, 0.97, NVBW_UNIT_RATIO },
        { "98 % of baseline", LIMIT_BASELINE, 0.98, NVBW_UNIT_RATIO },
        { "1 MiB", LIMIT_ABSOLUTE, 1048576, NVBW_UNIT_BYTES },
        { "7 count", LIMIT_ABSOLUTE, 7, NVBW_UNIT_COUNT },
    };
    static const char *const bads[] = { "", "50", "50.5", "-1 GB/s",
        "1e400 GB/s", "1e308 GB/s", "95 % of", "95 % ofexpected",
        "95 % of nothing", "95 % expected", "95 % of expected x", "GB/s",
        "50 Gb/s", "95 %% of link" };

    (void)state;
    for (size_t i = 0; i < COUNT(goods); i++) {
        enum limit_base base = LIMIT_ABSOLUTE;
        double value = 0;
        uint32_t unit = 0;
        struct error err = { 0 };

        if (quantity_limit(goods[i].text, &base, &value, &unit, &err) < 0) {
            fail_msg("%s: %s", goods[i].text, err.text);
        }
        assert_int_equal(base, goods[i].base);
        assert_true(fabs(value - goods[i].value) <= 1e-12 * goods[i].value);
        assert_int_equal(unit, goods[i].unit);
    }
    for (size_t i = 0; i < COUNT(bads); i++) {
        enum limit_base base = LIMIT_ABSOLUTE;
        double value = 0;
        uint32_t unit = 0;

        if (quantity_limit(bads[i], &base, &value, &unit, NULL) >= 0) {
            fail_msg("accepted \"%s\"", bads[i]);
        }
    }
}

static void test_param_bounds(void **state)
{
    const struct param_schema size = { .name = "buffer_size",
        .type = NVBW_TYPE_SIZE,
        .min_text = "4 B",
        .max_text = "1 TiB" };
    const struct param_schema share = { .name = "share",
        .type = NVBW_TYPE_REAL,
        .unit = NVBW_UNIT_RATIO,
        .min_text = "0.1 %",
        .max_text = "50 %" };
    struct quantity_value value = { .integer = 3 };
    struct error err = { 0 };

    (void)state;
    assert_int_equal(quantity_param(&size, "1 MiB", &value, &err), NVBW_OK);
    assert_true(value.integer == 1048576);
    assert_int_equal(quantity_param(&size, "1 TiB", &value, &err), NVBW_OK);
    assert_int_equal(
        quantity_param(&size, "3 B", &value, &err), NVBW_E_INVALID);
    assert_string_equal(err.text,
        "parameter \"buffer_size\": \"3 B\" is below the minimum \"4 B\"");
    assert_int_equal(
        quantity_param(&size, "2 TiB", &value, &err), NVBW_E_INVALID);
    assert_int_equal(quantity_param(&share, "50 %", &value, &err), NVBW_OK);
    assert_true(value.real == 0.5);
    assert_int_equal(
        quantity_param(&share, "51 %", &value, &err), NVBW_E_INVALID);
    assert_int_equal(quantity_param(&share, "0", &value, &err), NVBW_E_INVALID);
}

static void test_param_choices(void **state)
{
    const char *choices[] = { "adaptive", "fixed" };
    const struct param_schema mode = { .name = "mode",
        .type = NVBW_TYPE_ENUM,
        .choices = choices,
        .choices_count = 2 };
    struct quantity_value value = { .integer = 3 };
    struct error err = { 0 };

    (void)state;
    assert_int_equal(quantity_param(&mode, "fixed", &value, &err), NVBW_OK);
    assert_true(value.integer == 1);
    assert_int_equal(
        quantity_param(&mode, "fix", &value, &err), NVBW_E_INVALID);
    assert_string_equal(
        err.text, "parameter \"mode\": \"fix\" is not one of adaptive, fixed");
}

/* xorshift64: the same numbers everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void test_round_trip(void **state)
{
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t value =
            next_random(&seed) >> (next_random(&seed) % 64)
                                      << (next_random(&seed) % 20);
        uint64_t back = ~value;
        char text[64];

        quantity_format_size(value, text, sizeof text);
        assert_int_equal(quantity_size(text, &back, NULL), NVBW_OK);
        assert_true(back == value);
        back = ~value;
        quantity_format_duration(value, text, sizeof text);
        assert_int_equal(quantity_duration(text, &back, NULL), NVBW_OK);
        assert_true(back == value);
    }
}

/* No text, however odd, is read as a number that its own spelling would not
 * give back, and none makes the parser fall. */
static void test_noise(void **state)
{
    static const char alphabet[] = "0123456789.-+eE %BKMGTi/snumhofd\t";
    uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

    (void)state;
    for (int i = 0; i < 50000; i++) {
        char text[24];
        const size_t length = next_random(&seed) % (sizeof text - 1);
        uint64_t bytes = 0;

        for (size_t k = 0; k < length; k++) {
            text[k] = alphabet[next_random(&seed) % (sizeof alphabet - 1)];
        }
        text[length] = '\0';
        if (quantity_size(text, &bytes, NULL) == NVBW_OK) {
            char spelt[64];
            uint64_t again = 0;

            quantity_format_size(bytes, spelt, sizeof spelt);
            assert_int_equal(quantity_size(spelt, &again, NULL), NVBW_OK);
            assert_true(again == bytes);
        }

        enum limit_base base = LIMIT_ABSOLUTE;
        double value = 0;
        uint32_t unit = NVBW_UNIT_NONE;

        if (quantity_limit(text, &base, &value, &unit, NULL) == NVBW_OK) {
            assert_true(isfinite(value) && value >= 0);
            assert_int_not_equal(unit, NVBW_UNIT_NONE);
        }
    }
}

struct figure {
    double value;
    uint32_t unit;
    const char *text;
};

static void test_figures(void **state)
{
    static const struct figure figures[] = {
        { 55.44e9, NVBW_UNIT_BYTES_PER_SECOND, "55.44 GB/s" },
        { 4814e9, NVBW_UNIT_BYTES_PER_SECOND, "4814 GB/s" },
        { 478.1e9, NVBW_UNIT_BYTES_PER_SECOND, "478.1 GB/s" },
        { 99.999e9, NVBW_UNIT_BYTES_PER_SECOND, "100.0 GB/s" },
        { 1198, NVBW_UNIT_NANOSECONDS, "1.198 us" },
        { 829.3, NVBW_UNIT_NANOSECONDS, "829.3 ns" },
        { 512u << 20, NVBW_UNIT_BYTES, "512 MiB" },
        { 5368709121, NVBW_UNIT_BYTES, "5.000 GiB" },
        { 0.952, NVBW_UNIT_RATIO, "95.2 %" },
        { 12, NVBW_UNIT_COUNT, "12" },
        { NAN, NVBW_UNIT_COUNT, "-" },
        { 0, NVBW_UNIT_BYTES_PER_SECOND, "0.000 B/s" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(figures); i++) {
        char text[32];

        quantity_format(figures[i].value, figures[i].unit, text, sizeof text);
        assert_string_equal(text, figures[i].text);
    }
}

static void test_format_keeps_bound(void **state)
{
    char text[4] = "xyz";

    (void)state;
    quantity_format(55.44e9, NVBW_UNIT_BYTES_PER_SECOND, text, sizeof text);
    assert_string_equal(text, "55.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_words_about_units),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_ints),
        cmocka_unit_test(test_bools),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_misread_ratios),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_param_bounds),
        cmocka_unit_test(test_param_choices),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_format_keeps_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
