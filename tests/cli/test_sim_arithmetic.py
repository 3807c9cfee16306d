# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every figure of ce_h2d and ce_d2d on every profile against what the
profile's numbers give (oracle.py): alone, both ways over links that are shared
or not, many to one, with copy engines that take few copies at once, with costs
per copy, and in total. To 0.02 %, and one tick of an event."""
from harness import *
from oracle import Profile, Sample

TOLERANCE = 2e-4
TICK = 0.5e-6
MIB = 1 << 20

PLAN = """
name = "arithmetic";
defaults = { mode = "fixed"; copies = 8; samples = 3; warmup = 1;
  timeout = "60 s"; required = "if_possible"; };
suites = ( { plugin = "ce_h2d"; params = { buffer_size = "64 MiB"; }; },
           { plugin = "ce_d2d"; params = { buffer_size = "512 MiB"; }; } );
"""
# GPUs that stand for all of a large machine: of two sockets where it has them.
MACHINES = {
    "laptop_x4": None, "h200_x1": None, "h200_x2": None, "no_peer": None,
    "grace_hopper": None, "mig": None, "pcie_dual_socket": None,
    "dgx_a100_x8": "0,1,4,6", "gb200_nvl72": "0-2,70,71",
    "hgx_h200_x8": None, "hgx_h200_x8_link_x8": "0,4-6",
    "hgx_h200_x8_far_numa": "0,4", "hgx_h200_x8_nvlink_down": "0-1,5-7",
    "hgx_h200_x8_gen3": "1-3", "hgx_h200_x8_slow_gpu": "0,7",
    "hgx_h200_x8_throttled": "2,3", "hgx_h200_x8_p2p_off": "0,1",
}


def chosen(profile, text):
    if text is None:
        return list(range(profile.count))
    ends = [part.split("-") for part in text.split(",")]
    return [gpu for part in ends
            for gpu in range(int(part[0]), int(part[-1]) + 1)]


def host_sample(profile, gpus, cell, size, copies, stock_first):
    name, gpu = cell["testcase"], gpus[cell["col"]]
    way = "h2d" if name.startswith("host") else "d2h"
    ways = [way]
    if "bidirectional" in name:
        ways.append({"h2d": "d2h", "d2h": "h2d"}[way])
    others = [g for g in gpus if g != gpu] if "all" in name else []
    order = [(g, w) for g in [gpu] + others for w in ways]
    flows = [profile.host_flow(*one) for one in order]
    return Sample(profile, flows[:1], flows[1:], size, copies, gpu,
                  stock_first, interference(cell, order[1:], name))


def interference(cell, order, where):
    """Bytes of one copy of each background flow, which are twice those of a
    counted one. Where not one of them ended while the counted ran, they are
    halves of that."""
    seen = {(f["executor"], "h2d" if f["dst_memory"] == "device" else "d2h"):
            f["bytes"] for f in cell["flows"]}
    sizes = [seen.get(one, 0) for one in order]
    usual = 2 * cell["copy_bytes"]
    for size in sizes:
        check(size in (usual, usual // 2, usual // 4),
              f"{where}: a background of {size} bytes beside {usual // 2}")
    return sizes


def peer_sample(profile, gpus, cell, size, copies, stock_first):
    name, col = cell["testcase"], gpus[cell["col"]]
    row = gpus[cell["row"]]
    reads = "read" in name
    others = [g for g in gpus if g != col]
    if name.startswith("all_to_one"):
        pairs = [(g, col) for g in others]
    elif name.startswith("one_to_all"):
        pairs = [(col, g) for g in others]
    else:
        # Forward is from row to column: who reads sits at its end.
        pairs = [(col, row) if "bidirectional" in name and reads
                 else (row, col)]
        if "bidirectional" in name:
            pairs.append(pairs[0][::-1])
    flows = [profile.peer_flow(a, b, reads) for a, b in pairs]
    return Sample(profile, flows, [], size, copies, stock_first=stock_first)


def figure_of(sample, cell):
    if cell["metric"] == "total" or "_one_" in cell["testcase"] or \
            cell["testcase"].startswith("one_"):
        return sample.total()
    return sample.bandwidth(1 if cell["metric"] == "reverse" else 0)


def check_cell(profile, gpus, cell, where):
    if not check(cell["figure"] is not None,
                 f"{where}: {cell['state']}: {cell['message']}"):
        return
    make = host_sample if cell["plugin"] == "ce_h2d" else peer_sample
    wanted = []
    for stock_first in (True, False):
        sample = make(profile, gpus, cell, cell["copy_bytes"],
                      cell["copies"], stock_first)
        wanted.append(figure_of(sample, cell))
        off = TOLERANCE + TICK / sample.seconds()
        if abs(cell["figure"] - wanted[-1]) <= off * wanted[-1]:
            return
    fault(f"{where}: {cell['figure'] / 1e9:.4f}, not "
          f"{' or '.join(f'{w / 1e9:.4f}' for w in wanted)} GB/s")


def check_machine(folder, name, devices):
    folder.write("p.cfg", PLAN)
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", name, "-c", "p.cfg",
        *(["--devices", devices] if devices else []),
        "--run-dir", f"run-{name}", timeout=280)
    equal(code, 0, f"{name}: exit code ({err[-300:]})")
    if report is None:
        return
    check_conservation(report)
    profile = Profile(name)
    gpus = chosen(profile, devices)
    peers = len(gpus) > 1 and all(
        profile.gpus[g].get("peer", 1) for g in gpus)
    for cell in cells_of(report):
        where = (f"{name}: {cell['testcase']} {cell['metric']} "
                 f"[{cell['row']},{cell['col']}]")
        if cell["plugin"] == "ce_d2d" and not peers:
            equal(cell["state"], "skip", where)
        else:
            check_cell(profile, gpus, cell, where)


with Folder() as f:
    for machine in sys.argv[1:] or MACHINES:
        check_machine(f, machine, MACHINES[machine])

finish()
