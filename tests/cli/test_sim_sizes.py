# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Odd sizes through every testcase that moves bytes by CE, SM or TMA, on two
simulated H200: each cell is measured, has moved exactly what was asked for,
and every byte of it was compared. Then copies of 20 GiB, which 32-bit indices
of vectors would not reach."""
from harness import *

MIB = 1 << 20
SIZES = (1, 15, 64 * MIB - 16, 64 * MIB + 4096)
PLUGINS = ("ce_h2d", "sm_h2d", "ce_d2d", "sm_d2d", "tma", "local")


def plan(folder, sizes, plugins, copies=8):
    suites = ", ".join(f'{{ plugin = "{name}"; }}' for name in plugins)
    listed = ", ".join(f'"{size} B"' for size in sizes)
    folder.write("p.cfg", f"""
name = "sizes";
defaults = {{ mode = "fixed"; copies = {copies}; samples = 1; warmup = 1;
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
        check(cell["verified"] in ("all", "last copy", "sum"),
              f"{where}: verified is {cell['verified']}")
        check(cell["verified_bytes"] >= wanted,
              f"{where}: {cell['verified_bytes']} bytes verified")
        seen.setdefault(cell["testcase"], set()).add(wanted)
    for name, sizes in seen.items():
        equal(sizes, set(SIZES), f"{name}: sizes")
    equal(len(seen), 16 + 16 + 4 + 5, "testcases")

    huge = 20 << 30
    plan(f, [huge], ("sm_d2d", "tma", "local"), copies=1)
    code, cells, report, stderr = run(f)
    equal(code, 0, f"20 GiB: exit code ({stderr[-400:]})")
    for cell in cells:
        if "derived" not in cell["flags"]:
            equal((cell["copy_bytes"], cell["state"]), (huge, "unchecked"),
                  f"20 GiB: {cell['testcase']}: {cell['message']}")
            check(cell["verified_bytes"] >= huge,
                  f"20 GiB: {cell['testcase']}: verified")

finish()
