/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What a plugin or a driver says reaches terminals, logs and reports, and must
 * not be able to play with them. */
#ifndef NVBW_TEXT_CLEAN_H
#define NVBW_TEXT_CLEAN_H

#include "fields.h"

/* Control characters and bytes that are no UTF-8 become '?', in place. Ends of
 * lines and tabs become blanks unless keep_lines. Idempotent. */
void text_clean(char *text, int keep_lines);

/* The same for every text of an object that fields_decode has filled. */
void text_clean_object(
    const struct fields *fields, void *object, int keep_lines);

#endif
