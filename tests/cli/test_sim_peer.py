# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""ce_d2d on simulated machines: every figure of its eight testcases against
what the profile's numbers give, what is skipped, and peer access that loses
bytes."""
import re

from harness import *

PROFILES = SOURCE / "configs" / "sim"
ENGINES = 4  # copies between GPUs that one GPU starts at once
TICK = 0.5e-6  # of the simulated events
TOLERANCE = 0.0002

READ, WRITE = "device_to_device_memcpy_read_ce", \
    "device_to_device_memcpy_write_ce"
BOTH = "device_to_device_bidirectional_memcpy_{}_ce"
NAMES = [READ, WRITE, BOTH.format("read"), BOTH.format("write"),
         "all_to_one_write_ce", "all_to_one_read_ce",
         "one_to_all_write_ce", "one_to_all_read_ce"]


class Machine:
    """The numbers of a profile that say how fast GPUs copy to each other."""

    def __init__(self, name, gpus):
        self.text = (PROFILES / f"{name}.cfg").read_text()
        self.gpus = gpus
        self.into = self.number("nvlink", "in", 0)
        self.out = self.number("nvlink", "out", 0)
        self.duplex = self.number("nvlink", "duplex", 0)

    def number(self, group, key, absent):
        found = re.search(
            rf"\b{group}\s*=\s*\{{[^}}]*?\b{key}\s*=\s*([0-9.]+)", self.text)
        return float(found.group(1)) if found else absent


def seconds_and_bytes(machine, name, metric, size, copies):
    """What a cell takes and what it counts."""
    others = machine.gpus - 1
    reads = "read" in name
    way = "peer_read" if reads else "peer_write"
    load = machine.number("load", way, 1.0)
    rates = [machine.number("rate", way, 0)]
    flows, rounds = 1, copies

    def limit(rate, users):
        if rate > 0:
            rates.append(rate / users)

    if name in (READ, WRITE):
        limit(machine.into, 1)
    elif "bidirectional" in name:
        limit(machine.into, 1)
        limit(machine.duplex / load, 2)
        flows = 2 if metric == "total" else 1
    else:
        into_one = name in ("all_to_one_write_ce", "one_to_all_read_ce")
        at_once = others
        if name.startswith("one_to_all"):
            at_once = min(others, ENGINES)
        limit(machine.into if into_one else machine.out, at_once)
        limit(machine.duplex / load, at_once)
        flows, rounds = others, copies * others // at_once
        assert copies * others % at_once == 0, "the last round is not full"
    cost = machine.number("cost_us", way, 0) * 1e-6
    return rounds * (cost + size / (min(rates) * 1e9)), flows * copies * size


def check_figure(cell, seconds, amount, where):
    wanted = amount / seconds
    allowed = wanted * (TOLERANCE + TICK / seconds)
    place = f"{where} {cell['metric']} [{cell['row']},{cell['col']}]"
    if not check(cell["figure"] is not None,
                 f"{place}: {cell['state']}: {cell['message']}"):
        return
    check(abs(cell["figure"] - wanted) <= allowed,
          f"{place}: {cell['figure'] / 1e9:.4f} GB/s, not "
          f"{wanted / 1e9:.4f} within {allowed / 1e9:.4f}")


def check_flows(cell):
    """Who moves what: the actor is the row, or the one of a team."""
    name, row, col = cell["testcase"], cell["row"], cell["col"]
    seen = {(f["executor"], f["src_place"], f["dst_place"])
            for f in cell["flows"]}
    actor_is_dst = "read" in name
    if "bidirectional" in name:
        wanted = {(b if actor_is_dst else a, a, b)
                  for a, b in ((row, col), (col, row))}
        counted = [f for f in cell["flows"] if f["counted"]]
        if cell["metric"] != "total":
            way = (row, col) if cell["metric"] == "forward" else (col, row)
            equal([(f["src_place"], f["dst_place"]) for f in counted], [way],
                  f"{name} {cell['metric']} counts")
    elif name in (READ, WRITE):
        wanted = {(row, col, row) if actor_is_dst else (row, row, col)}
    else:
        others = [g for g in cell["gpus"] if g != col]
        actors = [(o, col) for o in others] if name.startswith("all") \
            else [(col, o) for o in others]
        wanted = {(a, o, a) if actor_is_dst else (a, a, o) for a, o in actors}
    equal(seen, wanted, f"{name} {cell['metric']} [{row},{col}]: flows")


def measure(folder, profile, params, *words, tests=None, env=None):
    names = ", ".join(f'"{name}"' for name in tests or NAMES)
    folder.write("p.cfg", f"""
