/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "text_clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "wire.h"

static void expect_clean(const char *given, int keep_lines, const char *wanted)
{
    char text[64];

    snprintf(text, sizeof text, "%s", given);
    text_clean(text, keep_lines);
    assert_string_equal(text, wanted);
    text_clean(text, keep_lines);
    assert_string_equal(text, wanted);
}

static void test_texts(void **state)
{
    (void)state;
    expect_clean("", 0, "");
    expect_clean("plain, 42 %", 0, "plain, 42 %");
    expect_clean("\x1b[2Jx\x07\x7f", 0, "?[2Jx??");
    expect_clean("a\r\n\tb", 0, "a   b");
    expect_clean("a\n\tb", 1, "a\n\tb");
    expect_clean("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 0,
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    expect_clean("\xc3\x28 \x80 \xff\xfe", 0, "?( ? ??");
    expect_clean("\xc2\x9b"
                 "31m",
        0, "?31m");
    expect_clean("cut \xe2\x82", 0, "cut ??");
    expect_clean("\xc0\xaf\xf8", 0, "???");
    expect_clean("a\xe2\x80\xaegpj", 0, "a?gpj");
    expect_clean("\xe2\x80\xa8\xd8\x9c\xf3\xa0\x81\x81.", 1, "???.");
    expect_clean("\xed\xa0\x80\xe0\x80\xbc", 0, "??????");
}

static void test_kept(void **state)
{
    static const char *const kept[] = { "\033[1m", "\033[0m", NULL };
    char text[] = "\033[1mbold\033[0m\t\033[2J\n\033[1\r\x9b.";

    (void)state;
    text_clean_but(text, kept);
    assert_string_equal(text, "\033[1mbold\033[0m\t?[2J\n?[1 ?.");
    text_clean_but(text, NULL);
    assert_string_equal(text, "?[1mbold?[0m\t?[2J\n?[1 ?.");
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("a\xc3\xa4\xe2\x82\xac\xff"), 4);
    assert_int_equal(text_fit("a\xc3\xa4\xe2\x82\xac.", 0), 0);
    assert_int_equal(text_fit("a\xc3\xa4\xe2\x82\xac.", 2), 3);
    assert_int_equal(text_fit("a\xc3\xa4\xe2\x82\xac.", 3), 6);
    assert_int_equal(text_fit("a\xc3\xa4", 9), 3);
    assert_int_equal(text_fit("\xe2\x82", 1), 1);
}

static void test_object(void **state)
{
    char metric[] = "m\x1b";
    char first[] = "a\n";
    char second[] = "b";
    const char *names[] = { first, second, NULL };
    struct labels_frame labels = {
        .metric = metric, .names = names, .names_count = 3
    };

    (void)state;
    text_clean_object(&labels_fields, &labels, 0);
    assert_string_equal(metric, "m?");
    assert_string_equal(first, "a ");
    assert_string_equal(second, "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
