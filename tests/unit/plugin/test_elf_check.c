/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Rules C1 and C23 over the bytes of a real plugin, whole and spoilt. The
 * plugin's file comes from the build. */
#include "elf_check.h"
#include "plugin_file.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct file_bytes good;

static int read_good(void **state)
{
    struct error err = { 0 };
    (void)state;
    if (file_bytes_read(TEST_PLUGIN, PLUGIN_FILE_LIMIT, &good, &err) < 0) {
        print_error("%s %s\n", TEST_PLUGIN, err.text);
        return -1;
    }
    return 0;
}

static int free_good(void **state)
{
    (void)state;
    file_bytes_free(&good);
    return 0;
}

/* A copy to spoil, of exactly its length, so that a checker of memory sees
 * every read past the end. */
static unsigned char *copy_good(size_t length)
{
    unsigned char *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, good.bytes, length);
    return copy;
}

/* Wants the bytes refused with these words. Frees them. */
static void expect_refused(
    unsigned char *bytes, size_t length, const char *words)
{
    struct elf_report report;
    struct error err = { 0 };
    assert_int_equal(elf_check(bytes, length, &report, &err), NVBW_E_INVALID);
    if (strstr(err.text, words) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
    }
    free(bytes);
}

static Elf64_Ehdr header_of(const unsigned char *bytes)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    return header;
}

static void put_header(unsigned char *bytes, Elf64_Ehdr header)
{
    memcpy(bytes, &header, sizeof header);
}

static void a_good_plugin_is_good(void **state)
{
    (void)state;
    struct elf_report report;
    struct error err = { 0 };
    assert_int_equal(
        elf_check(good.bytes, good.length, &report, &err), NVBW_OK);
    int has_libc = 0;
    for (uint32_t i = 0; i < report.needed_count; i++) {
        has_libc |= strncmp(report.needed[i], "libc.", 5) == 0;
    }
    assert_true(has_libc);
    assert_true(elf_is_loadable(good.bytes, good.length));
}

static void a_cut_plugin_is_refused(void **state)
{
    (void)state;
    for (size_t length = 0; length < good.length; length += 4096) {
        expect_refused(copy_good(length), length, "");
    }
    for (size_t length = 0; length <= sizeof(Elf64_Ehdr); length++) {
        expect_refused(copy_good(length), length, "");
    }
    expect_refused(copy_good(good.length - 1), good.length - 1, "cut short");
}

static void every_cut_at_a_segment_is_refused(void **state)
{
    (void)state;
    const Elf64_Ehdr header = header_of(good.bytes);
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, good.bytes + header.e_phoff + i * sizeof segment,
            sizeof segment);
        const size_t bounds[] = { segment.p_offset,
            segment.p_offset + segment.p_filesz - 1,
            header.e_phoff + i * sizeof segment };
        for (size_t j = 0; j < sizeof bounds / sizeof bounds[0]; j++) {
            if (bounds[j] < good.length) {
                expect_refused(copy_good(bounds[j]), bounds[j], "");
            }
        }
    }
}

/* Without a section table, as after sstrip, the segments alone must tell. */
static void a_cut_segment_is_refused_without_sections(void **state)
{
    (void)state;
    Elf64_Ehdr header = header_of(good.bytes);
    header.e_shoff = 0;
    header.e_shnum = 0;
    size_t end = 0;
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, good.bytes + header.e_phoff + i * sizeof segment,
            sizeof segment);
        if (segment.p_type == PT_LOAD &&
            segment.p_offset + segment.p_filesz > end) {
            end = segment.p_offset + segment.p_filesz;
        }
    }
    unsigned char *cut = copy_good(end - 1);
    put_header(cut, header);
    expect_refused(cut, end - 1, "cut short: segment");

    struct elf_report report;
    struct error err = { 0 };
    unsigned char *whole = copy_good(end);
    put_header(whole, header);
    assert_int_equal(elf_check(whole, end, &report, &err), NVBW_OK);
    free(whole);
}

static void other_machines_are_refused(void **state)
{
    (void)state;
    unsigned char *copy = copy_good(good.length);
    copy[EI_CLASS] = ELFCLASS32;
    expect_refused(copy, good.length, "64-bit");

    copy = copy_good(good.length);
    copy[EI_DATA] = copy[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
    expect_refused(copy, good.length, "byte order");

    copy = copy_good(good.length);
    Elf64_Ehdr header = header_of(copy);
    header.e_machine = EM_PPC64;
    put_header(copy, header);
    expect_refused(copy, good.length, "another machine");

    copy = copy_good(good.length);
    header = header_of(copy);
    header.e_type = ET_EXEC;
    put_header(copy, header);
    expect_refused(copy, good.length, "not a shared object");

    copy = copy_good(good.length);
    copy[0] = '#';
    expect_refused(copy, good.length, "not an ELF file");
}

/* Writes another name of the same length over a name, wherever it stands. */
static unsigned char *rename_in_copy(const char *old, const char *new)
{
    const size_t length = strlen(old);
    unsigned char *copy = copy_good(good.length);
    assert_int_equal(length, strlen(new));
    for (size_t i = 0; i + length <= good.length; i++) {
        if (memcmp(copy + i, old, length) == 0) {
            memcpy(copy + i, new, length);
        }
    }
    return copy;
}

static void symbols_are_checked(void **state)
{
    (void)state;
    expect_refused(rename_in_copy("nvbw_plugin_v1", "acme_plugin_v1"),
        good.length, "exports \"acme_plugin_v1\"");
    expect_refused(rename_in_copy("calloc", "nvbw_x"), good.length,
        "leaves \"nvbw_x\" undefined");
}

/* Every single byte of the tables that are read, turned over: the answer may
 * be anything, but nothing outside the bytes is read. */
static void spoilt_bytes_are_survived(void **state)
{
    (void)state;
    unsigned char *copy = copy_good(good.length);
    for (size_t i = 0; i < good.length; i++) {
        static const unsigned char values[] = { 0x00, 0x7f, 0xff };
        const unsigned char kept = copy[i];
        for (size_t j = 0; j < sizeof values; j++) {
            struct elf_report report;
            copy[i] = values[j];
            (void)elf_check(copy, good.length, &report, NULL);
        }
        copy[i] = kept;
    }
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_plugin_is_good),
        cmocka_unit_test(a_cut_plugin_is_refused),
        cmocka_unit_test(every_cut_at_a_segment_is_refused),
        cmocka_unit_test(a_cut_segment_is_refused_without_sections),
        cmocka_unit_test(other_machines_are_refused),
        cmocka_unit_test(symbols_are_checked),
        cmocka_unit_test(spoilt_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, read_good, free_good);
}
