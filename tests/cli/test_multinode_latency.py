# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Random chains of loads between two ranks under a real mpirun, alone and under
load, on a simulated machine without fixed costs, so that every figure can be
computed (as in test_sim_loaded.py)."""
from ranks import *

# ns of a load, more of it under a full load, and where that begins to be felt.
IDLE, MORE, KNEE = 700.0, 500.0, 0.8
# GB/s that reads by SMs reach, and what the way carries.
RATE, WAY = 0.45, 0.5
LOADS = [0, 40, 100]
CACHE = 4 << 20
PROFILE = """
base = "h200_x2"; name = "small"; event_resolution_ns = 0.001;
quantum_us = 0.001;
gpu = { units = 2; kernel_us = 2.0; l2_kib = %d; memory_rate = 1.0;
  latency_peer_ns = %s; latency_loaded_peer_ns = %s; latency_knee = %s;
  rate = { peer_read_sm = %s; };
  nvlink = { in = %s; out = %s; duplex = 1.2; };
};
""" % (CACHE >> 10, IDLE, MORE, KNEE, RATE, WAY, WAY)
PLAN = """
name = "latencies"; mpi = true;
defaults = { mode = "fixed"; samples = 2; warmup = 1; timeout = "%d s";
  chase = "random"; };
suites = ( { plugin = "multinode"; tests = [ "%s" ]; params = { %s }; } );
"""
LOADED = "multinode_device_to_device_latency_loaded"
RANDOM = "multinode_device_to_device_latency_sm"


def run(folder, groups, test, params):
    file = folder.write("latencies.cfg", PLAN % (20 * PATIENCE, test, params))
    code, report, stderr = mpi(
        folder, groups, folder.write("small.cfg", PROFILE), "-c", file)
    if report is None:
        fault(f"{test}: no report: {stderr}")
        finish()
    check_conservation(report)
    return code, cells_of(report)


def near(cell, wanted, tolerance, where):
    got = cell["figure"]
    check(got is not None and abs(got - wanted) <= tolerance * wanted,
          f"{where}: {got}, not {wanted} ({cell['message']})")


def test_random():
    """Of the whole footprint, which is as large as the other rank's cache
    asks for, and without what a launch takes."""
    with Folder() as folder:
        code, cells = run(folder, [(2, {})], RANDOM, "")
        equal(code, 0, "exit code")
        equal([cell["state"] for cell in cells], ["unchecked"] * 2, "states")
        for cell in cells:
            where = f"from {cell['row']} to {cell['col']}"
            near(cell, IDLE, 1e-3, where)
            equal(cell["verified"], "all", where)
            flow = cell["flows"][0]
            equal((flow["bytes"], flow["stride"]), (20 * CACHE, 0), where)
            check("cache_bound" not in cell["flags"], where)


def test_owner_empties():
    """The cache that answers is emptied by the rank whose it is: one that has
    no room for it spoils the chain through its memory, and not its own."""
    with Folder() as folder:
        code, cells = run(
            folder, second_rank({"NVBW_SIM_FAULTS": "alloc_above=4MiB"}),
            RANDOM, 'footprint = "1 MiB";')
        equal(code, 4, "exit code without room")
        equal([(cell["state"], cell["reason"]) for cell in cells],
              [("skip", "memory"), ("unchecked", "no_limit")],
              "states without room")
        contains(cells[0]["message"] or "", "rank 1 (host ", "who has no room")


def curve(part):
    return part * (1 - KNEE) / (1 - KNEE * part)


def check_loaded(cell):
    load = LOADS[cell["row"]]
    where = f"{cell['metric']} at {load} % by rank {cell['col']}"
    if cell["metric"] in ("p90", "p99"):
        equal((cell["state"], cell["reason"]), ("skip", "excluded"), where)
        return
    equal(cell["state"], "unchecked", where)
    if cell["metric"] == "latency":
        near(cell, IDLE + MORE * curve(load / 100 * RATE / WAY), 2e-3, where)
        equal([flow["load_permille"] for flow in cell["flows"]],
              [0, 10 * load] if load else [0], f"{where}: flows")
        equal({(flow["executor"], flow["src_place"])
               for flow in cell["flows"]}, {(cell["col"], 1 - cell["col"])},
              f"{where}: ranks")
        check(load == 0 or cell["cover_margin"] > 0, f"{where}: cover")
    elif load == 0:
        equal(cell["figure"], 0.0, where)
    else:
        # A chunk more or less, of those that were read meanwhile.
        near(cell, load / 100 * RATE * 1e9, 3 / 33, where)
        equal((cell["verified"], cell["mismatches"]), ("all", 0), where)


def test_loaded():
    """Either rank's GPU follows and loads, whichever tells the report."""
    with Folder() as folder:
        code, cells = run(folder, [(2, {})], LOADED,
                          f'footprint = "1 MiB"; loads = {LOADS};')
        equal(code, 4, "exit code with percentiles left out")
        equal(len(cells), 4 * len(LOADS) * 2, "cells")
        for cell in cells:
            check_loaded(cell)


def test_fault_under_load():
    """A rank that cannot queue its sample spoils that one, under which the
    others only wait."""
    with Folder() as folder:
        _, cells = run(
            folder, second_rank({"NVBW_SIM_FAULTS": "cuStreamWaitValue32:3=999"}),
            LOADED, 'footprint = "1 MiB"; loads = [ 50 ];')
        for cell in cells:
            where = f"{cell['metric']} by rank {cell['col']}"
            if cell["metric"] in ("p90", "p99"):
                continue
            equal((cell["state"], cell["reason"]),
                  ("error", "driver") if cell["col"] == 1 else
                  ("unchecked", "no_limit"), where)
            if cell["col"] == 1:
                contains(cell["message"] or "", "rank 1 (host ", where)


need_mpi()
test_random()
test_owner_empties()
test_loaded()
test_fault_under_load()
finish()
