# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The operations of STREAM on a simulated machine whose events are fine: every
figure is what the profile gives, memory-side bytes over the time of a kernel
of as many laps as there are copies."""
from harness import *

KIB, MIB = 1 << 10, 1 << 20
L2, L2_RATE, MEMORY_RATE, COPIES = 4 * MIB, 3000.0, 1000.0, 40
SIZES = {"64 KiB": 64 * KIB, "1 MiB": MIB, "2 MiB": 2 * MIB, "64 MiB": 64 * MIB,
         "512 MiB": 512 * MIB}
ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "dot": 2}
KERNEL_US, JOINED_MOST = 2.0, 256 * MIB
TOLERANCE = 0.0002

PLAN = """
name = "stream";
defaults = { mode = "fixed"; copies = %d; samples = 1; devices = "0"; };
suites = ( { plugin = "local"; tests = [ "stream_*" ];
  params = { ladder = [ %s ]; }; } );
"""


def expected(arrays, size):
    """GB/s, read and written."""
    rate = L2_RATE if arrays * size <= L2 else MEMORY_RATE
    launches = 1 if size <= JOINED_MOST else COPIES
    moved = arrays * size * COPIES
    return moved / (launches * KERNEL_US * 1e3 + moved / rate)


with Folder() as f:
    names = ", ".join(f'"{size}"' for size in SIZES)
    f.write("p.cfg", PLAN % (COPIES, f"[ {names} ]"[2:-2]))
    profile = f.write("fine.cfg", 'base = "laptop_x4"; name = "fine"; '
                      "event_resolution_ns = 0.001; "
                      "gpu = { kernel_us = %g; };" % KERNEL_US)
    code, report, stderr = f.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", "run")
    equal(code, 0, f"exit code ({stderr[-400:]})")
    check_conservation(report)
    cells = cells_of(report)
    equal(len(cells), len(ARRAYS) * len(SIZES), "cells")
    for cell in cells:
        name = cell["testcase"].removeprefix("stream_")
        size = SIZES[cell["row_label"]]
        wanted = expected(ARRAYS[name], size)
        got = (cell["figure"] or 0) / 1e9
        where = f"{name} {cell['row_label']} {cell['metric']}"
        check(abs(got - wanted) <= TOLERANCE * wanted,
              f"{where}: {got:.2f} GB/s, not {wanted:.2f} ({cell['message']})")
        equal("cache_bound" in cell["flags"],
              ARRAYS[name] * size < 20 * L2, f"{where}: cache_bound")
        # What a cache answers is no share of the memory's rate.
        equal(cell["utilisation"] is None, "cache_bound" in cell["flags"],
              f"{where}: utilisation {cell['utilisation']}")
        equal(cell["verified"], "sum" if name == "dot" else "last copy",
              f"{where}: verified by")
        equal(cell["mismatches"], 0, f"{where}: mismatches")

finish()
