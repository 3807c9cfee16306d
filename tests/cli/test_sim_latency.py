# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""latency on simulated machines: every figure against the profile's numbers,
limits in nanoseconds, what is skipped, and chains that are broken."""
import re

from harness import *

PROFILES = SOURCE / "configs" / "sim"
TOLERANCE = 0.0005
HOST, PEER = "host_device_latency_sm", "device_to_device_latency_sm"
BULK, LOCAL = "device_to_device_latency_tma", "device_local_latency_sm"
LOCAL_BULK = "device_local_latency_tma"
NAMES = [HOST, PEER, BULK, LOCAL, LOCAL_BULK]
DEFAULTS = {"latency_host_ns": 1000, "latency_peer_ns": 800,
            "latency_local_ns": 300, "latency_bulk_ns": 0, "kernel_us": 0}


def number(profile, key):
    text = (PROFILES / f"{profile}.cfg").read_text()
    found = re.search(rf"\b{key}\s*=\s*([0-9.]+)", text)
    return float(found.group(1)) if found else DEFAULTS[key]


def latency(profile, name):
    """One step, without its share of a launch."""
    place = {HOST: "host", PEER: "peer", BULK: "peer"}.get(name, "local")
    return number(profile, f"latency_{place}_ns") + (
        number(profile, "latency_bulk_ns") if name in (BULK, LOCAL_BULK) else 0)


def measure(folder, profile, params="", *words, tests=None, limits="",
            env=None):
    names = ", ".join(f'"{name}"' for name in tests or NAMES)
    folder.write("p.cfg", f"""
name = "latency";
defaults = {{ {params} }};
limits = ( {limits} );
suites = ( {{ plugin = "latency"; tests = [ {names} ]; }} );
""")
    return folder.report("--driver", SIM, "--sim-profile", profile,
                         "-c", "p.cfg", "--run-dir", "%t", *words, env=env)


def check_machine(folder, profile, gpus, params, steps, numbers=None,
                  tests=None):
    """steps: in one launch, or (within a GPU, over a link); None: launches
    cost nothing."""
    code, report, stderr = measure(folder, profile, params, tests=tests)
    equal(code, 0, f"{profile}: exit code ({stderr[-400:]})")
    cells = cells_of(report)
    pairs = gpus * (gpus - 1)
    equal(len(cells), sum(pairs if name in (PEER, BULK) else gpus
                          for name in tests or NAMES), f"{profile}: cells")
    for cell in cells:
        where = f"{profile} ({params}) {cell['testcase']} " \
            f"[{cell['row']},{cell['col']}]"
        wanted = latency(numbers or profile, cell["testcase"])
        if steps is not None:
            own = steps if isinstance(steps, int) else steps[
                cell["testcase"] not in (LOCAL, LOCAL_BULK)]
            wanted += number(numbers or profile, "kernel_us") * 1e3 / own
        if not check(cell["figure"] is not None,
                     f"{where}: {cell['state']}: {cell['message']}"):
            continue
        check(abs(cell["figure"] - wanted) <= wanted * TOLERANCE,
              f"{where}: {cell['figure']:.2f} ns, not {wanted:.2f}")
        equal(cell["verified"], "all", f"{where}: verified")
        check("sms_missed" not in cell["flags"], f"{where}: {cell['flags']}")
        flow = cell["flows"][0]
        row = cell["row"] if cell["testcase"] in (PEER, BULK) else cell["col"]
        equal((flow["executor"], flow["operation"]), (row, "chase"),
              f"{where}: executor")
        if cell["testcase"] in (PEER, BULK):
            equal(flow["src_place"], cell["col"], f"{where}: memory")
    check_conservation(report)
    return cells


def states(report):
    return {(c["state"], c["reason"]) for c in cells_of(report)}


ADAPTIVE = (2000, 500)
FIXED = 'mode = "fixed"; samples = 3;'
RANDOM = 'chase = "random"; footprint = "1 MiB"; min_samples = 6;'

with Folder() as f:
    check_machine(f, "laptop_x4", 4, "", ADAPTIVE)
    check_machine(f, "h200_x2", 2, "", ADAPTIVE)
    for cell in check_machine(f, "h200_x2", 2, FIXED, 1000000 // 132,
                              tests=[PEER, HOST]):
        equal((cell["copies"], cell["copy_bytes"]), (44, 2 << 20),
              "fixed: 132 SMs over three samples, 2 MiB")
    check_machine(f, "hgx_h200_x8", 8, "", ADAPTIVE, numbers="h200_x2")
    for cell in check_machine(f, "laptop_x4", 4, RANDOM, None):
        equal((cell["copy_bytes"], cell["flows"][0]["stride"]), (1 << 20, 0),
              "random")
    # Without a footprint the cache is outrun twenty times.
    small = f.write("small.cfg", 'base = "laptop_x4"; name = "small";\n'
                    "gpu = { l2_kib = 256; };\n")
    cells = check_machine(f, small, 4, 'chase = "random";', None,
                          numbers="laptop_x4", tests=[LOCAL])
    equal({(c["copy_bytes"], c["footprint_over_cache"], tuple(c["flags"]))
           for c in cells}, {(20 * 256 << 10, 20.0, ())}, "random")

    # A ladder is a sweep, its figures in its order.
    code, report, _ = measure(
        f, "laptop_x4", 'chase = "random"; min_samples = 6; max_samples = 6;'
        'footprint = ["64 KiB", "8 MiB", "12 MiB"];', "--devices", "0",
        tests=[LOCAL])
    equal([c["copy_bytes"] for c in cells_of(report)],
          [64 << 10, 8 << 20, 12 << 20], "ladder")

    # SMs that differ: the mean, and how far they are apart.
    wide = f.write("wide.cfg", 'base = "h200_x2"; name = "wide";\n'
                   "gpu = { latency_spread_ns = 66.0; };\n")
    for params, steps in (("", ADAPTIVE[1]), (FIXED, 7575), (RANDOM, 1e9)):
        _, report, _ = measure(f, wide, params, tests=[PEER])
        for cell in cells_of(report):
            wanted = 827 + 3e3 / steps
            if not check(cell["figure"] is not None,
                         f"wide ({params}): {cell['message']}"):
                continue
            check(abs(cell["figure"] - wanted) < 3,
                  f"wide ({params}): {cell['figure']}, not {wanted}")
            for side, end in (("low", 827 - 33), ("high", 827 + 33)):
                got = cell[f"spread_{side}"]
                check(abs(got - end - 3e3 / steps) < 3.1,
                      f"wide ({params}): spread_{side} {got}, not {end}")

    # Limits are in time, and below is better.
    for limit, exit_code, state in (("1.1 us", 0, "pass"),
                                    ("1001 ns", 0, "pass"),
                                    ("999 ns", 1, "fail")):
        code, report, _ = measure(
            f, "laptop_x4", 'confirm = 1;', tests=[HOST],
            limits=f'{{ match = "{HOST}"; max = "{limit}"; }}')
        equal((code, {c["state"] for c in cells_of(report)}),
              (exit_code, {state}), f"max = {limit}")
    slow = f.write("slow.cfg", 'base = "laptop_x4"; name = "slow";\n'
                   "gpus = ( { index = 2; latency_host_ns = 1300.0; } );\n")
    code, report, _ = measure(
        f, slow, "confirm = 0;", tests=[HOST],
        limits='{ match = "*latency*"; max = "115 % of siblings"; }')
    equal((code, [c["state"] for c in cells_of(report)]),
          (1, ["pass", "pass", "fail", "pass"]), "siblings")
    code, _, stderr = f.host("--driver", SIM, "--sim-profile", "laptop_x4",
                             "check-plan", "-c", f.write("m.cfg", f"""
