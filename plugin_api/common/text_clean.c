/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "text_clean.h"

static int is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Length of the UTF-8 sequence of two to four bytes at text, or 0. C1 control
 * characters (0xc2 0x80 to 0x9f) count as none. */
static size_t sequence_length(const unsigned char *text)
{
    const size_t length = text[0] >= 0xf0 && text[0] < 0xf5   ? 4
                          : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                          : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                                                              : 0;

    for (size_t i = 1; i < length; i++) {
        if (!is_continuation(text[i])) {
            return 0;
        }
    }
    return length == 2 && text[0] == 0xc2 && text[1] < 0xa0 ? 0 : length;
}

static int clean_byte(unsigned char byte, int keep_lines)
{
    if (byte == '\n' || byte == '\t') {
        return keep_lines ? byte : ' ';
    }
    if (byte == '\r') {
        return ' ';
    }
    return byte >= 0x20 && byte < 0x7f ? byte : '?';
}

void text_clean(char *text, int keep_lines)
{
    while (*text != '\0') {
        const size_t length = sequence_length((const unsigned char *)text);

        if (length == 0) {
            *text = (char)clean_byte((unsigned char)*text, keep_lines);
        }
        text += length == 0 ? 1 : length;
    }
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

        if (field->kind == FIELD_TEXT && *(char **)at != NULL) {
            text_clean(*(char **)at, keep_lines);
        } else if (field->kind == FIELD_ONE) {
            text_clean_object(field->of, at, keep_lines);
        } else if (field->kind == FIELD_TEXTS || field->kind == FIELD_MANY) {
            clean_list(field, object, keep_lines);
        }
    }
}
