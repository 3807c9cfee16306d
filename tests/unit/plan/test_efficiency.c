/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "efficiency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "plan_fixture.h"

static struct plan_fixture fixture;
static struct efficiencies found;

static int begin(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fixture_end(&fixture);
    return 0;
}

static void load(const char *data_dir)
{
    struct error err = { 0 };

    assert_int_equal(efficiency_load(&fixture.plan, data_dir, &fixture.arena,
                         &found, &fixture.problems, &err),
        NVBW_OK);
}

/* Loads one text through the plan's key. */
static void load_text(const char *text)
{
    fixture_write("e.cfg", text);
    fixture_load_text(&fixture, "efficiency = \"e.cfg\";\n");
    load(NULL);
}

static const struct efficiency_row *find(
    const char *gpu, uint32_t link, uint32_t way)
{
    const struct traffic traffic = { link, NVBW_BY_CE, way, LOAD_ALONE };

    return efficiency_find(found.list, found.count, gpu, &traffic);
}

static void assert_problem(const char *text)
{
    assert_string_equal(fixture_problem(&fixture, 0), text);
}

#define HEAD                                                                   \
    "gpus = [ \"NVIDIA H200\" ];\n"                                            \
    "sources = ( { name = \"bench\"; kind = \"measured\"; text = \"here\"; }"  \
    " );\n"
#define ROW(efficiency)                                                        \
    "{ link = \"pcie\"; by = \"ce\"; way = \"h2d\"; load = \"alone\";"         \
    " efficiency = " efficiency "; source = \"bench\"; }"

static void a_file_becomes_rows(void **state)
{
    (void)state;
    load_text(HEAD "name = \"mine\";\nrows = ( " ROW(
        "\"88 %\"") ",\n"
                    "{ link = \"nvlink\"; by = \"ce\"; way = \"push\";"
                    " load = \"alone\"; efficiency = 0.5; spread = \"2 %\";"
                    " source = \"bench\"; } );\n");
    assert_problem("");
    assert_int_equal(found.count, 1);
    assert_string_equal(found.list[0].file, "e.cfg");
    assert_string_equal(found.list[0].name, "mine");
    assert_int_equal(strlen(found.list[0].sha256), 64);
    assert_int_equal(found.list[0].from_plan, 1);

    const struct efficiency_row *const row =
        find("NVIDIA H200", LINK_PCIE, WAY_H2D);

    assert_non_null(row);
    assert_true(fabs(row->efficiency - 0.88) < 1e-9);
    assert_true(isnan(row->spread));
    assert_int_equal(row->kind, EFFICIENCY_MEASURED);
    assert_string_equal(row->source, "here");
    assert_string_equal(row->origin.file, "e.cfg");
    assert_int_equal(row->origin.line, 4);
    assert_true(
        fabs(find("NVIDIA H200", LINK_NVLINK, WAY_PUSH)->spread - 0.02) < 1e-9);
    assert_null(find("NVIDIA H200", LINK_PCIE, WAY_D2H));
    assert_null(find("NVIDIA H100", LINK_PCIE, WAY_H2D));
    assert_null(find(NULL, LINK_PCIE, WAY_H2D));
}

static void mistakes_have_their_place(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { HEAD "rows = ( " ROW("\"88 %\"") ",\n" ROW("\"87 %\"") " );\n",
            "e.cfg:4: the class \"ce h2d alone\" stands in line 3 already" },
        { HEAD "rows = ( " ROW("\"120 %\"") " );\n",
            "e.cfg:3: \"efficiency\": \"120 %\" is no share of a link, write "
            "one from \"1 %\" to \"100 %\"" },
        { HEAD
            "rows = ( { link = \"pci\"; by = \"ce\"; way = \"h2d\";\n"
            " load = \"alone\"; efficiency = 0.5; source = \"bench\"; } );\n",
            "e.cfg:3: \"link\": \"pci\" is not known here, did you mean "
            "\"pcie\"" },
        { HEAD
            "rows = ( { link = \"none\"; by = \"ce\"; way = \"h2d\";\n"
            " load = \"alone\"; efficiency = 0.5; source = \"bench\"; } );\n",
            "e.cfg:3: \"link\": \"none\" is not known here" },
        { HEAD "rows = ( { link = \"pcie\"; by = \"ce\"; way = \"h2d\";\n"
               " load = \"alone\"; efficiency = 0.5; source = \"bnch\"; } );\n",
            "e.cfg:3: no source of this file has the name \"bnch\", did you "
            "mean \"bench\"" },
        { HEAD "rows = ( { link = \"pcie\"; by = \"ce\"; } );\n",
            "e.cfg:3: a row needs \"link\", \"by\", \"way\", \"load\", "
            "\"efficiency\" and \"source\"" },
        { HEAD "rows = ( " ROW("\"88 %\"") " );\ngpu = 1;\n",
            "e.cfg:4: unknown key \"gpu\" in an efficiency file, did you mean "
            "\"gpus\"" },
        { HEAD "rows = ( ( 1 ) );\n", "e.cfg:3: \"rows\" must be a list of "
                                      "groups, ( { ... }, { ... } )" },
        { "gpus = [ \"x\" ];\n",
            "e.cfg:1: an efficiency file needs \"gpus\", names of GPUs or "
            "globs, and \"rows\"" },
        { HEAD "rows = (\n", "e.cfg:4: syntax error" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture_end(&fixture);
        fixture_begin(&fixture);
        load_text(cases[i].text);
        assert_problem(cases[i].problem);
    }
}

