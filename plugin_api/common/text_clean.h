/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a plugin, a driver or a file says reaches terminals, logs and reports,
 * and must not be able to play with them. Here stands what is unwanted in text
 * for people; all who write for them ask here. */
#ifndef NVBW_TEXT_CLEAN_H
#define NVBW_TEXT_CLEAN_H

#include "fields.h"

/* Length in bytes of the character at text and its number; 0 where there is no
 * well-formed one: overlong forms, surrogates and numbers past U+10FFFF are
 * none. */
size_t text_character(const char *text, uint32_t *out_code);

/* 1: a control character, or one that a reader does not see but that changes
 * what it sees: turns of the direction of writing, ends of lines, tags; and
 * what XML forbids. */
int text_is_unwanted(uint32_t code);

/* Unwanted characters and bytes that are no UTF-8 become '?', in place. Ends
 * of lines and tabs become blanks unless keep_lines. Idempotent. */
void text_clean(char *text, int keep_lines);

/* The same for a text of many lines in which the texts of a list, ended by
 * NULL, stay as they are. */
void text_clean_but(char *text, const char *const *kept);

/* The same for every text of an object that fields_decode has filled. */
void text_clean_object(
    const struct fields *fields, void *object, int keep_lines);

/* Bytes of the first characters of text, at most so many: none is cut. */
size_t text_fit(const char *text, size_t columns);
/* Characters of text. */
size_t text_width(const char *text);

#endif
