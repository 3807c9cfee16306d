/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_escape.h"

#include <stdint.h>
#include <string.h>

#include "text_clean.h"

/* What stands for a character of ASCII; NULL: the character itself. */
struct escape {
    char character;
    const char *text;
};

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
        const size_t length = text_character(text, &code);
        const char *const other =
            length == 1 ? escape_of(escapes, *text) : NULL;

        if (strchr("\t\n\r", *text) != NULL) {
            strbuf_add(out, " ");
        } else if (length == 0 || text_is_unwanted(code)) {
            strbuf_add(out, "?");
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
