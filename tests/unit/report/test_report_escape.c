/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void escape_fn(struct strbuf *out, const char *text);

static void expect(escape_fn *escape, const char *text, const char *wanted)
{
    struct strbuf out;

    strbuf_init(&out, 1 << 16);
    escape(&out, text);
    assert_string_equal(out.text, wanted);
    strbuf_free(&out);
}

static void plain_text_is_utf_8_without_controls(void **state)
{
    (void)state;
    expect(escape_plain, NULL, "");
    expect(escape_plain, "two\nlines\tand \x1b[31m", "two lines and ?[31m");
    expect(escape_plain, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80",
        "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
    expect(escape_plain, "\xff", "?");
    expect(escape_plain, "\xc0\xaf", "??");
    expect(escape_plain, "\xe0\x80\xbc", "???");
    expect(escape_plain, "\xed\xa0\x80", "???");
    expect(escape_plain, "\xf4\x90\x80\x80", "????");
    expect(escape_plain, "\xe2\x80\xaegpj", "?gpj");
    expect(escape_plain,
        "\xef\xbf\xbf"
        "a",
        "?"
        "a");
    expect(escape_plain, "cut \xe2\x82", "cut ??");
}

static void markup_is_text(void **state)
{
    (void)state;
    expect(escape_markup, "<script>alert('x')</script>&\"",
        "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;");
    expect(escape_markup, "a\x01z", "a?z");
}

static void labels_stay_in_their_quotes(void **state)
{
    (void)state;
    expect(escape_label, "a\"} 1\nnvbw_evil 2\\", "a\\\"} 1 nvbw_evil 2\\\\");
}

static void fields_follow_rfc_4180(void **state)
{
    (void)state;
    expect(escape_csv, NULL, "");
    expect(escape_csv, "plain", "plain");
    expect(escape_csv, "a,b", "\"a,b\"");
    expect(escape_csv, "say \"x\"", "\"say \"\"x\"\"\"");
    expect(escape_csv, "two\r\nlines", "\"two  lines\"");
}

static void no_field_is_a_formula(void **state)
{
    (void)state;
    expect(escape_csv, "=1+1", "\"'=1+1\"");
    expect(escape_csv, "@sum", "\"'@sum\"");
    expect(escape_csv, "-2", "\"'-2\"");
    expect(escape_csv, " +3", "\"' +3\"");
    expect(escape_csv, "\t=4", "\"' =4\"");
}

/* Whatever the bytes, what comes out is the same when it goes in again. */
static void every_pair_of_bytes_is_cleaned(void **state)
{
    (void)state;
    for (unsigned first = 1; first < 256; first++) {
        for (unsigned second = 1; second < 256; second++) {
            const char text[] = { (char)first, (char)second, '\0' };
            struct strbuf once;

            strbuf_init(&once, 64);
            escape_plain(&once, text);
            for (size_t i = 0; i < once.length; i++) {
                assert_true((unsigned char)once.text[i] >= 0x20);
            }
            expect(escape_plain, once.text, once.text);
            strbuf_free(&once);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_utf_8_without_controls),
        cmocka_unit_test(markup_is_text),
        cmocka_unit_test(labels_stay_in_their_quotes),
        cmocka_unit_test(fields_follow_rfc_4180),
        cmocka_unit_test(no_field_is_a_formula),
        cmocka_unit_test(every_pair_of_bytes_is_cleaned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