name = "m";
limits = ( {{ match = "{HOST}"; min = "95 % of expected"; }} );
suites = ( {{ plugin = "latency"; }} );
"""))
    equal(code, 2, "min for a latency")
    contains(stderr, "write max with a value in its unit", "min for a latency")

    # What does not apply is skipped by name.
    _, report, _ = measure(f, "laptop_x4", "", "--devices", "1",
                           tests=[PEER, BULK])
    equal(states(report), {("skip", "too_few_devices")}, "one GPU")
    _, report, _ = measure(f, "no_peer", "", tests=[PEER, BULK])
    equal(states(report), {("skip", "no_peer_access")}, "no_peer")
    _, report, _ = measure(f, "no_peer", "", tests=[HOST, LOCAL])
    equal(states(report), {("unchecked", "no_limit")}, "no_peer")
    split = f.write("islands.cfg", 'base = "laptop_x4"; name = "islands";\n'
                    "gpus = ( { index = 3; island = 1; } );\n")
    _, report, _ = measure(f, split, "", tests=[PEER])
    for cell in cells_of(report):
        wanted = "skip" if 3 in (cell["row"], cell["col"]) else "unchecked"
        equal(cell["state"], wanted,
              f"islands [{cell['row']},{cell['col']}]")
    old = f.write("old.cfg", 'base = "laptop_x4"; name = "old";\n'
                  "gpu = { compute = 80; };\n")
    _, report, _ = measure(f, old, "", tests=[BULK])
    equal(states(report), {("skip", "arch_too_old")}, "compute 8.0")
    _, report, _ = measure(f, old, "", tests=[PEER])
    equal(states(report), {("unchecked", "no_limit")}, "compute 8.0")

    # The first copies are the chain, where its lap begins, where it ended.
    for fault, wanted in (("copy:flip=1", ("mismatch", "wrong_data")),
                          ("copy:skip=1", ("mismatch", "wrong_data")),
                          ("copy:flip=2", ("mismatch", "wrong_data")),
                          ("copy:flip=3", ("mismatch", "wrong_data")),
                          ("stream:hang=40", ("error", "driver")),
                          ("kernel:fail=12", ("error", "driver")),
                          ("alloc_above=1MiB", ("skip", "memory"))):
        _, report, _ = measure(f, "laptop_x4", "", "--devices", "0",
                               tests=[LOCAL], env={"NVBW_SIM_FAULTS": fault})
        equal(states(report), {wanted}, fault)
        if fault == "copy:flip=1":
            contains(cells_of(report)[0]["message"], "chain of loads broken",
                     fault)
    code, report, _ = measure(f, "laptop_x4", "", tests=[PEER],
                              env={"NVBW_SIM_FAULTS": "peer:drop"})
    equal(states(report), {("mismatch", "wrong_data")}, "peer:drop")

finish()
