# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Latency under load on a simulated machine without fixed costs, so that every
figure can be computed: a load of x percent takes x percent of what its class
carries, a chain meets what part of its way that is, and the profile's curve says
what it costs. What the load moved is counted in chunks. Percentiles need samples;
without background it is no load."""
from harness import *

# GB/s that reads by SMs reach and what the way carries; ns of a load, and more
# under a full one.
PATHS = {
    "host_device_latency_loaded": (0.4, 0.5, 1000.0, 800.0),
    "device_to_device_latency_loaded": (0.45, 0.5, 700.0, 500.0),
    "device_local_latency_loaded": (0.8, 1.0, 300.0, 400.0),
}
KNEE = 0.8
TOLERANCE = 0.002
LOADS = [0, 40, 100]
PROFILE = f"""
base = "h200_x2"; name = "small"; event_resolution_ns = 0.001;
quantum_us = 0.001;
gpu = {{ units = 2; kernel_us = 0.0; l2_kib = 64; memory_rate = 1.0;
  latency_local_ns = 300.0; latency_host_ns = 1000.0; latency_peer_ns = 700.0;
  latency_loaded_host_ns = 800.0; latency_loaded_peer_ns = 500.0;
  latency_loaded_local_ns = 400.0; latency_knee = {KNEE};
  rate = {{ read_sm = 0.8; h2d_sm = 0.4; peer_read_sm = 0.45; }};
  pcie = {{ down = 0.5; }};
  nvlink = {{ in = 0.5; out = 0.5; duplex = 1.2; }};
}};
"""
PLAN = """
name = "loaded";
defaults = { mode = "fixed"; samples = %d; warmup = 1; timeout = "60 s";
  required = "if_possible"; };
suites = ( { plugin = "latency"; tests = [ "%s" ];
  params = { footprint = "1 MiB"; loads = %s; %s }; } );
"""


def run(folder, samples, tests, loads, devices, more=""):
    folder.write("p.cfg", PLAN % (samples, tests, loads, more))
    code, report, stderr = folder.report(
        "--driver", SIM, "--sim-profile", folder.write("small.cfg", PROFILE),
        "-c", "p.cfg", "--devices", devices, "--run-dir", "run-%t")
    if report is None:
        print(stderr)
        finish()
    check_conservation(report)
    return cells_of(report)


def curve(part):
    return part * (1 - KNEE) / (1 - KNEE * part)


def near(cell, wanted, tolerance, where):
    got = cell["figure"]
    check(got is not None and abs(got - wanted) <= tolerance * wanted,
          f"{where}: {got}, not {wanted} ({cell['message']})")


with Folder() as f:
    cells = run(f, 2, "*_loaded", LOADS, "0,1")
    equal(len(cells), 3 * 4 * len(LOADS) * 2, "cells")
    for cell in cells:
        rate, way, idle, more = PATHS[cell["testcase"]]
        load = LOADS[cell["row"]]
        where = f"{cell['testcase']} {cell['metric']} {load} %"
        if cell["metric"] in ("p90", "p99"):
            equal((cell["state"], cell["reason"]), ("skip", "excluded"), where)
            continue
        equal(cell["state"], "unchecked", where)
        if cell["metric"] == "latency":
            part = load / 100 * rate / way
            near(cell, idle + more * curve(part), TOLERANCE, where)
            flows = cell["flows"]
            equal([flow["load_permille"] for flow in flows],
                  [0, 10 * load] if load else [0], f"{where}: flows")
            check(load == 0 or cell["cover_margin"] > 0, f"{where}: cover")
        elif load == 0:
            equal(cell["figure"], 0.0, where)
        else:
            # A chunk more or less, of those that were read meanwhile.
            near(cell, load / 100 * rate * 1e9, 3 / 33, where)
            equal((cell["verified"], cell["mismatches"]), ("all", 0),
                  f"{where}: verified")

    # Ten samples tell a p90, no p99.
    for cell in run(f, 10, "device_local_latency_loaded", "[ 100 ]", "0"):
        if cell["metric"] == "p90":
            near(cell, 300 + 400 * curve(0.8), TOLERANCE, "p90")
        equal(cell["state"], "skip" if cell["metric"] == "p99" else "unchecked",
              f"ten samples: {cell['metric']}")

    # Two GPUs on, of two, is the GPU itself.
    for cell in run(f, 1, "device_to_device_latency_loaded", "[ 50 ]", "0,1",
                    "distance = 2;"):
        equal((cell["state"], cell["reason"]), ("skip", "excluded"),
              f"distance 2: {cell['metric']}")
finish()
