/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The end of the HTML report: what was measured, with what, and by which
 * command. */
#include "html_page.h"

#include <stdio.h>
#include <string.h>

#include "quantity.h"

static void add_pair(
    const struct html *page, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        html_element(page, "dt", name);
        html_element(page, "dd", text);
        html_add(page, "\n");
    }
}

static void add_run(const struct html *page)
{
    const struct evidence *const evidence = page->input->evidence;
    const struct facts *const facts = page->facts;
    char cuda[32];

    snprintf(cuda, sizeof cuda, "%u.%u", facts->cuda_version / 1000,
        facts->cuda_version % 1000 / 10);
    html_add(page, "<dl>\n");
    add_pair(page, "host", facts->host);
    add_pair(page, "machine", facts->machine);
    add_pair(page, "CPU", facts->cpu);
    add_pair(page, "system", facts->os);
    add_pair(page, "kernel", facts->kernel);
    add_pair(page, "driver", facts->driver_version);
    add_pair(page, "CUDA of the driver", facts->cuda_version ? cuda : NULL);
    add_pair(page, "driver's trouble", facts->driver_trouble);
    add_pair(page, "NVML", facts->nvml_version);
    add_pair(page, "NVML's trouble", facts->nvml_trouble);
    add_pair(page, "IOMMU", facts->iommu);
    add_pair(page, "virtualisation", facts->virtualisation);
    add_pair(page, "nvbw-host", evidence->header.build);
    add_pair(page, "plan", evidence->plan.name);
    for (uint32_t i = 0; i < evidence->plan.files_count; i++) {
        add_pair(page, "plan file", evidence->plan.files[i]);
    }
    add_pair(page, "sha256 of the plan", evidence->plan.sha256);
    for (uint32_t i = 0; i < evidence->efficiencies_count; i++) {
        add_pair(page, "efficiencies", evidence->efficiencies[i].file);
    }
    add_pair(page, "command", evidence->header.command);
    add_pair(page, "started", evidence->header.started);
    add_pair(page, "ended", evidence->ended ? evidence->end.ended : "no");
    add_pair(page, "run", evidence->header.run_id);
    add_pair(page, "run directory", page->input->run_dir);
    for (uint32_t i = 0; i < evidence->header.environment_count; i++) {
        add_pair(page, "environment", evidence->header.environment[i]);
    }
    html_add(page, "</dl>\n");
}

/* Begins a table that scrolls by itself. */
static void begin_table(
    const struct html *page, const char *title, const char *heads)
{
    html_format(page,
        "<h3>%s</h3>\n<div class=\"wide\" tabindex=\"0\" "
        "role=\"region\" aria-label=\"%s\"><table><thead><tr>",
        title, title);
    html_add(page, heads);
    html_add(page, "</tr></thead><tbody>\n");
}

static void end_table(const struct html *page)
{
    html_add(page, "</tbody></table></div>\n");
}

static void add_link(const struct html *page, const struct pcie_facts *pcie)
{
    if (pcie->width == 0) {
        html_add(page, "<td>unknown");
        return;
    }
    html_format(page, "<td>Gen%u x%u", pcie->generation, pcie->width);
    if (pcie->width < pcie->max_width) {
        html_format(page, " of x%u", pcie->max_width);
    }
}

static void add_gpus(const struct html *page)
{
    const struct facts *const facts = page->facts;

    begin_table(page, "GPUs",
        "<th>GPU<th>name<th>UUID<th>PCI<th>serial<th>VBIOS<th>memory"
        "<th>PCIe<th>NVLinks<th>node<th>host<th>trouble");
    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];
        const char *const texts[] = { gpu->name, gpu->uuid, gpu->pci,
            gpu->serial, gpu->vbios };

        html_format(page, "<tr><th scope=\"row\">%d", gpu->index);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            html_element(page, "td", texts[k]);
        }
        html_format(page, "<td class=\"n\">%.1f GiB",
            (double)gpu->memory_bytes / (1 << 30));
        add_link(page, &gpu->pcie);
        html_format(page, "<td>%u of %u<td>%d", gpu->nvlinks_active,
            gpu->nvlinks, gpu->near_node);
        html_element(page, "td", gpu->host);
        html_element(page, "td", gpu->trouble);
        html_add(page, "</tr>\n");
    }
    end_table(page);
}

static void add_nodes(const struct html *page)
{
    begin_table(page, "NUMA nodes", "<th>node<th>CPUs<th>memory");
    for (uint32_t i = 0; i < page->facts->nodes_count; i++) {
        const struct node_facts *const node = &page->facts->nodes[i];

        html_format(page, "<tr><th scope=\"row\">%d", node->number);
        html_element(page, "td", node->cpus);
        html_format(page, "<td class=\"n\">%.1f GiB</tr>\n",
            (double)node->memory_bytes / (1 << 30));
    }
    end_table(page);
}

static void add_plugins(const struct html *page)
{
    const struct evidence *const evidence = page->input->evidence;

    begin_table(
        page, "Plugins", "<th>plugin<th>version<th>file<th>sha256<th>trouble");
    for (uint32_t i = 0; i < evidence->plugins_count; i++) {
        const struct plugin_schema *const plugin = &evidence->plugins[i];
        const char *const texts[] = { plugin->name, plugin->version,
            plugin->file, plugin->sha256, plugin->message };

        html_add(page, "<tr>");
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            html_element(page, "td", texts[k]);
        }
        html_add(page, "</tr>\n");
    }
    end_table(page);
}

static int is_told(const struct event *event)
{
    return strcmp(event->what, "worker_start") != 0 &&
           strcmp(event->what, "begun") != 0 &&
           (strcmp(event->what, "log") != 0 || event->level <= NVBW_LOG_WARN);
}

enum { EVENTS_LIMIT = 500 };

static void add_events(const struct html *page)
{
    const struct evidence *const evidence = page->input->evidence;
    uint32_t told = 0;

    for (uint32_t i = 0; i < evidence->events_count; i++) {
        const struct event *const event = &evidence->events[i];

        if (!is_told(event) || told++ >= EVENTS_LIMIT) {
            continue;
        }
        html_add(
            page, told == 1 ? "<details><summary>Events</summary><ul>\n" : "");
        html_add(page, "<li>");
        html_text(page, event->what);
        html_add(page, ": ");
        html_text(page, event->text);
        html_add(page, "</li>\n");
    }
    if (told > 0) {
        html_format(page, "</ul>%s</details>\n",
            told > EVENTS_LIMIT ? "<p>The journal has more.</p>" : "");
    }
}

void html_environment_add(const struct html *page)
{
    html_add(page, "<section id=\"environment\"><h2>Environment</h2>\n");
    add_run(page);
    add_gpus(page);
    add_nodes(page);
    add_plugins(page);
    add_events(page);
    html_add(page, "</section>\n");
}
