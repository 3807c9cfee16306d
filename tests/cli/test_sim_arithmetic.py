# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What a run in simulation must report, computed from the profile's numbers.
Each copy takes its cost and then its bytes at the rate that it gets; what a
cell reports is payload over time. Rates under contention are shared out by
water-filling over the links that the flows cross."""
import pathlib
import re

from harness import *

QUIET = 2e-4
PROFILES = SOURCE / "configs" / "sim"
MIB = 1 << 20
SIZE = 64 * MIB
COPIES = 8

PLAN = f"""
name = "arithmetic";
defaults = {{ mode = "fixed"; buffer_size = "{SIZE // MIB} MiB";
  copies = {COPIES}; samples = 3; warmup = 1; timeout = "60 s";
  required = "if_possible"; }};
suites = ( {{ plugin = "ce_h2d"; }} );
"""


def strip(text):
    text = re.sub(r"#.*", "", text)
    return re.sub(r'"[^"]*"', lambda m: m.group(0).replace(";", ","), text)


def parse(text):
    """libconfig, as far as profiles use it: a dict, lists as lists."""
    tokens = re.findall(r'"[^"]*"|[A-Za-z_][\w.]*|[-\d.]+|[={}();,]',
                        strip(text))
    at = 0

    def value():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "{":
            return group("}")
        if token == "(":
            items = []
            while tokens[at] != ")":
                if tokens[at] == ",":
                    at += 1
                    continue
                items.append(value())
            at += 1
            return items
        return token[1:-1] if token[0] == '"' else float(token)

    def group(end):
        nonlocal at
        found = {}
        while at < len(tokens) and tokens[at] != end:
            name = tokens[at]
            at += 2
            found[name] = value()
            if at < len(tokens) and tokens[at] in ";,":
                at += 1
        at += 1
        return found

    return group("")


def update(into, more):
    for key, item in more.items():
        if isinstance(item, dict):
            update(into.setdefault(key, {}), item)
        else:
            into[key] = item


class Profile:
    """A profile with its bases applied, as docs/simulated-driver.md says."""

    def __init__(self, name):
        chain = []
        while name:
            chain.insert(0, parse((PROFILES / f"{name}.cfg").read_text()))
            name = chain[0].get("base")
        self.top = {"host": {"nodes": 1}}
        for part in chain:
            update(self.top, {k: v for k, v in part.items()
                              if k not in ("gpu", "gpus")})
        self.gpus = [{"node": 0, "rate": {}, "cost_us": {}, "load": {},
                      "pcie": {}} for _ in range(int(self.top["count"]))]
        for part in chain:
            for gpu in self.gpus:
                update(gpu, part.get("gpu", {}))
            for group in part.get("gpus", []):
                if group["index"] < len(self.gpus):
                    update(self.gpus[int(group["index"])], group)

    def flow(self, gpu, way):
        """Limit of one flow, and what it crosses: {resource: (cost, weight)}.
        """
        g = self.gpus[gpu]
        host = self.top["host"]
        node = (g["node"] + (1 if host.get("far") else 0)) % host["nodes"]
        down = way == "h2d"
        weight = host.get("weight_down" if down else "weight_up", 1)
        uses = {
            ("pcie", gpu, "down" if down else "up"): (1, 1),
            ("pcie", gpu, "duplex"): (g["load"].get(way, 1), 1),
            ("host", node, "read" if down else "write"): (1, 1),
            ("host", node, "total"): (1, weight),
        }
        if node != g["node"]:
            uses[("between", node, "out" if down else "in")] = (1, 1)
        return {"limit": g["rate"][way], "uses": uses,
                "cost": g["cost_us"].get(way, 0) * 1e3}

    def capacity(self, resource):
        kind, number, part = resource
        if kind == "pcie":
            return self.gpus[int(number)]["pcie"].get(part, 0)
        if kind == "host":
            return self.top["host"].get(part, 0)
        return self.top["host"].get("between_nodes", 0)


def share(profile, flows):
    """Bytes per nanosecond of each flow while all of them move."""
    rates = [None] * len(flows)
    while None in rates:
        best = None
        for i, flow in enumerate(flows):
            if rates[i] is not None:
                continue
            most = flow["limit"]
            for resource, (cost, weight) in flow["uses"].items():
                capacity = profile.capacity(resource)
                if capacity <= 0:
                    continue
                others = [(f, r) for f, r in zip(flows, rates)
                          if resource in f["uses"]]
                left = capacity - sum(r * f["uses"][resource][0]
                                      for f, r in others if r is not None)
                weights = sum(f["uses"][resource][1]
                              for f, r in others if r is None)
                most = min(most, max(left, 0) * weight / weights / cost)
            if best is None or most < best[1]:
                best = (i, most)
        rates[best[0]] = best[1]
    return rates


def quiet(profile, flow):
    """Bytes/s: copies one after the other, each with its cost."""
    rate = share(profile, [flow])[0]
    return SIZE / (flow["cost"] + SIZE / rate) * 1e9


def figures(report, testcase):
    return {(c["metric"], c["col"]): c for c in cells_of(report)
            if c["testcase"] == testcase}


def near(got, wanted, tolerance, what):
    check(abs(got - wanted) <= tolerance * wanted,
          f"{what}: {got / 1e9:.4f}, not {wanted / 1e9:.4f} GB/s")


def check_quiet(name, profile, report):
    for way, testcase in (("h2d", "host_to_device_memcpy_ce"),
                          ("d2h", "device_to_host_memcpy_ce")):
        cells = figures(report, testcase)
        for gpu in range(len(profile.gpus)):
            cell = cells[("bandwidth", gpu)]
            near(cell["figure"], quiet(profile, profile.flow(gpu, way)),
                 QUIET, f"{name}: {testcase}, GPU {gpu}")


def contended(profile, gpu, way, both, everyone):
    """All flows of such a testcase, the measured one first."""
    ways = [way] + ([{"h2d": "d2h", "d2h": "h2d"}[way]] if both else [])
    gpus = [gpu] + ([g for g in range(len(profile.gpus)) if g != gpu]
                    if everyone else [])
    return [profile.flow(g, w) for g in gpus for w in ways]


CONTENDED = (
    ("host_to_device_bidirectional_memcpy_ce", "h2d", True, False),
    ("device_to_host_bidirectional_memcpy_ce", "d2h", True, False),
    ("host_to_all_memcpy_ce", "h2d", False, True),
    ("host_to_all_bidirectional_memcpy_ce", "h2d", True, True),
    ("all_to_host_memcpy_ce", "d2h", False, True),
    ("all_to_host_bidirectional_memcpy_ce", "d2h", True, True),
)


def bounds(profile, flows):
    """While another flow pays for its next copy the measured one may have
    more: from all the time shared to never shared, weighted by the part of
    its time that the others do not move."""
    rates = share(profile, flows)
    alone = share(profile, flows[:1])[0]
    idle = sum(f["cost"] / (f["cost"] + SIZE / r)
               for f, r in zip(flows[1:], rates[1:]))
    low = SIZE / (flows[0]["cost"] + SIZE / rates[0])
    high_rate = rates[0] + (alone - rates[0]) * min(1, idle)
    return low * 1e9, SIZE / (flows[0]["cost"] + SIZE / high_rate) * 1e9


def check_contended(name, profile, report):
    for testcase, way, both, everyone in CONTENDED:
        cells = figures(report, testcase)
        for gpu in range(len(profile.gpus)):
            flows = contended(profile, gpu, way, both, everyone)
            low, high = bounds(profile, flows)
            what = f"{name}: {testcase}, GPU {gpu}"
            got = cells[("bandwidth", gpu)]["figure"]
            check(got is not None and
                  low * (1 - QUIET) <= got <= high * (1 + QUIET),
                  f"{what}: {got}, not in {low:.6g} .. {high:.6g}")
            total = cells[("total", gpu)]["figure"]
            rates = share(profile, flows)
            most = sum(rates) * 1e9
            least = sum(SIZE / (f["cost"] + SIZE / r)
                        for f, r in zip(flows, rates)) * 1e9
            # Background counts by whole copies of twice the size, of which
            # some have begun before the start and go faster before all flows
            # are there: up to one and a half of each flow.
            slack = 1.5 * (len(flows) - 1) * 2 * SIZE / (COPIES * SIZE / got)
            check(total is not None and
                  least * (1 - QUIET) - slack <= total <=
                  most * (1 + QUIET) + slack,
                  f"{what}: total {total}, model {most:.6g} +- {slack:.6g}")


with Folder() as f:
    f.write("p.cfg", PLAN)
    for name in sys.argv[1:] or ("laptop_x4", "h200_x2", "grace_hopper",
                                 "pcie_dual_socket", "hgx_h200_x8_link_x8",
                                 "hgx_h200_x8_far_numa"):
        code, report, err = f.report(
            "--driver", SIM, "--sim-profile", name, "-c", "p.cfg",
            "--run-dir", f"run-{name}", timeout=280)
        equal(code, 0, f"{name}: exit code ({err[-300:]})")
        if report is None:
            continue
        check_conservation(report)
        profile = Profile(name)
        check_quiet(name, profile, report)
        check_contended(name, profile, report)

finish()
