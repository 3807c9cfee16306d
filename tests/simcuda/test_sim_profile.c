/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Every shipped profile loads, and a bad one is refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_faults.h"
#include "sim_profile.h"

static void check_gpu(const struct profile *profile, uint32_t index)
{
    const struct profile_gpu *gpu = &profile->gpus[index];

    assert_true(gpu->node < profile->host.nodes);
    assert_true(gpu->pcie.width <= gpu->pcie.max_width);
    assert_true(gpu->nvlink.active <= gpu->nvlink.links);
    assert_true(gpu->reserved_mib < gpu->memory_mib);
    for (uint32_t i = 0; i < TRANSFER_CLASSES_END; i++) {
        if (gpu->classes[i].rate <= 0) {
            fail_msg(
                "%s: GPU %u has no rate of class %u", profile->name, index, i);
        }
    }
    for (uint32_t i = 0; i < index; i++) {
        assert_string_not_equal(gpu->pci, profile->gpus[i].pci);
        assert_string_not_equal(gpu->uuid, profile->gpus[i].uuid);
    }
}

static void check_file(const char *path)
{
    struct profile profile;
    struct faults faults = { .count = 0 };
    char trouble[512] = "";
    const char *base = strrchr(path, '/') + 1;

    if (profile_load(path, SIM_PROFILES, &profile, trouble, sizeof trouble) !=
        0) {
        fail_msg("%s", trouble);
    }
    assert_int_equal(strncmp(profile.name, base, strlen(base) - 4), 0);
    assert_int_equal(strlen(profile.name), strlen(base) - 4);
    assert_true(profile.count > 0);
    assert_int_equal(
        faults_parse(profile.faults, &faults, trouble, sizeof trouble), 0);
    for (uint32_t i = 0; i < profile.count; i++) {
        check_gpu(&profile, i);
    }
    profile_free(&profile);
}

static void shipped_profiles_load(void **state)
{
    glob_t found;
    (void)state;

    assert_int_equal(glob(SIM_PROFILES "/*.cfg", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_file(found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Loads this text; the sentence where it is refused. */
static int load_text(const char *text, struct profile *out, char *trouble)
{
    char path[64];
    const int descriptor = memfd_create("profile", 0);

    assert_true(descriptor >= 0);
    assert_int_equal(
        write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const int result = profile_load(path, SIM_PROFILES, out, trouble, 512);

    close(descriptor);
    return result;
}

static void base_is_changed_by_groups(void **state)
{
    struct profile profile;
    char trouble[512] = "";
    (void)state;

    assert_int_equal(
        load_text("base = \"laptop_x4\"; name = \"t\"; count = 5;\n"
                  "gpu = { rate = { h2d = 10; }; };\n"
                  "gpus = ( { index = 2; pcie = { width = 8; }; } );\n"
                  "host = { nodes = 2; };\n",
            &profile, trouble),
        0);
    assert_int_equal(profile.count, 5);
    assert_int_equal(profile.host.nodes, 2);
    assert_true(profile.gpus[4].classes[TRANSFER_H2D].rate == 10.0);
    assert_true(profile.gpus[0].classes[TRANSFER_D2H].rate == 50.0);
    assert_int_equal(profile.gpus[2].pcie.width, 8);
    assert_int_equal(profile.gpus[1].pcie.width, 16);
    profile_free(&profile);
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        { "count = 1;\nbogus = 2;\n", ":2: unknown setting \"bogus\"" },
        { "count = 1;\ngpu = {\n pcie = { wdith = 8; }; };",
            ":3: unknown setting \"wdith\"" },
        { "count = 1;\ngpu = { units = \"x\"; };",
            ":2: not a number of zero or more: \"units\"" },
        { "count = -1;", ":1: not a number of zero or more: \"count\"" },
        { "count = 1;\ngpus = ( { index = 1; } );",
            ":2: no such GPU: \"index\"" },
        { "count = 1;\ngpus = ( { node = 1; } );", "a group without index" },
        { "base = \"nothing\";", "nothing.cfg" },
        { "count = ;", ":1: syntax error" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct profile profile;
        char trouble[512] = "";

        assert_int_equal(load_text(rows[i].text, &profile, trouble), -1);
        if (strstr(trouble, rows[i].sentence) == NULL) {
            fail_msg("\"%s\" lacks \"%s\"", trouble, rows[i].sentence);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_profiles_load),
        cmocka_unit_test(base_is_changed_by_groups),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