name = "peer";
defaults = {{ {params} }};
suites = ( {{ plugin = "ce_d2d"; tests = [ {names} ]; }} );
""")
    return folder.report("--driver", SIM, "--sim-profile", profile,
                         "-c", "p.cfg", "--run-dir", "%t", *words, env=env,
                         timeout=240)


def count_cells(names, gpus):
    pairs = gpus * (gpus - 1)
    return sum(pairs if name in (READ, WRITE) else
               3 * pairs if "bidirectional" in name else gpus
               for name in names)


def check_machine(folder, profile, gpus, params, numbers=None, tests=None):
    machine = Machine(numbers or profile, gpus)
    code, report, stderr = measure(folder, profile, params, tests=tests)
    equal(code, 0, f"{profile}: exit code ({stderr[-400:]})")
    cells = cells_of(report)
    equal(len(cells), count_cells(tests or NAMES, gpus), f"{profile}: cells")
    for cell in cells:
        where = f"{profile} ({params}) {cell['testcase']}"
        seconds, amount = seconds_and_bytes(
            machine, cell["testcase"], cell["metric"], cell["copy_bytes"],
            cell["copies"])
        check_figure(cell, seconds, amount, where)
        check_flows(cell)
        check("staged" not in cell["flags"], f"{where}: staged")
    check_conservation(report)


FIXED = 'mode = "fixed"; buffer_size = "2 MiB"; copies = 16; samples = 1;'
SMALL = 'mode = "fixed"; buffer_size = "512 KiB"; copies = 4; samples = 1;'
ADAPTIVE = 'buffer_size = "128 KiB"; min_samples = 6; max_samples = 6;'

with Folder() as f:
    check_machine(f, "laptop_x4", 4, FIXED)
    check_machine(f, "laptop_x4", 4, ADAPTIVE, tests=NAMES[4:])
    check_machine(f, "h200_x2", 2, FIXED)
    check_machine(f, "h200_x2", 2, ADAPTIVE)
    check_machine(f, "hgx_h200_x8", 8, SMALL, numbers="h200_x2")
    check_machine(f, "hgx_h200_x8", 8, ADAPTIVE, numbers="h200_x2",
                  tests=["one_to_all_read_ce"])

    # Without peer access nothing is measured, and nothing goes by the host.
    code, report, _ = measure(f, "no_peer", SMALL)
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "no_peer_access")}, "no_peer")
    equal(code, 4, "no_peer: exit code, since required is yes")
    code, report, _ = measure(f, "no_peer",
                              SMALL + ' required = "if_possible";')
    equal(code, 0, "no_peer: exit code if possible")

    # One GPU is too few, however many the machine has.
    code, report, _ = measure(f, "laptop_x4", SMALL, "--devices", "0")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "too_few_devices")}, "one GPU")
    code, report, _ = measure(f, "laptop_x4", SMALL, "--devices", "1,3",
                              tests=[WRITE])
    equal([(c["state"], c["flows"][0]["executor"]) for c in cells_of(report)],
          [("unchecked", 1), ("unchecked", 3)], "GPUs 1 and 3")

    # Islands: a pair across them is skipped, and so is a GPU's team.
    split = f.write("islands.cfg", (PROFILES / "laptop_x4.cfg").read_text() +
                    'gpus = ( { index = 3; island = 1; } );\n')
    code, report, _ = measure(f, split, SMALL,
                              tests=[WRITE, "one_to_all_write_ce"])
    for cell in cells_of(report):
        across = cell["testcase"] != WRITE or 3 in (cell["row"], cell["col"])
        equal((cell["state"], cell["reason"]),
              ("skip", "no_peer_access") if across
              else ("unchecked", "no_limit"),
              f"islands {cell['testcase']} [{cell['row']},{cell['col']}]")
        if across:
            contains(cell["message"], "cannot address the memory of GPU",
                     "islands: message")

    # p2p: off is staged and says so, both is a sweep over the other two.
    machine = Machine("laptop_x4", 4)
    code, report, _ = measure(f, "laptop_x4", FIXED + ' p2p = "both";',
                              tests=[WRITE, BOTH.format("write")])
    equal([u["sweep"] for u in report["units"]], ["p2p=on", "p2p=off"] * 2,
          "p2p: units")
    for cell in cells_of(report):
        unit = report["units"][cell["unit_id"]]
        staged = unit["sweep"] == "p2p=off"
        equal("staged" in cell["flags"], staged, "p2p: flag")
        way = "staged" if staged else "peer_write"
        flows = 2 if cell["metric"] == "total" else 1
        seconds = cell["copies"] * cell["copy_bytes"] / \
            machine.number("rate", way, 0) / 1e9
        check_figure(cell, seconds,
                     flows * cell["copies"] * cell["copy_bytes"],
                     f"p2p {unit['sweep']}")

    # The limits of the plan for acceptance: links x rate x efficiency.
    code, out, err = f.host("check-plan", "-c", "plans/acceptance.cfg",
                            "--explain-limits", "--driver", SIM,
                            "--sim-profile", "h200_x2")
    equal(code, 0, f"acceptance.cfg ({err})")
    link = 18 * 25.0
    for name, limit in ((WRITE, 0.95 * 0.88 * link),
                        (READ, 0.95 * 0.875 * link),
                        (BOTH.format("write"), 0.88 * 0.87 * link),
                        ("all_to_one_write_ce", 0.88 * 0.88 * link),
                        ("one_to_all_read_ce", 0.88 * 0.875 * link)):
        heads = [line for line in out.splitlines()
                 if line.startswith(name) and ": at least" in line]
        check(heads, f"acceptance.cfg: no limit for {name}")
        contains("".join(heads[:1]), f"at least {limit:.1f} GB/s",
                 f"acceptance.cfg: {name}")

    # Access that is claimed and loses bytes is wrong data, not a figure.
    code, report, _ = measure(f, "laptop_x4", SMALL, tests=[WRITE, READ],
                              env={"NVBW_SIM_FAULTS": "peer:drop"})
    equal(code, 1, "peer:drop: exit code")
    for cell in cells_of(report):
        equal((cell["state"], cell["figure"]), ("mismatch", None),
              "peer:drop")
        contains(cell["message"], f"GPU {cell['row']} reads 0 and writes 512 "
                 f"of 512 words of GPU {cell['col']}'s memory wrong",
                 "peer:drop: message")

finish()
