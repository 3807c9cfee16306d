# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The plugin overlap on a simulated machine whose clocks are fine. Times alone
are what the profile's rates give; together, flows that share nothing take the
longer of both times, flows on one stream or by one busy thread the sum, and
both ways over one link what the link has for both."""
from harness import *

MIB = 1 << 20
COPIES, READS = 4, 32
SIZE, READ = 4 * MIB, 64 * MIB
TOLERANCE = 0.0005

PLAN = """
name = "overlap";
defaults = { mode = "fixed"; samples = 1; warmup = 1; devices = "0,1";
  required = "if_possible"; };
suites = (
  { plugin = "overlap"; params = { size = "4 MiB";
      memory = [ "pinned", "pageable" ]; }; },
  { id = "default"; plugin = "overlap"; tests = [ "overlap_both_ways",
      "overlap_copy_kernel", "overlap_copy_peer" ];
    params = { size = "4 MiB"; stream = "default"; }; }
);
"""


def time_of(count, bytes_, rate, cost_us):
    return count * (cost_us * 1e3 + bytes_ / rate)


DOWN = {"pinned": time_of(COPIES, SIZE, 55.5, 2.0),
        "pageable": time_of(COPIES, SIZE, 6.7, 5.0)}
UP = {"pinned": time_of(COPIES, SIZE, 55.37, 2.0),
      "pageable": time_of(COPIES, SIZE, 11.3, 5.0)}
KERNEL = time_of(READS, READ, 4690, 3.0)
PEER = time_of(COPIES, SIZE, 397.7, 4.5)


def alone(testcase, memory):
    if testcase == "overlap_both_ways":
        return DOWN[memory], UP[memory]
    return (KERNEL if testcase == "overlap_copy_kernel" else PEER,
            DOWN[memory])


def near(got, wanted, where, tolerance=TOLERANCE):
    check(got is not None and abs(got - wanted) <= tolerance * abs(wanted),
          f"{where}: {got}, not {wanted:.6g}")


def check_unit(unit, gpu, memory, is_default):
    got = {c["metric"]: c for c in unit["cells"] if c["col"] == gpu}
    name = unit["testcase"]
    where = f"{name} {memory} {'default' if is_default else 'own'} GPU {gpu}"
    one, other = alone(name, memory)
    near(got["first"]["figure"], one, f"{where}: first")
    near(got["second"]["figure"], other, f"{where}: second")
    together = got["together"]["figure"]
    if is_default or (name == "overlap_both_ways" and memory == "pageable"):
        near(together, one + other, f"{where}: one after the other")
    elif name == "overlap_both_ways":
        # 102.2 GB/s for both ways, of which neither has all that it could.
        check(together > 2 * COPIES * SIZE / 102.2, f"{where}: too fast")
        near(together, 2 * COPIES * SIZE / 102.2, f"{where}: both ways", 0.03)
    else:
        # A kernel's part of the last round may outlast the copies.
        check(together >= max(one, other) * (1 - TOLERANCE) and
              together < max(one, other) + min(one, other) / 2,
              f"{where}: {together} together, {one} and {other} alone")
    if memory == "pinned" and not is_default and name != "overlap_both_ways":
        near(together, max(one, other), f"{where}: at once")
    saved = (one + other - together) / min(one, other)
    if min(one, other) < 0.05 * max(one, other):
        equal((got["overlapped"]["state"], got["overlapped"]["reason"]),
              ("skip", "excluded"), f"{where}: verdict")
    else:
        check(abs(got["efficiency"]["figure"] - saved) < 0.002,
              f"{where}: efficiency {got['efficiency']['figure']}, not {saved}")
        equal(got["overlapped"]["figure"], int(saved >= 0.5),
              f"{where}: verdict")
    clock = "host" if memory == "pageable" else "events"
    equal(got["together"]["clock"], clock, f"{where}: clock")
    for metric in ("first", "second", "together"):
        equal(got[metric]["mismatches"], 0, f"{where}: {metric}")
        check(got[metric]["verified"] != "off", f"{where}: {metric}")


with Folder() as f:
    f.write("p.cfg", PLAN)
    profile = f.write("fine.cfg", 'base = "h200_x2"; name = "fine"; '
                      "event_resolution_ns = 0.001; quantum_us = 0.001;")
    code, report, stderr = f.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", "run")
    equal(code, 0, f"exit code ({stderr[-400:]})")
    check_conservation(report)
    pairs = 0
    for unit in report["units"]:
        sweep = unit.get("sweep") or ""
        memory = "pageable" if "pageable" in sweep else "pinned"
        if unit["testcase"] == "overlap_streams":
            rate = COPIES * SIZE / DOWN[memory] * 1e9
            for cell in unit["cells"]:
                near(cell["figure"], rate, f"{memory}, {cell['row_label']} "
                     "streams of one engine")
            equal([c["row_label"] for c in unit["cells"] if c["col"] == 0],
                  ["1", "2", "4", "8"], "streams")
            continue
        for gpu in (0, 1):
            check_unit(unit, gpu, memory, unit["suite"] == 1)
            pairs += 1
    equal(pairs, 2 * (3 * 2 + 3), "pairs of work")

    # Where a clock is too coarse for the shorter of the two, more seems saved
    # than there was.
    f.write("tiny.cfg", """name = "tiny"; suites = ( { plugin = "overlap";
        tests = [ "overlap_both_ways" ]; params = { size = "64 KiB";
        mode = "fixed"; samples = 1; warmup = 1; devices = "0"; }; } );""")
    profile = f.write("coarse.cfg", 'base = "laptop_x4"; name = "coarse"; '
                      "event_resolution_ns = 9000.0;")
    code, report, stderr = f.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "tiny.cfg",
        "--run-dir", "tiny")
    got = {c["metric"]: c for c in cells_of(report)}
    one, other, both = (got[name]["figure"] for name in
                        ("first", "second", "together"))
    check(one + other - both > 1.05 * min(one, other),
          f"a coarse clock: {one} and {other} alone, {both} together")
    for metric in ("efficiency", "overlapped"):
        equal((got[metric]["state"], got[metric]["reason"]),
              ("skip", "excluded"), f"a coarse clock: {metric}")

    # A kernel of 0.55 ms beside copies of 0.02 ms.
    f.write("short.cfg", """name = "short"; suites = ( { plugin = "overlap";
        tests = [ "overlap_copy_kernel" ]; params = { size = "256 KiB";
        mode = "fixed"; samples = 1; warmup = 1; devices = "0"; }; } );""")
    code, report, stderr = f.report(
        "--driver", SIM, "--sim-profile", f.path / "fine.cfg", "-c",
        "short.cfg", "--run-dir", "short")
    got = {c["metric"]: c for c in cells_of(report)}
    check(got["second"]["figure"] < 0.05 * got["first"]["figure"],
          f"short: {got['first']['figure']} and {got['second']['figure']}")
    equal((got["overlapped"]["reason"],
           "less than 5 %" in (got["overlapped"]["message"] or "")),
          ("excluded", True), "short: verdict")

finish()
