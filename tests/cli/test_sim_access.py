# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The plugin access on a simulated machine whose memory moves sectors of 32
bytes and whose events are fine: every figure is what is accessed of what is
moved, and every part of the coalesced rate too."""
from harness import *

MIB, SECTOR, KERNEL_US = 1 << 20, 32, 2.0
COPY, ONE_SIDE = 500.0, 1000.0
TOLERANCE = 0.0002

PLAN = """
name = "access";
defaults = { mode = "fixed"; copies = 4; samples = 1; buffer_size = "1 MiB";
             devices = "0"; };
suites = (
  { plugin = "access"; tests = [ "access_stride", "access_read_stride",
      "access_write_stride", "access_offset" ];
    params = { element = [ "4", "8", "16" ]; }; },
  { id = "others"; plugin = "access";
    tests = [ "access_width", "access_gather", "access_scatter" ]; }
);
"""


def rate(accesses, width, moved, limit):
    return accesses * width / (KERNEL_US * 1e3 + moved / limit)


def of_stride(width, step, offset=0, limit=COPY):
    accesses = -(-(MIB // width) // step)
    if step * width >= SECTOR:
        return rate(accesses, width, accesses * SECTOR, limit)
    end = offset + ((accesses - 1) * step + 1) * width
    return rate(accesses, width, -(-end // SECTOR) * SECTOR
                - offset // SECTOR * SECTOR, limit)


def at_random(width):
    return rate(MIB // width, width, MIB // width * SECTOR, ONE_SIDE)


def expected(name, width, label):
    """GB/s: useful, coalesced."""
    if name == "access_stride":
        return of_stride(width, int(label)), of_stride(width, 1)
    if name in ("access_read_stride", "access_write_stride"):
        return (of_stride(width, int(label), limit=ONE_SIDE),
                of_stride(width, 1, limit=ONE_SIDE))
    if name == "access_offset":
        return of_stride(width, 1, int(label) * width), of_stride(width, 1)
    if name == "access_width":
        return of_stride(int(label), 1), of_stride(16, 1)
    return at_random(int(label)), rate(MIB, 1, MIB, ONE_SIDE)


def near(got, wanted, where):
    check(got is not None and abs(got - wanted) <= TOLERANCE * wanted,
          f"{where}: {got}, not {wanted:.6g}")


with Folder() as f:
    f.write("p.cfg", PLAN)
    profile = f.write("fine.cfg", 'base = "laptop_x4"; name = "fine"; '
                      "event_resolution_ns = 0.001; "
                      "gpu = { kernel_us = %g; };" % KERNEL_US)
    code, report, stderr = f.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", "run")
    equal(code, 0, f"exit code ({stderr[-400:]})")
    check_conservation(report)
    rows = 0
    for unit in report["units"]:
        name = unit["testcase"]
        width = int((unit.get("sweep") or "element=0").split("=")[1])
        useful = [c for c in unit["cells"] if c["metric"] == "useful"]
        for cell in unit["cells"]:
            where = f"{name} {width} {cell['metric']} {cell['row_label']}"
            label = cell["row_label"] or useful[0]["row_label"]
            part, whole = expected(name, width, label)
            figure = cell["figure"]
            near(figure if cell["metric"] == "of_coalesced" else figure / 1e9,
                 {"useful": part, "coalesced": whole,
                  "of_coalesced": part / whole}[cell["metric"]], where)
            if cell["metric"] == "of_coalesced":
                rows += 1
                continue
            equal(cell["mismatches"], 0, f"{where}: mismatches")
            equal(cell["verified"], "sum" if name in
                  ("access_gather", "access_read_stride") else
                  "last copy", f"{where}: verified by")
            check(cell["verified_bytes"] > 0, f"{where}: bytes verified")
    equal(rows, 3 * (3 * 7 + 7) + 3 * 3, "rows")
    # What everyone expects of strides, in words.
    strides = {c["row_label"]: c["figure"] for u in report["units"]
               if u["testcase"] == "access_stride" and "=4" in u["sweep"]
               for c in u["cells"] if c["metric"] == "of_coalesced"}
    for stride, part in (("1", 1), ("2", 0.5), ("4", 0.25), ("8", 0.125)):
        check(abs(strides[stride] - part) < 0.01 * part,
              f"stride {stride} leaves {strides[stride]}")

finish()
