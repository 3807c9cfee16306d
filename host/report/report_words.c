/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_formats.h"

const struct exit_words *report_exit_words(int32_t code)
{
    static const struct exit_words words[] = {
        { EXIT_PASSED, "PASSED", "every limit was met" },
        { EXIT_FAILED, "FAILED", "a limit or a data verification failed" },
        { EXIT_USAGE, "USAGE", "nothing ran" },
        { EXIT_HEALTH, "UNHEALTHY", "the machine is not fit to be measured" },
        { EXIT_INCOMPLETE, "INCOMPLETE",
            "not all that was asked for could be measured" },
        { EXIT_CONTRACT, "CONTRACT",
            "a plugin was refused or broke its contract" },
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].code == code) {
            return &words[i];
        }
    }
    return &words[EXIT_INCOMPLETE];
}
