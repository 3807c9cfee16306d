# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every figure of the plugins that move bytes by copy engine or by kernel, on
every profile, against what the profile's numbers give (oracle.py): alone, both
ways over links that are shared or not, many to one, with copy engines that
take few copies at once, with costs per copy and per start of a kernel, and in
total. To 0.02 %, and one tick of an event."""
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
           { plugin = "sm_h2d"; params = { buffer_size = "64 MiB"; }; },
           { plugin = "ce_d2d"; params = { buffer_size = "512 MiB"; }; },
           { plugin = "sm_d2d"; params = { buffer_size = "512 MiB"; }; },
           { plugin = "tma"; params = { buffer_size = "512 MiB"; }; } );
"""
# With events as fine as the clock: what is read is summed up in earnest, so
# that large copies would take their time.
FINE = """
name = "fine";
defaults = { mode = "fixed"; copies = 8; samples = 1; warmup = 1;
  timeout = "60 s"; };
suites = ( { plugin = "local"; tests = [ "device_local_*" ];
  params = { buffer_size = "4 MiB"; }; } );
"""
# GPUs that stand for all of a large machine: of two sockets where it has them.
MACHINES = {
    "laptop_x4": None, "h200_x1": None, "h200_x2": None, "no_peer": None,
    "grace_hopper": None, "mig": None, "pcie_dual_socket": None,
    "pcie_switched": None, "pcie_switched_acs": "0-2",
    "pcie_switched_iommu": "0-2",
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


def initiator(cell):
    return "ce" if cell["testcase"].endswith("_ce") else "sm"


def host_sample(profile, gpus, cell, stock_first):
    name, gpu = cell["testcase"], gpus[cell["col"]]
    by = initiator(cell)
    way = "h2d" if name.startswith("host") else "d2h"
    ways = [way]
    if "bidirectional" in name:
        ways = ["both"] if by == "sm" else \
            [way, {"h2d": "d2h", "d2h": "h2d"}[way]]
    others = [g for g in gpus if g != gpu] if "all" in name else []
    order = [(g, w) for g in [gpu] + others for w in ways]
    flows = [profile.host_flow(*one, by) for one in order]
    return Sample(profile, flows[:1], flows[1:], cell["copy_bytes"],
                  cell["copies"], gpu, stock_first,
                  interference(cell, order[1:]))


def interference(cell, order):
    """Bytes of one copy of each background flow, which are twice those of a
    counted one. Where not one of them ended while the counted ran, they are
    halves of that."""
    seen = {}
    for flow in cell["flows"]:
        way = "h2d" if flow["dst_memory"] == "device" else "d2h"
        way = "both" if flow["operation"] == "split" else way
        seen[flow["executor"], way] = flow["bytes"]
    sizes = [seen.get(one, 0) for one in order]
    usual = 2 * cell["copy_bytes"]
    for size in sizes:
        check(size in (usual, usual // 2, usual // 4), f"{cell['testcase']}: "
              f"a background of {size} bytes beside {usual // 2}")
    return sizes


def peer_sample(profile, gpus, cell, stock_first):
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
    flows = [profile.peer_flow(a, b, reads, initiator(cell)) for a, b in pairs]
    return Sample(profile, flows, [], cell["copy_bytes"], cell["copies"],
                  stock_first=stock_first)


LOCAL = {"device_local_copy": "local", "device_local_copy_sm": "local_sm",
         "device_local_copy_tma": "local_sm",
         "device_local_read_sm": "read_sm", "device_local_write_sm": "write_sm"}


def local_sample(profile, gpus, cell, stock_first):
    flow = profile.local_flow(gpus[cell["col"]], LOCAL[cell["testcase"]])
    return Sample(profile, [flow], [], cell["copy_bytes"], cell["copies"],
                  stock_first=stock_first)


def figure_of(sample, cell):
    name, metric = cell["testcase"], cell["metric"]
    if metric == "total" or "_one_" in name or name.startswith("one_"):
        return sample.total()
    figure = sample.bandwidth(1 if metric == "reverse" else 0)
    if metric == "traffic":
        return 2 * figure
    # A kernel that copies both ways tells one of them.
    one_way = initiator(cell) == "sm" and "bidirectional" in name and \
        cell["plugin"] == "sm_h2d"
    return figure / 2 if one_way else figure


def check_cell(profile, gpus, cell, where, tick=TICK):
    if not check(cell["figure"] is not None,
                 f"{where}: {cell['state']}: {cell['message']}"):
        return
    make = local_sample if cell["testcase"] in LOCAL else \
        host_sample if cell["plugin"].endswith("h2d") else peer_sample
    # Derived cells tell nothing of their copies.
    if cell["metric"] == "traffic":
        size = 512 if cell["plugin"] == "tma" else 4
        cell = dict(cell, copy_bytes=size * MIB, copies=8)
    wanted = []
    for stock_first in (True, False):
        sample = make(profile, gpus, cell, stock_first)
        wanted.append(figure_of(sample, cell))
        off = TOLERANCE + tick / sample.seconds()
        if abs(cell["figure"] - wanted[-1]) <= off * wanted[-1]:
            return
    fault(f"{where}: {cell['figure'] / 1e9:.4f}, not "
          f"{' or '.join(f'{w / 1e9:.4f}' for w in wanted)} GB/s")


def run(folder, plan, name, machine, devices):
    """Without telemetry, which has no word on what a throttled GPU reaches."""
    folder.write("p.cfg", plan)
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", machine, "-c", "p.cfg",
        *(["--devices", devices] if devices else []),
        "--set", "telemetry.enabled=false", "--run-dir", "%t", timeout=280)
    equal(code, 0, f"{name}: exit code ({err[-300:]})")
    if report is None:
        return []
    check_conservation(report)
    return cells_of(report)


def check_local(folder, name, devices):
    fine = folder.write(
        "fine.cfg", f'base = "{name}"; name = "fine"; '
        "event_resolution_ns = 0.001;")
    profile = Profile(name)
    gpus = chosen(profile, devices)
    for cell in run(folder, FINE, name, fine, devices):
        check_cell(profile, gpus, cell, f"{name}: {cell['testcase']} "
                   f"{cell['metric']} [{cell['col']}]", tick=0)


def check_machine(folder, name, devices):
    profile = Profile(name)
    gpus = chosen(profile, devices)
    peers = len(gpus) > 1 and all(
        profile.gpus[g].get("peer", 1) for g in gpus)
    old = any(profile.gpus[g].get("compute", 80) < 90 for g in gpus)
    for cell in run(folder, PLAN, name, name, devices):
        where = (f"{name}: {cell['testcase']} {cell['metric']} "
                 f"[{cell['row']},{cell['col']}]")
        apart = not peers and cell["testcase"] not in LOCAL and \
            not cell["plugin"].endswith("h2d")
        if apart or (cell["plugin"] == "tma" and old):
            equal(cell["state"], "skip", where)
        else:
            check_cell(profile, gpus, cell, where)


with Folder() as f:
    for machine in sys.argv[1:] or MACHINES:
        check_machine(f, machine, MACHINES[machine])
        check_local(f, machine, MACHINES[machine])

finish()
