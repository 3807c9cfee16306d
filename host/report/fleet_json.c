/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "fleet_report.h"

#include "record_json.h"

static json_t *cell_json(const struct fleet_cell *cell)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, "
                     "s:o, s:o}",
        "plugin", text_to_json(cell->plugin), "testcase",
        text_to_json(cell->testcase), "sweep", text_to_json(cell->sweep),
        "metric", text_to_json(cell->metric), "place",
        text_to_json(cell->place), "gpu_model", text_to_json(cell->gpu_model),
        "gpus", (int)cell->gpus, "nodes", (int)cell->count, "median",
        real_to_json(cell->median), "low", real_to_json(cell->low), "high",
        real_to_json(cell->high), "scatter", real_to_json(cell->scatter),
        "reach", real_to_json(cell->reach));
}

static json_t *cells_json(const struct fleet *fleet)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < fleet->cells_count; i++) {
        json_array_append_new(list, cell_json(&fleet->cells[i]));
    }
    return list;
}

/* ---- nodes ---- */

static json_t *counts_json(const struct fleet_node *node)
{
    json_t *const counts = json_object();

    json_object_set_new(counts, "planned", json_integer(node->cells));
    for (uint32_t state = STATE_SKIP; state < STATE_COUNT; state++) {
        if (node->by_state[state] > 0) {
            json_object_set_new(counts, name_of(state_names, state),
                json_integer(node->by_state[state]));
        }
    }
    return counts;
}

static json_t *findings_json(const struct fleet_node *node)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < node->findings_count; i++) {
        const struct node_finding *const at = &node->findings[i];

        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "id",
                      text_to_json(at->id), "family", text_to_json(at->family),
                      "gpu", at->gpu < 0 ? json_null() : json_integer(at->gpu),
                      "what", text_to_json(at->what), "action",
                      text_to_json(at->action), "accepted", at->accepted != 0));
    }
    return list;
}

/* Cells are places in the list of cells. */
static json_t *outliers_json(
    const struct fleet *fleet, const struct fleet_node *node)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < node->outliers_count; i++) {
        const struct fleet_outlier *const at =
            &fleet->outliers[node->first_outlier + i];

        json_array_append_new(
            list, json_pack("{s:i, s:o, s:o, s:o}", "cell", (int)at->cell,
                      "figure", real_to_json(at->figure), "change",
                      real_to_json(at->gain), "z", real_to_json(at->z)));
    }
    return list;
}

static json_t *bad_json(
    const struct fleet *fleet, const struct fleet_node *node)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < node->bad_count; i++) {
        const struct fleet_bad *const at = &fleet->bad[node->first_bad + i];

        json_array_append_new(
            list, json_pack("{s:i, s:s, s:o}", "cell", (int)at->cell, "state",
                      name_of(state_names, at->state), "figure",
                      real_to_json(at->figure)));
    }
    return list;
}

static json_t *node_json(
    const struct fleet *fleet, const struct fleet_node *node)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b, "
                     "s:b, s:b, s:i, s:o, s:o, s:o, s:o}",
        "host", text_to_json(node->host), "run_dir", text_to_json(node->path),
        "run_id", text_to_json(node->run_id), "started",
        text_to_json(node->started), "build", text_to_json(node->build),
        "driver_version", text_to_json(node->driver_version), "plan",
        text_to_json(node->plan), "plan_sha256",
        text_to_json(node->plan_sha256), "gpu_model",
        text_to_json(node->gpu_model), "gpus", (int)node->gpus, "simulated",
        node->simulated != 0, "complete", node->complete != 0, "superseded",
        node->superseded != 0, "exit_code", (int)node->exit_code, "counts",
        counts_json(node), "findings", findings_json(node), "outliers",
        outliers_json(fleet, node), "not_passed", bad_json(fleet, node));
}

static json_t *nodes_json(const struct fleet *fleet)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < fleet->nodes_count; i++) {
        json_array_append_new(list, node_json(fleet, &fleet->nodes[i]));
    }
    return list;
}

/* ---- the rest ---- */

static json_t *values_json(
    const struct fleet *fleet, const struct fleet_difference *difference)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < difference->values_count; i++) {
        const struct fleet_value *const at = &difference->values[i];

        json_array_append_new(
            list, json_pack("{s:o, s:i, s:o}", "value", text_to_json(at->value),
                      "nodes", (int)at->count, "first",
                      text_to_json(fleet->nodes[at->first].host)));
    }
    return list;
}

static json_t *differences_json(const struct fleet *fleet)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < fleet->differences_count; i++) {
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "what", fleet->differences[i].what,
                      "values", values_json(fleet, &fleet->differences[i])));
    }
    return list;
}

static json_t *troubles_json(const struct fleet *fleet)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < fleet->troubles_count; i++) {
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "run_dir",
                      text_to_json(fleet->troubles[i].path), "why",
                      text_to_json(fleet->troubles[i].why)));
    }
    return list;
}

static json_t *names_json(const char *const *names, uint32_t count)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(list, text_to_json(names[i]));
    }
    return list;
}

static int add_to_buffer(const char *bytes, size_t length, void *out)
{
    strbuf_add_n(out, bytes, length);
    return ((struct strbuf *)out)->failed ? -1 : 0;
}

int32_t fleet_json(
    const struct fleet *fleet, struct strbuf *out, struct error *err)
{
    json_t *const document = json_pack(
        "{s:s, s:i, s:i, s:{s:i, s:i, s:i, s:i, s:i, s:i}, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "schema", "nvbw-fleet", "schema_version", FLEET_SCHEMA_VERSION,
        "exit_code", (int)fleet->exit_code, "counts", "nodes",
        (int)fleet->counted, "passed", (int)fleet->by_exit[EXIT_PASSED],
        "outliers", (int)fleet->outlier_nodes, "missing",
        (int)fleet->missing_count, "unexpected", (int)fleet->unexpected_count,
        "unusable", (int)fleet->troubles_count, "nodes", nodes_json(fleet),
        "cells", cells_json(fleet), "missing",
        names_json(fleet->missing, fleet->missing_count), "unexpected",
        names_json(fleet->unexpected, fleet->unexpected_count), "unusable",
        troubles_json(fleet), "differences", differences_json(fleet));

    FAIL_IF(document == NULL, err, NVBW_E_SYSTEM,
        "the fleet's report cannot be made: no memory");

    const int failed = json_dump_callback(
        document, add_to_buffer, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));

    json_decref(document);
    strbuf_add(out, "\n");
    FAIL_IF(failed != 0 || out->failed, err, NVBW_E_SYSTEM,
        "the fleet's report is too large to be written");
    return NVBW_OK;
}
