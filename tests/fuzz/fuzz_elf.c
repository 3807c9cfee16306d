/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The bytes of a plugin's file, before dlopen sees them. */
#include <string.h>

#include "elf_check.h"
#include "fuzz.h"

static void is_within(const uint8_t *bytes, size_t length, const char *text)
{
    const uint8_t *const at = (const uint8_t *)text;

    fuzz_claim(text == NULL ||
                   (at >= bytes && at < bytes + length &&
                       memchr(at, 0, (size_t)(bytes + length - at)) != NULL),
        "a text of the report leaves the file");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct elf_report report;
    struct error err = { 0 };

    elf_is_loadable(bytes, length);
    if (elf_check(bytes, length, &report, &err) < 0) {
        fuzz_claim(err.text[0] != '\0', "a refusal without a sentence");
        return 0;
    }
    fuzz_claim(report.needed_count <= ELF_NEEDED_LIMIT, "too many libraries");
    for (uint32_t i = 0; i < report.needed_count; i++) {
        is_within(bytes, length, report.needed[i]);
    }
    is_within(bytes, length, report.runpath);
    is_within(bytes, length, report.rpath);
    return 0;
}
