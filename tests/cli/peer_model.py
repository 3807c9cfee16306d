# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What traffic between simulated GPUs must give, whoever moves the bytes: each
figure by hand from the profile's numbers, and who moves what."""
import re

from harness import *

PROFILES = SOURCE / "configs" / "sim"
TICK = 0.5e-6  # of the simulated events
TOLERANCE = 0.0002


class Mover:
    """A plugin whose testcases are over peer_traffic."""

    def __init__(self, plugin, suffix, rates, engines, shapes=8):
        self.plugin = plugin
        self.rates = rates  # after the names of rates and loads
        self.engines = engines  # copies that one GPU starts at once
        pair = "device_to_device_memcpy_{}_" + suffix
        both = "device_to_device_bidirectional_memcpy_{}_" + suffix
        self.read, self.write = pair.format("read"), pair.format("write")
        self.names = [self.read, self.write, both.format("read"),
                      both.format("write"), f"all_to_one_write_{suffix}",
                      f"all_to_one_read_{suffix}",
                      f"one_to_all_write_{suffix}",
                      f"one_to_all_read_{suffix}"][:shapes]


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

    def plain(self, key):
        found = re.search(rf"^\s*{key}\s*=\s*([0-9.]+)", self.text, re.M)
        return float(found.group(1)) if found else 0.0


def seconds_and_bytes(mover, machine, name, metric, size, copies):
    """What a cell takes and what it counts."""
    others = machine.gpus - 1
    reads = "read" in name
    way = ("peer_read" if reads else "peer_write") + mover.rates
    load = machine.number("load", way, 1.0)
    rates = [machine.number("rate", way, 0)]
    flows, rounds = 1, copies

    def limit(rate, users):
        if rate > 0:
            rates.append(rate / users)

    if name in (mover.read, mover.write):
        limit(machine.into, 1)
    elif "bidirectional" in name:
        limit(machine.into, 1)
        limit(machine.duplex / load, 2)
        flows = 2 if metric == "total" else 1
    else:
        into_one = name.startswith(("all_to_one_write", "one_to_all_read"))
        at_once = others
        if name.startswith("one_to_all"):
            at_once = min(others, mover.engines)
        limit(machine.into if into_one else machine.out, at_once)
        limit(machine.duplex / load, at_once)
        flows, rounds = others, copies * others // at_once
        assert copies * others % at_once == 0, "the last round is not full"
    cost = machine.number("cost_us", way, 0) * 1e-6
    cost += machine.plain("kernel_us") * 1e-6 if mover.rates else 0
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


def check_flows(mover, cell):
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
    elif name in (mover.read, mover.write):
        wanted = {(row, col, row) if actor_is_dst else (row, row, col)}
    else:
        others = [g for g in cell["gpus"] if g != col]
        actors = [(o, col) for o in others] if name.startswith("all") \
            else [(col, o) for o in others]
        wanted = {(a, o, a) if actor_is_dst else (a, a, o) for a, o in actors}
    equal(seen, wanted, f"{name} {cell['metric']} [{row},{col}]: flows")


def measure(mover, folder, profile, params, *words, tests=None, env=None):
    names = ", ".join(f'"{name}"' for name in tests or mover.names)
    folder.write("p.cfg", f"""
name = "peer";
defaults = {{ {params} }};
suites = ( {{ plugin = "{mover.plugin}"; tests = [ {names} ]; }} );
""")
    return folder.report("--driver", SIM, "--sim-profile", profile,
                         "-c", "p.cfg", "--run-dir", "%t", *words, env=env,
                         timeout=240)


def count_cells(mover, names, gpus):
    pairs = gpus * (gpus - 1)
    return sum(pairs if name in (mover.read, mover.write) else
               3 * pairs if "bidirectional" in name else gpus
               for name in names)


def check_machine(mover, folder, profile, gpus, params, numbers=None,
                  tests=None):
    machine = Machine(numbers or profile, gpus)
    code, report, stderr = measure(mover, folder, profile, params,
                                   tests=tests)
    equal(code, 0, f"{profile}: exit code ({stderr[-400:]})")
    cells = cells_of(report)
    equal(len(cells), count_cells(mover, tests or mover.names, gpus), f"{profile}: cells")
    for cell in cells:
        where = f"{profile} ({params}) {cell['testcase']}"
        seconds, amount = seconds_and_bytes(
            mover, machine, cell["testcase"], cell["metric"], cell["copy_bytes"],
            cell["copies"])
        check_figure(cell, seconds, amount, where)
        check_flows(mover, cell)
        check("staged" not in cell["flags"], f"{where}: staged")
    check_conservation(report)


FIXED = 'mode = "fixed"; buffer_size = "2 MiB"; copies = 16; samples = 1;'
SMALL = 'mode = "fixed"; buffer_size = "512 KiB"; copies = 4; samples = 1;'
ADAPTIVE = 'buffer_size = "128 KiB"; min_samples = 6; max_samples = 6;'
