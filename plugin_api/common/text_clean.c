/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "text_clean.h"

#include <string.h>

size_t text_character(const char *text, uint32_t *out_code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char first = (unsigned char)text[0];
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : first >= 0xe0 && first < 0xf0 ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;

    *out_code = first;
    if (length < 2) {
        return length;
    }

    uint32_t code = first & (0x7fU >> length);

    for (size_t i = 1; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if ((byte & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (byte & 0x3fU);
    }
    *out_code = code;
    return code < least[length] || code > 0x10ffff ||
                   (code >= 0xd800 && code < 0xe000)
               ? 0
               : length;
}

int text_is_unwanted(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } unwanted[] = {
        { 0x00, 0x1f }, { 0x7f, 0x9f }, /* C0, C1: control characters */
        { 0x61c, 0x61c }, { 0x200e, 0x200f }, { 0x202a, 0x202e },
        { 0x2066, 0x2069 },                       /* direction of writing */
        { 0x2028, 0x2029 },                       /* ends of lines */
        { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f }, /* notes, tags: unseen */
    };

    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++) {
        if (code >= unwanted[i].first && code <= unwanted[i].last) {
            return 1;
        }
    }
    return (code & 0xfffe) == 0xfffe;
}

/* What starts at text and is to stay: one of kept. */
static size_t kept_length(const char *text, const char *const *kept)
{
    for (; kept != NULL && *kept != NULL; kept++) {
        if (strncmp(text, *kept, strlen(*kept)) == 0) {
            return strlen(*kept);
        }
    }
    return 0;
}

/* Nothing grows, so the text is written over itself. */
static void clean(char *text, int keep_lines, const char *const *kept)
{
    char *out = text;

    while (*text != '\0') {
        uint32_t code = 0;
        const size_t keep = kept_length(text, kept);
        const size_t length = keep > 0 ? keep : text_character(text, &code);
        const int is_blank = *text == '\n' || *text == '\t' || *text == '\r';

        if (keep > 0 || (is_blank && keep_lines && *text != '\r') ||
            (length > 0 && !text_is_unwanted(code))) {
            memmove(out, text, length);
            out += length;
        } else {
            *out++ = is_blank ? ' ' : '?';
        }
        text += length == 0 ? 1 : length;
    }
    *out = '\0';
}

void text_clean(char *text, int keep_lines)
{
    clean(text, keep_lines, NULL);
}

void text_clean_but(char *text, const char *const *kept)
{
    clean(text, 1, kept);
}

size_t text_fit(const char *text, size_t columns)
{
    size_t at = 0;

    for (size_t i = 0; i < columns && text[at] != '\0'; i++) {
        uint32_t code = 0;
        const size_t length = text_character(text + at, &code);

        at += length == 0 ? 1 : length;
    }
    return at;
}

size_t text_width(const char *text)
{
    size_t count = 0;

    while (*text != '\0') {
        text += text_fit(text, 1);
        count++;
    }
    return count;
}

static void clean_list(const struct field *field, void *object, int keep_lines)
{
    char *const list = *(char **)((char *)object + field->offset);
    const uint32_t count =
        *(const uint32_t *)((const char *)object + field->count_offset);

    for (uint32_t i = 0; i < count; i++) {
        if (field->kind == FIELD_MANY) {
            text_clean_object(
                field->of, list + i * field->of->size, keep_lines);
        } else if (((char **)(void *)list)[i] != NULL) {
            text_clean(((char **)(void *)list)[i], keep_lines);
        }
    }
}

void text_clean_object(
    const struct fields *fields, void *object, int keep_lines)
{
    for (const struct field *field = fields->list; field->name != NULL;
         field++) {
        void *const at = (char *)object + field->offset;

        if ((field->kind == FIELD_TEXT || field->kind == FIELD_WORD) &&
            *(char **)at != NULL) {
            text_clean(*(char **)at, keep_lines);
        } else if (field->kind == FIELD_ONE) {
            text_clean_object(field->of, at, keep_lines);
        } else if (field->kind == FIELD_TEXTS || field->kind == FIELD_MANY) {
            clean_list(field, object, keep_lines);
        }
    }
}
