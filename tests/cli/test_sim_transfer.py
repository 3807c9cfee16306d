# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The plugin transfer on a simulated machine whose clocks are fine: every
figure is what the profile's rates and costs per copy give, whichever clock
took it; ladders have the sizes that they stand for; and the line through a
ladder finds the profile's cost and rate again."""
from harness import *

KIB = 1 << 10
MIB = 1 << 20
TOLERANCE = 0.0005
# Of the profile: GB/s and microseconds per copy.
WAYS = {
    "transfer_host_to_device": {"pinned": (55.5, 2.0), "pageable": (6.7, 5.0),
                                "managed": (10.0, 0.0)},
    "transfer_device_to_host": {"pinned": (55.37, 2.0), "pageable": (11.3, 5.0),
                                "managed": (10.0, 0.0)},
    "transfer_device_to_device": {"": (2125.0, 3.6)},
}
SAME = {"write_combined": "pinned", "huge_page": "pageable", "ring": "pinned"}
RING_SLOT = 256 * KIB

FIXED = """mode = "fixed"; samples = 1; warmup = 1; copies = 4;"""
PLAN = """
name = "transfer";
defaults = { %s devices = "0"; };
suites = ( %s );
"""
HOST = """{ plugin = "transfer";
    tests = [ "transfer_host_to_device", "transfer_device_to_host" ];
    params = { sizes = "1 MiB/3 MiB/1 MiB"; ring = "1 MiB";
      memory = [ "pinned", "pageable", "write_combined", "huge_page",
                 "managed", "ring" ]; api = [ "async", "sync" ]; }; },
  { id = "host_clock"; plugin = "transfer";
    tests = [ "transfer_host_to_device", "transfer_device_to_device" ];
    params = { sizes = "4 KiB"; clock = "host"; }; },"""
LOCAL = """{ id = "local"; plugin = "transfer";
    tests = [ "transfer_device_to_device" ];
    params = { sizes = [ "quick", "8 MiB" ]; api = [ "async", "sync" ]; }; }"""
NODES = """{ id = "nodes"; plugin = "transfer"; tests = [ "*_numa" ];
    params = { buffer_size = "1 MiB"; memory = [ "pinned", "pageable" ]; }; }"""
OTHERS = NODES + """, { id = "fit"; plugin = "transfer"; tests = [ "*_fit_*" ];
    params = { ladder = [ "4 KiB", "64 KiB", "1 MiB", "8 MiB" ]; }; },
  { id = "short"; plugin = "transfer";
    tests = [ "transfer_fit_host_to_device" ];
    params = { ladder = [ "4 KiB", "64 KiB" ]; }; },
  { id = "batch"; plugin = "transfer"; tests = [ "*_batched_*" ];
    params = { sizes = [ "4 KiB", "64 KiB" ]; batch = 32; }; }"""
SUITES = ("nodes", "fit", "short", "batch")  # in this order


def run(folder, suites, base="h200_x2", settings=FIXED):
    folder.write("p.cfg", PLAN % (settings, suites))
    profile = folder.write(
        "fine.cfg", f'base = "{base}"; name = "fine"; '
        "event_resolution_ns = 0.001; quantum_us = 0.001;")
    code, report, stderr = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", f"{base}-%t")
    if report is None:
        finish()
    check_conservation(report)
    return code, cells_of(report), report, stderr


def words_of(report, cell):
    """The point of the sweep that a cell is of."""
    sweep = report["units"][cell["unit_id"]].get("sweep") or ""
    return dict(part.split("=") for part in sweep.split(", ") if part)


def near(cell, wanted, where):
    got = cell["figure"] or 0
    check(abs(got - wanted) <= TOLERANCE * wanted,
          f"{where}: {got:.6g}, not {wanted:.6g} ({cell['message']})")


def rate_of(bytes_, way, pieces=1):
    rate, cost_us = way
    return bytes_ / (pieces * cost_us * 1e-6 + bytes_ / (rate * 1e9))


