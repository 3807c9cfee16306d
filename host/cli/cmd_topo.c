/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cmd.h"

#include <math.h>
#include <stdio.h>

#include "judge.h"
#include "prepare.h"
#include "record_json.h"
#include "topo_text.h"

static int32_t add_limit(struct prepared *prepared, struct topo *topo,
    const char *name, enum ceiling_link link, uint32_t gpu, struct error *err)
{
    struct topo_limit limit = { .gpu = gpu, .name = name };
    const struct gpu_facts *const facts = &prepared->facts.gpus[gpu];

    ceiling_of_gpu(facts, link, CEILING_EXPECTED, &limit.expected);
    ceiling_of_gpu(facts, link, CEILING_NOW, &limit.now);
    if (isnan(limit.expected.rate)) {
        return NVBW_OK;
    }
    topo->limits = arena_append(prepared->arena, topo->limits,
        &topo->limits_count, sizeof *topo->limits);
    FAIL_IF(topo->limits == NULL, err, NVBW_E_SYSTEM, "out of memory");
    topo->limits[topo->limits_count - 1] = limit;
    return NVBW_OK;
}

static int32_t derive_limits(
    struct prepared *prepared, struct topo *topo, struct error *err)
{
    static const struct {
        const char *name;
        enum ceiling_link link;
    } links[] = {
        { "pcie", LINK_PCIE },
        { "nvlink", LINK_NVLINK },
        { "memory", LINK_MEMORY },
    };

    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        for (uint32_t k = 0; k < topo->gpus_count; k++) {
            TRY(add_limit(prepared, topo, links[i].name, links[i].link,
                topo->gpus[k], err));
        }
    }
    return NVBW_OK;
}

static json_t *limit_json(const struct topo *topo, uint32_t at)
{
    const struct topo_limit *const limit = &topo->limits[at];

    return json_pack("{s:i, s:s, s:o, s:s, s:o, s:s}", "gpu",
        (int)topo->facts->gpus[limit->gpu].index, "link", limit->name,
        "expected", real_to_json(limit->expected.rate), "expected_formula",
        limit->expected.formula, "now", real_to_json(limit->now.rate),
        "now_formula", limit->now.formula);
}

/* The facts as in every report, of all GPUs, and the limits of those chosen.
 */
static int32_t print_json(const struct topo *topo, struct error *err)
{
    json_t *const limits = json_array();

    for (uint32_t i = 0; i < topo->limits_count; i++) {
        json_array_append_new(limits, limit_json(topo, i));
    }

    json_t *const root = json_pack("{s:o, s:o}", "facts",
        fields_to_json(&facts_fields, topo->facts, ABSENT_NULL), "limits",
        limits);

    FAIL_IF(root == NULL, err, NVBW_E_SYSTEM, "out of memory");
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return NVBW_OK;
}

static int32_t show(struct prepared *prepared, struct error *err)
{
    struct topo topo = { .facts = &prepared->facts };

    TRY(prepare_facts(prepared, err));
    TRY(prepare_gpus(prepared, &topo.gpus, &topo.gpus_count, err));
    TRY(derive_limits(prepared, &topo, err));
    if (prepared->options->json) {
        return print_json(&topo, err);
    }
    topo_text_print(&topo);
    return NVBW_OK;
}

static int run(const struct options *options, struct arena *arena)
{
    struct prepared prepared;
    struct error err = { 0 };

    if (prepare_parts(options, arena, &prepared, &err) < 0 ||
        show(&prepared, &err) < 0) {
        return command_fail(&err, EXIT_USAGE);
    }
    return EXIT_PASSED;
}

const struct command command_topo = {
    .name = "topo",
    .usage = "[--json] [--devices LIST]",
    .summary = "GPUs, their links and paths, and what these can carry",
    .run = run,
};
