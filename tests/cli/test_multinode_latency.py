# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Random chains of loads between two ranks under a real mpirun, on a simulated
machine without fixed costs."""
from ranks import *

IDLE, CACHE = 700.0, 4 << 20
PROFILE = """
base = "h200_x2"; name = "small"; event_resolution_ns = 0.001;
quantum_us = 0.001;
gpu = { units = 2; kernel_us = 2.0; l2_kib = %d; memory_rate = 1.0;
  latency_peer_ns = %s; };
""" % (CACHE >> 10, IDLE)
PLAN = """
name = "latencies"; mpi = true;
defaults = { mode = "fixed"; samples = 2; warmup = 1; timeout = "%d s";
  chase = "random"; };
suites = ( { plugin = "multinode"; tests = [ "%s" ]; params = { %s }; } );
"""
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


need_mpi()
test_random()
test_owner_empties()
finish()
