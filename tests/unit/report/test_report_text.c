/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample_run.h"

static struct arena arena;
static struct evidence run;
static struct strbuf text;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    strbuf_init(&text, 1 << 20);
    sample_run(&run, &arena);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    strbuf_free(&text);
    arena_clear(&arena);
    return 0;
}

static void write_report(const char *format, uint32_t columns)
{
    struct verdicts verdicts;
    struct error err = { 0 };
    const struct report_input input = { .evidence = &run,
        .verdicts = &verdicts,
        .run_dir = "nvbw-runs/node17",
        .columns = columns };

    strbuf_reset(&text);
    if (judge_run(&run, &arena, &verdicts, &err) < 0 ||
        report_find(format)->write(&input, &text, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* The report is the golden file's text. NVBW_GOLDEN=write in the environment
 * writes the file instead. */
static void assert_golden(const char *name)
{
    char file[512];
    static char wanted[65536];

    snprintf(file, sizeof file, "%s/%s", GOLDEN_DIR, name);
    if (secure_getenv("NVBW_GOLDEN") != NULL) {
        FILE *const out = fopen(file, "w");

        assert_non_null(out);
        assert_int_equal(fwrite(text.text, 1, text.length, out), text.length);
        assert_int_equal(fclose(out), 0);
    }

    FILE *const in = fopen(file, "r");

    assert_non_null(in);
    wanted[fread(wanted, 1, sizeof wanted - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text.text, wanted);
}

static void assert_width(size_t most)
{
    for (const char *line = text.text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        if (length > most || (length > 0 && line[length - 1] == ' ')) {
            fail_msg("\"%.*s\"", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
}

static void a_healthy_run(void **state)
{
    (void)state;
    write_report("text", 80);
    assert_width(80);
    assert_golden("healthy.txt");
}

static void a_run_with_troubles(void **state)
{
    static const struct event tainted = { .what = "tainted",
        .unit = -1,
        .gpu = 1,
        .text = "its worker is stuck in the driver" };

    (void)state;
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 1, 27e9);
    sample_figure(&run, &arena, SAMPLE_H2D, 0, 1, 2, 27e9);
    sample_state(&run, &arena, SAMPLE_PEER, 1, 0, STATE_CRASH, NULL,
        "the worker was ended by signal 11 while this cell was measured");
    sample_closed_unit(&run, &arena, "fabric", STATE_SKIP, "no_nvlink",
        "the selected GPUs are not connected through NVLink, and this "
        "testcase is about nothing else");
    sample_closed_unit(
        &run, &arena, "*", STATE_ERROR, "refused", "bad.so: not an ELF file");
    assert_int_equal(
        evidence_add(&run, &arena, LINE_EVENT, &tainted, NULL), NVBW_OK);
    write_report("text", 80);
    assert_width(80);
    assert_golden("troubles.txt");
}

static void a_simulated_run_says_so_twice(void **state)
{
    (void)state;
    run.facts.simulated = 1;
    run.facts.profile = "h200_x2";
    write_report("text", 80);
    assert_golden("simulated.txt");

    const char *const first = strstr(text.text, "SIMULATED");

    assert_non_null(first);
    assert_non_null(strstr(first + 1, "SIMULATED"));
}

/* Whatever a run is told in, nobody takes it for one on hardware. */
static void every_format_says_simulated(void **state)
{
    static const char *words[] = { "SIMULATED", "simulated", "Simulated" };

    (void)state;
    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        int says = 0;

        run.facts.simulated = 1;
        run.facts.profile = "h200_x2";
        write_report(format->name, 80);
        for (int i = 0; i < 3; i++) {
            says |= strstr(text.text, words[i]) != NULL;
        }
        if (!says) {
            fail_msg("%s: %s", format->name, text.text);
        }
    }
}

static void a_verdict_ends_with_what_is_simulated(void **state)
{
    (void)state;
    write_report("verdict", 80);
    assert_string_equal(
        text.text, "PASSED: every limit was met, 2 without a limit, exit 0\n");
    run.facts.simulated = 1;
    run.facts.profile = "h200_x2";
    write_report("verdict", 80);
    assert_string_equal(text.text,
        "PASSED: every limit was met, 2 without a limit, exit 0 (SIMULATED, "
        "profile h200_x2)\n");
}

static void the_banner_does_not_wrap(void **state)
{
    (void)state;
    run.facts.simulated = 1;
    run.facts.profile = "hgx_h200_x8_nvlink_down";
    write_report("text", 80);
    assert_non_null(strstr(text.text,
        "*** SIMULATED DRIVER (profile hgx_h200_x8_nvlink_down) ***\n"));
}

static void narrow_terminals_fold(void **state)
{
    (void)state;
    write_report("text", 50);
    assert_width(50);
}

/* Whoever reads a figure sees what makes it doubtful. */
static void doubtful_figures_are_told(void **state)
{
    static const char *flags[] = { "cache_bound", "imprecise", "unsettled",
        "drift", "short", "half", "coarse", "sms_missed", "cache_unknown",
        "concurrent", "busy", "power_capped", "staged" };
    enum { COUNT = sizeof flags / sizeof flags[0] };
    char line[64];

    (void)state;
    run.records[0].flags = flags;
    run.records[0].flags_count = COUNT;
    write_report("text", 80);
    for (int i = 0; i < COUNT; i++) {
        snprintf(line, sizeof line, "  %s: 1 of 2 cells ", flags[i]);
        if (strstr(text.text, line) == NULL) {
            fail_msg("\"%s\" is not in %s", line, text.text);
        }
    }
}

static void every_format_is_found(void **state)
{
    (void)state;
    for (const struct report_format *format = report_formats;
         format->name != NULL; format++) {
        assert_ptr_equal(report_find(format->name), format);
        assert_non_null(format->summary);
        write_report(format->name, 80);
        assert_true(text.length > 20);
    }
    assert_null(report_find("pdf"));
}

static void a_report_fits_its_file(void **state)
{
    struct verdicts verdicts;
    struct evidence back;
    struct error err = { 0 };
    const struct report_input input = { &run, &verdicts, NULL, 0, 0 };

    (void)state;
    assert_int_equal(judge_run(&run, &arena, &verdicts, &err), NVBW_OK);
    assert_int_equal(report_write(report_find("summary"), &input,
                         "test_summary.ndjson", &err),
        NVBW_OK);
    assert_int_equal(
        evidence_read("test_summary.ndjson", 1 << 20, &arena, &back, &err),
        NVBW_OK);
    assert_int_equal(back.records_count, 6);
    assert_int_equal(back.units_count, SAMPLE_UNITS);
    assert_int_equal(back.ended, 1);
    assert_int_equal(
        report_write(report_find("text"), &input, "no/such/folder/x", &err),
        NVBW_E_SYSTEM);
    remove("test_summary.ndjson");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_healthy_run),
        TEST(a_run_with_troubles),
        TEST(a_simulated_run_says_so_twice),
        TEST(every_format_says_simulated),
        TEST(a_verdict_ends_with_what_is_simulated),
        TEST(the_banner_does_not_wrap),
        TEST(narrow_terminals_fold),
        TEST(doubtful_figures_are_told),
        TEST(every_format_is_found),
        TEST(a_report_fits_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