def check_sizes(report, cells):
    seen = set()
    for cell in cells:
        words = words_of(report, cell)
        memory = words.get("memory", "")
        ways = WAYS[cell["testcase"]]
        way = ways[SAME.get(memory, memory or next(iter(ways)))]
        where = f"{cell['testcase']} {cell['row_label']} {words}"
        if cell["metric"] == "traffic":
            continue
        # All that is left in a ring when its last slot was filled goes on.
        slots = -(-cell["copy_bytes"] // RING_SLOT) if memory == "ring" else 1
        near(cell, rate_of(cell["copy_bytes"], way, slots), where)
        by_host = (words.get("api") == "sync" or
                   memory in ("pageable", "huge_page", "managed", "ring") or
                   cell["copy_bytes"] == 4 * KIB)
        equal(cell["clock"], "host" if by_host else "events",
              f"{where}: clock")
        equal((cell["verified"], cell["mismatches"]), ("last copy", 0),
              f"{where}: verified")
        flow = cell["flows"][0]
        equal(bool(flow["flags"] & 2), words.get("api") == "sync" and
              memory != "ring", f"{where}: blocking calls")
        equal(flow["ring"], MIB if memory == "ring" else 0, f"{where}: ring")
        seen.add(cell["row_label"])
    return seen


def check_others(report, cells):
    for cell in cells:
        name, metric, suite = (cell["testcase"], cell["metric"],
                               SUITES[report["units"][cell["unit_id"]]["suite"]])
        where = f"{suite}: {name} {metric} {cell['row_label']}"
        way = WAYS.get(name.replace("_fit", "").replace("_numa", "")
                       .replace("_batched", ""))
        rate, cost_us = way.get("pinned") or way[""]
        if suite == "short" and metric != "bandwidth":
            equal((cell["state"], cell["reason"]), ("skip", "excluded"), where)
        elif suite == "fit" and metric != "bandwidth":
            near(cell, {"call_cost": cost_us * 1e3, "rate": rate * 1e9,
                        "half_size": rate * cost_us * 1e3}[metric], where)
        elif suite == "nodes":
            memory = words_of(report, cell)["memory"]
            near(cell, rate_of(MIB, way[memory]), where)
            equal(cell["flows"][0]["src_place" if "host_to" in name
                                   else "dst_place"], cell["row"], where)
        elif suite == "batch":
            bytes_ = cell["copy_bytes"]
            single = rate_of(bytes_, (rate, cost_us))
            batched = rate_of(32 * bytes_, (rate, cost_us))
            if metric == "gain":
                row = 4 * KIB if cell["row"] == 0 else 64 * KIB
                single = rate_of(row, (rate, cost_us))
                batched = rate_of(32 * row, (rate, cost_us))
            near(cell, {"single": single, "batched": batched,
                        "gain": batched / single}[metric], where)


with Folder() as f:
    code, cells, report, stderr = run(f, HOST + LOCAL)
    equal(code, 0, f"exit code ({stderr[-400:]})")
    equal(check_sizes(report, cells),
          {"32 MiB", "1 MiB", "2 MiB", "3 MiB", "4 KiB", "8 MiB"}, "sizes")
    figures = {(c["metric"], c["unit_id"], c["row"]): c["figure"] for c in cells
               if c["testcase"] == "transfer_device_to_device"}
    for (metric, unit, row), figure in figures.items():
        if metric == "traffic":
            wanted = 2 * figures["bandwidth", unit, row]
            check(abs(figure - wanted) < 1e-9 * wanted, f"traffic: {figure}")

    code, cells, report, stderr = run(f, OTHERS)
    check_others(report, cells)
    equal(len({c["suite"] for c in report["units"]}), len(SUITES), "suites")

    # Adaptive, with every copy compared; two nodes, one far from the GPU.
    code, cells, report, stderr = run(
        f, NODES, "pcie_dual_socket", "max_samples = 6; min_samples = 6;")
    equal(code, 0, f"two nodes: exit code ({stderr[-400:]})")
    equal({c["row_label"] for c in cells}, {"node 0", "node 1"}, "nodes")
    for cell in cells:
        equal((cell["verified"], cell["state"]), ("all", "unchecked"),
              f"two nodes: {cell['testcase']} {cell['message']}")

    # What a processor copies first is no fault of the link.
    for memory in ("huge_page", "pageable"):
        code, report, _ = f.report(
            "-c", "plans/recipe_256mb.cfg", "--run-dir", f"recipe_{memory}",
            "--set", f"suites.transfer.params.memory={memory}", "--driver", SIM,
            "--sim-profile", "h200_x2", "--devices", "0")
        equal((code, [x["id"] for x in report["findings"]]), (0, []),
              f"findings of a healthy machine's {memory} memory")

    # Words that are no sizes are told with their place.
    f.write("p.cfg", PLAN % ("", '{ plugin = "transfer"; params = {\n'
                             'sizes = "4 MiB/1 MiB/1 MiB"; }; }'))
    code, out, err = f.host("check-plan", "-c", "p.cfg", "--driver", SIM)
    equal(code, 2, "a ladder that falls: exit code")
    contains(err + out, "p.cfg:5", "where the ladder stands")
    contains(err + out, "ends before it begins", "what is wrong with it")

finish()
