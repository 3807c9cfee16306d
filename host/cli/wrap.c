/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "wrap.h"

#include <stdio.h>
#include <string.h>

void wrap_print(const char *lead, int indent, const char *text)
{
    int column = (int)strlen(lead);
    int is_first = 1; /* of its line */

    fputs(lead, stdout);
    while (text != NULL && *text != '\0') {
        const int length = (int)strcspn(text, " \n");
        const int room = WRAP_COLUMNS - column - !is_first;

        if (length > room && column > indent) {
            printf("\n%*s", indent, "");
            column = indent;
            is_first = 1;
        }
        printf("%s%.*s", is_first ? "" : " ", length, text);
        column += length + !is_first;
        is_first = 0;
        text += length;
        if (*text == '\n') { /* a line of its own, as it was written */
            printf("\n%*s", text[1] == '\0' ? 0 : indent, "");
            column = indent;
            is_first = 1;
            text++;
        }
        text += strspn(text, " ");
    }
    printf("\n");
}
