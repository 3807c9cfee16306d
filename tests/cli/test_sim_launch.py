# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The plugin launch on a simulated machine whose clocks are fine: kernels take
the profile's kernel_us, graphs graph_us more, calls nothing; every figure names
its clock. A driver that is too old for graphs skips them by name, and a function
that fails costs the figures that need it and no others."""
from harness import *

KERNEL_NS, GRAPH_NS = 2500.0, 1250.0
NODES, LAUNCHES = 7, 300
# The host's clock takes a step of a nanosecond when it is looked at.
STEP_NS = 3.0
PLAN = """
name = "launch";
defaults = { mode = "fixed"; samples = 2; warmup = 1; devices = "0"; };
suites = (
  { id = "graph"; plugin = "launch"; tests = [ "launch_graph" ];
    params = { launches = %d; kernels = %d; }; },
  { id = "others"; plugin = "launch";
    tests = [ "launch_kernel", "launch_event" ];
    params = { launches = %d; }; } );
"""
WANTED = {
    ("launch_kernel", "latency"): KERNEL_NS,
    ("launch_kernel", "interval"): KERNEL_NS,
    ("launch_kernel", "gap"): KERNEL_NS,
    ("launch_graph", "latency"): GRAPH_NS + KERNEL_NS,
    ("launch_graph", "interval"): GRAPH_NS + KERNEL_NS,
    ("launch_graph", "many"): GRAPH_NS + NODES * KERNEL_NS,
    ("launch_graph", "per_node"): KERNEL_NS,
    ("launch_event", "record"): 0.0,
    ("launch_event", "latency"): 0.0,
}


def run(folder, more="", faults=""):
    folder.write("p.cfg", PLAN % (LAUNCHES, NODES, LAUNCHES))
    profile = folder.write(
        "fine.cfg", 'base = "h200_x1"; name = "fine"; gpu = { kernel_us = 2.5; '
        "graph_us = 1.25; }; event_resolution_ns = 0.001; quantum_us = 0.001;"
        + more)
    code, report, stderr = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", "run-%t", env={"NVBW_SIM_FAULTS": faults})
    if report is None:
        print(stderr)
        finish()
    check_conservation(report)
    return code, {(c["testcase"], c["metric"]): c for c in cells_of(report)}


with Folder() as f:
    code, cells = run(f)
    equal((code, set(cells)), (0, set(WANTED)), "what is measured")
    for (name, metric), wanted in WANTED.items():
        cell = cells[name, metric]
        where = f"{name} {metric}"
        check(cell["figure"] is not None and
              wanted <= cell["figure"] <= wanted + STEP_NS,
              f"{where}: {cell['figure']}, not {wanted} ({cell['message']})")
        if metric != "per_node":
            equal(cell["clock"], "events" if metric == "gap" else "host",
                  f"{where}: clock")
            equal(cell["copies"], 200 if metric == "gap" else LAUNCHES,
                  f"{where}: launches")

    # The driver of CUDA 11.3 has no cuGraphInstantiateWithFlags.
    code, cells = run(f, "cuda_version = 11030;")
    for (name, metric), cell in cells.items():
        if name == "launch_graph":
            equal((cell["state"], cell["reason"]), ("skip", "driver_too_old"),
                  f"old driver: {name} {metric}")
        else:
            equal(cell["state"], "unchecked", f"old driver: {name} {metric}")

    code, cells = run(f, faults="cuGraphLaunch:1=304")
    struck = {k for k, c in cells.items() if c["state"] == "error"}
    equal(struck, {("launch_graph", "latency"), ("launch_graph", "per_node")},
          "a graph that is not launched")
finish()
