/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "host_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;
static struct error err;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_clear(&arena);
    return 0;
}

/* The names with blanks between, "" where the text is refused. */
static const char *names_of(const char *text)
{
    static char all[256];
    struct text_list names = { NULL, 0 };

    all[0] = '\0';
    if (host_names_parse(text, &arena, &names, &err) < 0) {
        return all;
    }
    for (uint32_t i = 0; i < names.count; i++) {
        const size_t used = strlen(all);

        snprintf(all + used, sizeof all - used, "%s%s", i == 0 ? "" : " ",
            names.texts[i]);
    }
    return all;
}

static void ranges_are_expanded(void **state)
{
    (void)state;
    assert_string_equal(names_of("a"), "a");
    assert_string_equal(names_of("a,b c"), "a b c");
    assert_string_equal(
        names_of("n[008-010,12],login1"), "n008 n009 n010 n12 login1");
    assert_string_equal(
        names_of("r[1-2]-n[1,3].x"), "r1-n1.x r1-n3.x r2-n1.x r2-n3.x");
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const texts[] = { "", " , ", "n[1-2", "n]", "n[]",
        "n[2-1]", "n[a-b]", "n[-3]", "n[1-]", "n[1-99999999999999999999]",
        "n[0-4294967295]", "a[1][1][1][1][1]", "n[1-2]]", "@/no/such/file",
        "n\x01" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        err.text[0] = '\0';
        if (strcmp(names_of(texts[i]), "") != 0) {
            fail_msg("\"%s\" was taken", texts[i]);
        }
        assert_true(err.text[0] != '\0');
    }
}

static void too_many_are_refused(void **state)
{
    (void)state;
    assert_string_equal(names_of("n[1-1000]x[1-2000]"), "");
    assert_non_null(strstr(err.text, "more than"));
}

static void a_file_holds_lists(void **state)
{
    char file[] = "/tmp/nvbw-hosts-XXXXXX";
    char name[64];
    const int descriptor = mkstemp(file);
    static const char text[] = "# of the first rack\nn[1-2]  # two\n\nb\nc,d";

    (void)state;
    assert_true(descriptor >= 0);
    assert_int_equal(
        write(descriptor, text, sizeof text - 1), (int)sizeof text - 1);
    close(descriptor);
    snprintf(name, sizeof name, "@%s", file);
    assert_string_equal(names_of(name), "n1 n2 b c d");
    assert_int_equal(unlink(file), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(ranges_are_expanded),
        TEST(what_is_no_list_is_refused),
        TEST(too_many_are_refused),
        TEST(a_file_holds_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
