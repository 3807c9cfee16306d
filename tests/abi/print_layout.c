/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Prints size and offset of everything in nvbw/plugin.h; a test compares it
 * with layout.txt (rule C26). A member that is missing here shows as a gap,
 * which is an error too: the contract has no padding. */
#include "nvbw/plugin.h"

#include <stdio.h>
#include <string.h>

struct entry {
    const char *structure, *member; /* member NULL: the struct itself */
    size_t offset, size;
};

#define STRUCT(structure_)                                                     \
    {                                                                          \
#structure_, NULL, 0, sizeof(struct structure_)                        \
    }
#define MEMBER(structure_, member_)                                            \
    {                                                                          \
#structure_, #member_, offsetof(struct structure_, member_),           \
            sizeof(((const struct structure_ *)NULL)->member_)                 \
    }

static const struct entry entries[] = {
    STRUCT(nvbw_param),
    MEMBER(nvbw_param, size),
    MEMBER(nvbw_param, flags),
    MEMBER(nvbw_param, type),
    MEMBER(nvbw_param, unit),
    MEMBER(nvbw_param, name),
    MEMBER(nvbw_param, help),
    MEMBER(nvbw_param, default_text),
    MEMBER(nvbw_param, min_text),
    MEMBER(nvbw_param, max_text),
    MEMBER(nvbw_param, choices),
    MEMBER(nvbw_param, members),
    STRUCT(nvbw_metric),
    MEMBER(nvbw_metric, size),
    MEMBER(nvbw_metric, flags),
    MEMBER(nvbw_metric, unit),
    MEMBER(nvbw_metric, better),
    MEMBER(nvbw_metric, name),
    MEMBER(nvbw_metric, help),
    MEMBER(nvbw_metric, rows),
    MEMBER(nvbw_metric, cols),
    STRUCT(nvbw_needs),
    MEMBER(nvbw_needs, size),
    MEMBER(nvbw_needs, flags),
    MEMBER(nvbw_needs, features),
    MEMBER(nvbw_needs, min_gpus),
    MEMBER(nvbw_needs, min_ranks),
    MEMBER(nvbw_needs, min_compute),
    MEMBER(nvbw_needs, min_driver),
    MEMBER(nvbw_needs, gpu_bytes),
    MEMBER(nvbw_needs, pinned_bytes),
    STRUCT(nvbw_testcase),
    MEMBER(nvbw_testcase, size),
    MEMBER(nvbw_testcase, flags),
    MEMBER(nvbw_testcase, name),
    MEMBER(nvbw_testcase, summary),
    MEMBER(nvbw_testcase, help),
    MEMBER(nvbw_testcase, tags),
    MEMBER(nvbw_testcase, needs),
    MEMBER(nvbw_testcase, params),
    MEMBER(nvbw_testcase, metrics),
    MEMBER(nvbw_testcase, user),
    MEMBER(nvbw_testcase, probe),
    MEMBER(nvbw_testcase, run),
    MEMBER(nvbw_testcase, check),
    STRUCT(nvbw_plugin),
    MEMBER(nvbw_plugin, size),
    MEMBER(nvbw_plugin, flags),
    MEMBER(nvbw_plugin, magic),
    MEMBER(nvbw_plugin, abi_minor),
    MEMBER(nvbw_plugin, min_host_minor),
    MEMBER(nvbw_plugin, name),
    MEMBER(nvbw_plugin, version),
    MEMBER(nvbw_plugin, summary),
    MEMBER(nvbw_plugin, licence),
    MEMBER(nvbw_plugin, testcases),
    MEMBER(nvbw_plugin, init),
    MEMBER(nvbw_plugin, fini),
    STRUCT(nvbw_cell),
    MEMBER(nvbw_cell, size),
    MEMBER(nvbw_cell, flags),
    MEMBER(nvbw_cell, metric),
    MEMBER(nvbw_cell, row),
    MEMBER(nvbw_cell, col),
    STRUCT(nvbw_flow),
    MEMBER(nvbw_flow, size),
    MEMBER(nvbw_flow, flags),
    MEMBER(nvbw_flow, initiator),
    MEMBER(nvbw_flow, operation),
    MEMBER(nvbw_flow, src_memory),
    MEMBER(nvbw_flow, dst_memory),
    MEMBER(nvbw_flow, src_place),
    MEMBER(nvbw_flow, dst_place),
    MEMBER(nvbw_flow, executor),
    MEMBER(nvbw_flow, stride),
    MEMBER(nvbw_flow, bytes),
    MEMBER(nvbw_flow, cell),
    MEMBER(nvbw_flow, reverse_cell),
    MEMBER(nvbw_flow, repeats),
    MEMBER(nvbw_flow, load_permille),
    MEMBER(nvbw_flow, element),
    MEMBER(nvbw_flow, offset),
    MEMBER(nvbw_flow, enqueue),
    MEMBER(nvbw_flow, verify),
    MEMBER(nvbw_flow, user),
    MEMBER(nvbw_flow, ring),
    STRUCT(nvbw_work),
    MEMBER(nvbw_work, size),
    MEMBER(nvbw_work, flags),
    MEMBER(nvbw_work, stream),
    MEMBER(nvbw_work, src),
    MEMBER(nvbw_work, dst),
    MEMBER(nvbw_work, src_step),
    MEMBER(nvbw_work, dst_step),
    MEMBER(nvbw_work, bytes),
    MEMBER(nvbw_work, repeats),
    MEMBER(nvbw_work, scratch),
    MEMBER(nvbw_work, user),
    STRUCT(nvbw_measurement),
    MEMBER(nvbw_measurement, size),
    MEMBER(nvbw_measurement, flags),
    MEMBER(nvbw_measurement, flows),
    MEMBER(nvbw_measurement, total),
    MEMBER(nvbw_measurement, beside),
    STRUCT(nvbw_place),
    MEMBER(nvbw_place, size),
    MEMBER(nvbw_place, flags),
    MEMBER(nvbw_place, name),
    MEMBER(nvbw_place, uuid),
    MEMBER(nvbw_place, pci),
    MEMBER(nvbw_place, near_node),
    MEMBER(nvbw_place, device),
    MEMBER(nvbw_place, compute),
    MEMBER(nvbw_place, units),
    MEMBER(nvbw_place, memory),
    MEMBER(nvbw_place, cache),
    MEMBER(nvbw_place, rack),
    MEMBER(nvbw_place, clique),
    MEMBER(nvbw_place, number),
    STRUCT(nvbw_host),
    MEMBER(nvbw_host, size),
    MEMBER(nvbw_host, flags),
    MEMBER(nvbw_host, abi_minor),
    MEMBER(nvbw_host, log),
    MEMBER(nvbw_host, cancelled),
    MEMBER(nvbw_host, time_left_ns),
    MEMBER(nvbw_host, places),
    MEMBER(nvbw_host, param_count),
    MEMBER(nvbw_host, param_int),
    MEMBER(nvbw_host, param_real),
    MEMBER(nvbw_host, param_text),
    MEMBER(nvbw_host, measure),
    MEMBER(nvbw_host, wanted),
    MEMBER(nvbw_host, figure),
    MEMBER(nvbw_host, quantile),
    MEMBER(nvbw_host, put),
    MEMBER(nvbw_host, skip),
    MEMBER(nvbw_host, fail),
    MEMBER(nvbw_host, labels),
    MEMBER(nvbw_host, driver),
    MEMBER(nvbw_host, lend),
    MEMBER(nvbw_host, join),
    MEMBER(nvbw_host, refuse),
    STRUCT(nvbw_ctx),
    MEMBER(nvbw_ctx, size),
    MEMBER(nvbw_ctx, flags),
    MEMBER(nvbw_ctx, host),
    MEMBER(nvbw_ctx, testcase),
    MEMBER(nvbw_ctx, state),
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

/* Where the member before this entry ended, or where its struct begins. */
static size_t end_before(size_t i)
{
    const struct entry *before = &entries[i - 1];
    return before->member == NULL ? 0 : before->offset + before->size;
}

static int is_gapless(void)
{
    size_t structure = 0;
    for (size_t i = 1; i <= ENTRIES; i++) {
        if (i == ENTRIES || entries[i].member == NULL) {
            if (end_before(i) != entries[structure].size) {
                fprintf(stderr, "struct %s has members that are not listed\n",
                    entries[structure].structure);
                return 0;
            }
            structure = i;
        } else if (end_before(i) != entries[i].offset) {
            fprintf(stderr, "struct %s has a gap before %s\n",
                entries[i].structure, entries[i].member);
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        if (entries[i].member == NULL) {
            printf(
                "struct %s size %zu\n", entries[i].structure, entries[i].size);
        } else {
            printf("%s.%s offset %zu size %zu\n", entries[i].structure,
                entries[i].member, entries[i].offset, entries[i].size);
        }
    }
    return is_gapless() ? 0 : 1;
}
