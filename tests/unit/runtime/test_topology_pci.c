/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Slots, links and paths from a sysfs tree that the test makes. */
#include "topology_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

static char root[] = "/tmp/nvbw_sysfs_XXXXXX";

static void make_folders(const char *path)
{
    char folder[PATH_BYTES];

    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] == '/') {
            snprintf(folder, sizeof folder, "%.*s", (int)i, path);
            assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
        }
    }
}

static void put_bytes(
    const char *name, const char *file, const void *bytes, size_t length)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/sys/%s/%s", root, name, file);
    make_folders(path);

    FILE *const out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    fclose(out);
}

static void put(const char *name, const char *file, const char *text)
{
    put_bytes(name, file, text, strlen(text));
}

/* A device at a place of the tree, and the link that leads to it. */
static void add_device(const char *place, const char *speed, const char *width)
{
    char path[PATH_BYTES];
    char link[PATH_BYTES];
    char folder[PATH_BYTES];

    snprintf(folder, sizeof folder, "devices/%s", place);
    put(folder, "max_link_speed", speed);
    put(folder, "max_link_width", width);
    put(folder, "current_link_speed", "2.5 GT/s PCIe\n");
    put(folder, "current_link_width", width);
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s", root,
        strrchr(place, '/') + 1);
    make_folders(path);
    snprintf(link, sizeof link, "../../../devices/%s", place);
    assert_int_equal(symlink(link, path), 0);
}

static void set_node(const char *place, const char *node)
{
    char folder[PATH_BYTES];

    snprintf(folder, sizeof folder, "devices/%s", place);
    put(folder, "numa_node", node);
}

#define SWITCH "pci0000:00/0000:00:01.0/0000:01:00.0"
#define TWO    "/0000:02:02.0/0000:05:00.0"
#define ROWS   sizeof gpus / sizeof gpus[0]

static struct gpu_facts gpus[] = {
    { .pci = "0000:03:00.0", .near_node = -1 }, /* below the switch */
    { .pci = "0000:04:00.0", .near_node = -1 }, /* below the same one */
    { .pci = "0000:07:00.0", .near_node = -1 }, /* one switch further down */
    { .pci = "0000:11:00.0", .near_node = -1 }, /* another root port */
    { .pci = "0000:31:00.0", .near_node = -1 }, /* another bus, same node */
    { .pci = "0000:81:00.0", .near_node = -1 }, /* another node */
    { .pci = "0000:99:00.0", .near_node = -1 }, /* not there */
};
static struct facts facts = { .gpus = gpus, .gpus_count = ROWS };
static struct arena arena;
static struct topology topology = {
    .root = root, .arena = &arena, .facts = &facts
};

/* The extended capability of ACS alone, as root sees it. */
static void add_redirect(const char *place, int redirects)
{
    char folder[PATH_BYTES];
    unsigned char space[4096] = { 0 };

    space[0x100] = 0x0d;
    space[0x106] = redirects ? 1 << 2 : 0;
    snprintf(folder, sizeof folder, "devices/%s", place);
    put_bytes(folder, "config", space, sizeof space);
}

static int make_tree(void **state)
{
    static const char *const ports[] = { "pci0000:00/0000:00:01.0", SWITCH,
        SWITCH "/0000:02:00.0", SWITCH "/0000:02:01.0", SWITCH "/0000:02:02.0",
        SWITCH TWO, SWITCH TWO "/0000:06:00.0", "pci0000:00/0000:00:02.0",
        "pci0000:30/0000:30:01.0", "pci0000:80/0000:80:01.0" };
    static const char *const places[] = {
        SWITCH "/0000:02:00.0/0000:03:00.0",
        SWITCH "/0000:02:01.0/0000:04:00.0",
        SWITCH TWO "/0000:06:00.0/0000:07:00.0",
        "pci0000:00/0000:00:02.0/0000:11:00.0",
        "pci0000:30/0000:30:01.0/0000:31:00.0",
        "pci0000:80/0000:80:01.0/0000:81:00.0",
    };

    (void)state;
    assert_non_null(mkdtemp(root));
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        add_device(ports[i], "16.0 GT/s PCIe\n", "16\n");
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        add_device(places[i], "32.0 GT/s PCIe\n", "16\n");
        set_node(places[i], i == 5 ? "1\n" : "0\n");
    }
    add_redirect("pci0000:00/0000:00:01.0", 1);
    add_redirect(SWITCH "/0000:02:00.0", 0);
    add_redirect(SWITCH TWO, 1);
    for (size_t i = 0; i < ROWS; i++) {
        gpus[i].pcie.acs_redirect = -1;
        gpus[i].pcie.acs_redirect_switch = -1;
    }
    topology_pci(&topology);
    return 0;
}

static int remove_entry(
    const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static int remove_tree(void **state)
{
    (void)state;
    arena_clear(&arena);
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_paths(void **state)
{
    static const struct {
        uint32_t from, to;
        const char *path;
    } rows[] = {
        { 0, 1, "PIX" },
        { 1, 0, "PIX" },
        { 0, 2, "PXB" },
        { 0, 3, "PHB" },
        { 0, 4, "NODE" },
        { 0, 5, "SYS" },
        { 5, 4, "SYS" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const path = topology_pci_path(
            &topology, &gpus[rows[i].from], &gpus[rows[i].to]);

        assert_non_null(path);
        assert_string_equal(path, rows[i].path);
    }
    assert_null(topology_pci_path(&topology, &gpus[0], &gpus[6]));
}

static void test_link(void **state)
{
    const struct pcie_facts *const pcie = &gpus[3].pcie;

    (void)state;
    assert_int_equal(pcie->generation, 1);
    assert_int_equal(pcie->width, 16);
    assert_int_equal(pcie->gpu_max_generation, 5);
    assert_int_equal(pcie->max_generation, 4); /* the slot's */
    assert_int_equal(pcie->max_width, 16);
    assert_string_equal(pcie->root, "0000:00:02.0");
    assert_int_equal(gpus[3].near_node, 0);
    assert_int_equal(gpus[5].near_node, 1);
    assert_int_equal(gpus[6].near_node, -1);
    assert_int_equal(gpus[6].pcie.width, 0);
}

/* The root port turns what comes to it, a switch what stays below. */
static void test_redirects(void **state)
{
    (void)state;
    assert_int_equal(gpus[0].pcie.acs_redirect, 1);
    assert_int_equal(gpus[0].pcie.acs_redirect_switch, 0);
    assert_int_equal(gpus[1].pcie.acs_redirect, 1);
    assert_int_equal(gpus[1].pcie.acs_redirect_switch, -1);
    assert_int_equal(gpus[2].pcie.acs_redirect_switch, 1);
    assert_int_equal(gpus[3].pcie.acs_redirect, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_redirects),
    };

    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
