/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_escape.h"

#include <stdint.h>
#include <string.h>

/* What stands for a character of ASCII; NULL: the character itself. */
struct escape {
    char character;
    const char *text;
};

static const char replacement[] = "\xef\xbf\xbd";

/* Length of the well-formed sequence at text and its code point; 0 if there is
 * none: overlong forms, surrogates and numbers past U+10FFFF are none. */
static size_t decode(const unsigned char *text, uint32_t *out_code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t length = text[0] < 0x80                      ? 1
                          : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                          : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                          : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                              : 0;

    if (length < 2) {
        *out_code = text[0];
        return length;
    }

    uint32_t code = text[0] & (0x7fU >> length);

    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fU);
    }
    *out_code = code;
    return code < least[length] || code > 0x10ffff ||
                   (code >= 0xd800 && code < 0xe000)
               ? 0
               : length;
}

/* Characters that a reader does not see but that change what it sees, and
 * those that XML forbids. */
static int is_unwanted(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
           (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || (code & 0xfffe) == 0xfffe;
}

static const char *escape_of(const struct escape *escapes, char character)
{
    for (; escapes->text != NULL; escapes++) {
        if (escapes->character == character) {
            return escapes->text;
        }
    }
    return NULL;
}

static void add_escaped(
    struct strbuf *out, const char *text, const struct escape *escapes)
{
    while (text != NULL && *text != '\0') {
        uint32_t code = 0;
        const size_t length = decode((const unsigned char *)text, &code);
        const char *const other =
            length == 1 ? escape_of(escapes, *text) : NULL;

        if (strchr("\t\n\r", *text) != NULL) {
            strbuf_add(out, " ");
        } else if (length == 0 || is_unwanted(code)) {
            strbuf_add(out, replacement);
        } else if (other != NULL) {
            strbuf_add(out, other);
        } else {
            strbuf_add_n(out, text, length);
        }
        text += length == 0 ? 1 : length;
    }
}

void escape_plain(struct strbuf *out, const char *text)
{
    static const struct escape none[] = { { '\0', NULL } };

    add_escaped(out, text, none);
}

void escape_markup(struct strbuf *out, const char *text)
{
    static const struct escape markup[] = {
        { '&', "&amp;" },
        { '<', "&lt;" },
        { '>', "&gt;" },
        { '"', "&quot;" },
        { '\'', "&#39;" },
        { '\0', NULL },
    };

    add_escaped(out, text, markup);
}

void escape_label(struct strbuf *out, const char *text)
{
    static const struct escape label[] = {
        { '\\', "\\\\" },
        { '"', "\\\"" },
        { '\0', NULL },
    };

    add_escaped(out, text, label);
}

void escape_csv(struct strbuf *out, const char *text)
{
    static const struct escape quotes[] = {
        { '"', "\"\"" },
        { '\0', NULL },
    };
    const char *const first =
        text == NULL ? "" : text + strspn(text, " \t\r\n");
    const int is_formula = *first != '\0' && strchr("=+-@", *first) != NULL;
    const int is_quoted =
        text != NULL && (is_formula || strpbrk(text, ",\"\t\r\n; '") != NULL);

    strbuf_add(out, is_quoted ? "\"" : "");
    strbuf_add(out, is_formula ? "'" : "");
    add_escaped(out, text, quotes);
    strbuf_add(out, is_quoted ? "\"" : "");
}
