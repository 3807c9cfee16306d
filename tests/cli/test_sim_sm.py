# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Kernels that move bytes, on simulated machines with events as fine as their
clock: every figure is what the profile's rates give."""
from harness import *

MIB = 1 << 20
BYTES = 4 * MIB
TOLERANCE = 0.0002

PLAN = """
name = "sm";
defaults = { mode = "fixed"; buffer_size = "4 MiB"; copies = 8; samples = 1;
             warmup = 1; };
suites = ( { plugin = "sm_h2d"; }, { plugin = "local"; tests = [ "device_local_*" ]; } );
"""


def expected_of(rates):
    """(testcase, metric): GB/s. rates: alone, one way of both, copy, read,
    write."""
    alone, both, copy, read, write = rates
    table = {}
    for name in ("host_to_device", "device_to_host", "host_to_all",
                 "all_to_host"):
        table[f"{name}_memcpy_sm", "bandwidth"] = alone[name[-6:] == "device"
                                                        or name[-3:] == "all"]
        table[f"{name}_bidirectional_memcpy_sm", "bandwidth"] = both
    for name in ("host_to_device", "device_to_host"):
        table[f"{name}_bidirectional_memcpy_sm", "total"] = 2 * both
    for name in ("device_local_copy", "device_local_copy_sm"):
        table[name, "bandwidth"] = copy[name]
        table[name, "traffic"] = 2 * copy[name]
    table["device_local_read_sm", "bandwidth"] = read
    table["device_local_write_sm", "bandwidth"] = write
    return table


def run(folder, base, more=""):
    folder.write("p.cfg", PLAN)
    profile = folder.write(
        "fine.cfg", f'base = "{base}"; name = "fine"; '
        f"event_resolution_ns = 0.001; {more}")
    code, report, stderr = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", base)
    equal(code, 0, f"exit code on {base} ({stderr[-500:]})")
    check_conservation(report)
    return cells_of(report)


def compare(cells, expected, names):
    for cell in cells:
        key = cell["testcase"], cell["metric"]
        if key not in expected or not key[0].startswith(names):
            continue
        got = cell["figure"] / 1e9 if cell["figure"] else 0
        check(abs(got - expected[key]) <= TOLERANCE * expected[key],
              f"{key} at {cell['col_label']}: {got:.3f} GB/s, not "
              f"{expected[key]:.3f} ({cell['message']})")


with Folder() as f:
    cells = run(f, "laptop_x4")
    equal(len(cells), 80, "cells")
    compare(cells, expected_of(
        ([50, 50], 50, {"device_local_copy": 500,
                        "device_local_copy_sm": 500}, 1000, 1000)),
            ("host", "device", "all"))
    for cell in cells:
        is_read = cell["testcase"] == "device_local_read_sm"
        if cell["metric"] != "traffic":
            equal(cell["verified"], "sum" if is_read else "last copy",
                  f"{cell['testcase']} is verified by")
        if "bidirectional" in cell["testcase"]:
            equal("half" in cell["flags"], cell["metric"] == "bandwidth",
                  f"flag half of {cell['testcase']}/{cell['metric']}")

    # Costs: one launch of a kernel a copy, or one of the copy engine.
    def rate(limit, cost_us):
        return BYTES / (cost_us * 1e3 + BYTES / limit)

    cells = run(f, "h200_x2")
    equal(len(cells), 40, "cells of h200_x2")
    # Both ways share 102.2 GB/s of the link, of which a kernel's take 1.204.
    compare(cells, expected_of(
        ([rate(52.66, 3), rate(51.4, 3)], rate(102.2 / 1.204, 3) / 2,
         {"device_local_copy": rate(2125, 3.6),
          "device_local_copy_sm": rate(2146, 3)},
         rate(4690, 3), rate(4715, 3))),
            ("host_to_device", "device"))

finish()