static void a_missing_file_names_who_asked(void **state)
{
    (void)state;
    fixture_load_text(&fixture, "\nefficiency = [ \"no.cfg\" ];\n");
    load(NULL);
    assert_problem("a.cfg:2: efficiency file \"no.cfg\" cannot be opened: "
                   "No such file or directory");
    assert_int_equal(found.count, 0);
}

static void a_missing_folder_is_a_warning(void **state)
{
    (void)state;
    load("nowhere");
    assert_int_equal(fixture.problems.count, 1);
    assert_int_equal(fixture.problems.errors, 0);
}

/* The plan's file first, then the nearest name; a class that the nearest lacks
 * comes from the next. */
static void the_nearest_file_counts(void **state)
{
    (void)state;
    mkdir("data", 0700);
    mkdir("data/efficiency", 0700);
    fixture_write("data/efficiency/all.cfg",
        "gpus = [ \"*\" ]; sources = ( { name = \"bench\"; kind = "
        "\"estimate\"; text = \"all\"; } ); rows = ( " ROW(
            "0.1") ", { link = "
                   "\"pcie\"; by = \"ce\"; way = \"d2h\"; load = \"alone\"; "
                   "efficiency = "
                   "0.2; source = \"bench\"; } );");
    fixture_write(
        "data/efficiency/near.cfg", HEAD "rows = ( " ROW("0.3") " );");
    load("data");
    assert_problem("");
    assert_true(find("NVIDIA H200", LINK_PCIE, WAY_H2D)->efficiency == 0.3);
    assert_true(find("NVIDIA H200", LINK_PCIE, WAY_D2H)->efficiency == 0.2);
    assert_true(find("other", LINK_PCIE, WAY_H2D)->efficiency == 0.1);
    fixture_write("data/mine.cfg",
        "gpus = [ \"*\" ]; sources = ( { name = \"bench\"; kind = "
        "\"measured\"; text = \"mine\"; } ); rows = ( " ROW("0.4") " );");
    fixture_load_text(&fixture, "efficiency = \"mine.cfg\";");
    load("data");
    assert_true(find("NVIDIA H200", LINK_PCIE, WAY_H2D)->efficiency == 0.4);
    assert_true(find("NVIDIA H200", LINK_PCIE, WAY_D2H)->efficiency == 0.2);
}

/* Every GPU that is named in the tree's files is found by the right one. */
static void shipped_files_are_sound(void **state)
{
    static const struct {
        const char *gpu;
        uint32_t way;
        double efficiency;
    } cases[] = {
        { "NVIDIA H200", WAY_H2D, 0.88 },
        { "NVIDIA H200 NVL", WAY_PUSH, 0.855 },
        { "NVIDIA H100 80GB HBM3", WAY_D2H, 0.875 },
        { "NVIDIA H100 NVL", WAY_PUSH, 0.855 },
        { "NVIDIA H100 PCIe", WAY_H2D, 0.80 },
        { "NVIDIA A100-SXM4-80GB", WAY_PUSH, 0.90 },
        { "NVIDIA A100-PCIE-40GB", WAY_H2D, 0.80 },
        { "NVIDIA A100 80GB PCIe", WAY_D2H, 0.80 },
        { "NVIDIA B200", WAY_PULL, 0.85 },
        { "NVIDIA GB200", WAY_PUSH, 0.86 },
        { "NVIDIA L40S", WAY_H2D, 0.80 },
        { "Something Else", WAY_H2D, 0.77 },
        { "NVIDIA H20", WAY_PUSH, 0.82 },
    };

    (void)state;
    load(SHIPPED);
    assert_problem("");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t way = cases[i].way;
        const struct efficiency_row *const row = find(cases[i].gpu,
            way == WAY_PUSH || way == WAY_PULL ? LINK_NVLINK : LINK_PCIE, way);

        assert_non_null(row);
        assert_true(fabs(row->efficiency - cases[i].efficiency) < 1e-9);
    }
    for (uint32_t i = 0; i < found.count; i++) {
        assert_non_null(found.list[i].name);
        for (uint32_t k = 0; k < found.list[i].rows_count; k++) {
            assert_true(found.list[i].rows[k].spread >= 0.0);
            assert_true(strlen(found.list[i].rows[k].source) <= 160);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_file_becomes_rows),
        TEST(mistakes_have_their_place),
        TEST(a_missing_file_names_who_asked),
        TEST(a_missing_folder_is_a_warning),
        TEST(the_nearest_file_counts),
        TEST(shipped_files_are_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
