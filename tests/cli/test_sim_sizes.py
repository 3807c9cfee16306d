# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Odd sizes through every testcase that moves bytes by CE, SM or TMA, on two
simulated H200: each cell is measured, has moved exactly what was asked for,
and the bytes that were compared are those that the mode promises, to the byte.
Then copies of 20 GiB, which 32-bit indices of vectors would not reach."""
from harness import *

MIB = 1 << 20
SIZES = (1, 15, 64 * MIB - 16, 64 * MIB + 4096)
PLUGINS = ("ce_h2d", "sm_h2d", "ce_d2d", "sm_d2d", "tma", "local")


FIXED = 'mode = "fixed"; copies = %d; samples = 1; warmup = 1;'
ADAPTIVE = "min_samples = 6; max_samples = 6;"
BACKGROUND = 1  # flag of a flow
SLICES = 16  # that an adaptive background goes round in


def tests_of(plugin):
    """The operations of STREAM have sizes of their own."""
    return "device_local_*" if plugin == "local" else "*"


def plan(folder, sizes, plugins, settings=FIXED % 8):
    suites = ", ".join(f'{{ plugin = "{name}"; tests = [ "{tests_of(name)}" ]; }}'
                       for name in plugins)
    listed = ", ".join(f'"{size} B"' for size in sizes)
    folder.write("p.cfg", f"""
name = "sizes";
defaults = {{ {settings}
              buffer_size = [ {listed} ];
              timeout = "{60 * PATIENCE} s"; }};
suites = ( {suites} );
""")


def run(folder, profile="h200_x2", env=None):
    code, report, stderr = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", "%t", env=env, timeout=300)
    check_conservation(report)
    return code, cells_of(report), report, stderr


def proved(cell, samples, fixed):
    """Bytes that must have been compared. Counted flows: in fixed mode the
    last copy of each sample, since all copies of it go to one place; else all
    copies of all samples. Sums are of all copies either way. What interferes
    counts for a total: once per cell, as much as is still there."""
    amount = 0
    for flow in cell["flows"]:
        if not flow["counted"]:
            continue
        kept = flow["copies"]
        times = samples
        if flow["flags"] & BACKGROUND:
            kept, times = min(kept, SLICES), 1
        if fixed and cell["verified"] != "sum":
            kept = 1
        amount += kept * flow["bytes"] * times
    return amount


def check_proved(cell, samples, fixed, where):
    reads = cell["testcase"] == "device_local_read_sm"
    equal(cell["verified"],
          "sum" if reads else "last copy" if fixed else "all",
          f"{where}: verified")
    equal(cell["verified_bytes"], proved(cell, samples, fixed),
          f"{where}: bytes verified")
    equal(cell["mismatches"], 0, f"{where}: wrong words")


with Folder() as f:
    plan(f, SIZES, PLUGINS)
    code, cells, report, stderr = run(f)
    equal(code, 0, f"exit code ({stderr[-400:]})")
    seen = {}
    for cell in cells:
        size = report["units"][cell["unit_id"]]["sweep"]
        where = f"{cell['testcase']} {cell['metric']} {size}"
        if not check(cell["state"] == "unchecked",
                     f"{where}: {cell['state']}: {cell['message']}"):
            continue
        if "derived" in cell["flags"]:
            continue
        wanted = int(size.split("=")[1].split()[0])
        equal(cell["copy_bytes"], wanted, f"{where}: copy_bytes")
        check_proved(cell, 1, True, where)
        seen.setdefault(cell["testcase"], set()).add(wanted)
    for name, sizes in seen.items():
        equal(sizes, set(SIZES), f"{name}: sizes")
    equal(len(seen), 16 + 16 + 4 + 5, "testcases")

    plan(f, [15, 64 * MIB - 16], PLUGINS, ADAPTIVE)
    code, cells, report, stderr = run(f)
    equal(code, 0, f"adaptive: exit code ({stderr[-400:]})")
    for cell in cells:
        if "derived" not in cell["flags"]:
            where = f"adaptive: {cell['testcase']} {cell['metric']}"
            check(cell["copies"] > 1, f"{where}: {cell['copies']} copies")
            check_proved(cell, 6, False, where)

    # By CPUs: a triad has whole elements of 8 bytes and three arrays, and what
    # holds none of them is told to be too small.
    plan(f, SIZES, ("hostmem",))
    code, cells, report, stderr = run(f)
    equal(code, 4, f"hostmem: exit code ({stderr[-400:]})")
    for cell in cells:
        name = cell["testcase"]
        size = report["units"][cell["unit_id"]]["sweep"]
        where = f"{name} {size}"
        wanted = int(size.split("=")[1].split()[0])
        if name == "host_memory_latency":
            continue
        touched = wanted // 8 * 8 if name == "host_memory_triad" else wanted
        if touched == 0:
            equal((cell["state"], cell["reason"]), ("skip", "memory"), where)
            continue
        arrays = 3 if name == "host_memory_triad" else 1
        copies = 8 if name == "host_memory_read" else 1
        equal((cell["copy_bytes"], cell["copies"], cell["flows"][0]["bytes"],
               cell["verified_bytes"], cell["mismatches"]),
              (touched, 8, touched, touched * arrays * copies, 0), where)

    # Pairs side by side.
    odd = (15, MIB + 4095)
    plan(f, odd, ("ce_d2d", "sm_d2d", "tma"),
         FIXED % 4 + ' devices = "0-3"; concurrency = "disjoint";')
    code, cells, report, stderr = run(f, "hgx_h200_x8")
    equal(code, 0, f"side by side: exit code ({stderr[-400:]})")
    pairs = [c for c in cells if "device_to_device" in c["testcase"]]
    equal(len(pairs), len(odd) * 12 * 3 * (2 + 2 * 3), "cells side by side")
    for cell in pairs:
        where = f"side by side: {cell['testcase']} {cell['copy_bytes']}"
        check("concurrent" in cell["flags"], f"{where}: flags")
        check(cell["copy_bytes"] in odd, f"{where}: copy_bytes")
        check_proved(cell, 1, True, where)

    huge = 20 << 30
    plan(f, [huge], ("ce_d2d", "sm_d2d", "tma", "local"), FIXED % 1)
    code, cells, report, stderr = run(f)
    equal(code, 0, f"20 GiB: exit code ({stderr[-400:]})")
    for cell in cells:
        if "derived" not in cell["flags"]:
            equal((cell["copy_bytes"], cell["state"]), (huge, "unchecked"),
                  f"20 GiB: {cell['testcase']}: {cell['message']}")
            check_proved(cell, 1, True, f"20 GiB: {cell['testcase']}")

finish()
