# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Several ranks under a real mpirun on one simulated machine: what rank 0
reports is what all of them did, and the others say nothing."""
import re

from ranks import *

# What two GPUs of h200_x2 do with 4 copies of 4 MiB, GB/s: bytes over
# 4.5 us a copy and the rate of the class. The clock of events ticks in 0.5 us.
RATES = {"write_ce": 279.0, "read_ce": 277.5}
TICK = 0.02
# Processes of the simulator do not contend for a link; seven ranks at once stay
# below what it can do.
SLOW_SM = "gpu = { rate = { peer_read_sm = 100.0; peer_write_sm = 100.0; }; };"
# And what its SMs do.
LATENCY, KERNEL_NS, UNITS = 827.0, 3000.0, 132
# All but latency under load, which test_multinode_latency.py has.
ALL = ("*_ce", "*_sm")
# Of nvbandwidth; the broadcasts are another plugin's.
NAMES = {f"multinode_device_to_device_{way}memcpy_{what}_{by}"
         for way in ("", "bidirectional_") for what in ("read", "write")
         for by in ("ce", "sm")} | {
    "multinode_device_to_device_all_to_one_write_sm",
    "multinode_device_to_device_all_from_one_read_sm",
    "multinode_bisect_write_ce"}


def test_two_ranks():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(2, {})], "h200_x2", "-c", plan(folder, *ALL))
        if not check(report is not None, f"no report: {stderr}"):
            return
        equal(code, 0, "exit code of two ranks")
        check_conservation(report)
        cells = cells_of(report)
        if not all_in(cells, {"unchecked"}, "two ranks"):
            return
        check(NAMES <= {cell["testcase"] for cell in cells},
              "not all of nvbandwidth's names are there")
        for cell in cells:
            name = cell["testcase"]
            for way, rate in RATES.items():
                if name == "multinode_device_to_device_memcpy_" + way:
                    value = cell["figure"] / 1e9
                    check(abs(value / rate - 1) < TICK,
                          f"{name}: {value} GB/s, not {rate}")
        latencies = [cell for cell in cells if cell["metric"] == "latency"]
        equal(len(latencies), 2, "latencies of two ranks")
        for cell in latencies:
            # nvbandwidth's million of loads, dealt over the SMs.
            steps = 1000000 // UNITS
            check(abs(cell["figure"] - LATENCY - KERNEL_NS / steps) < 1.0,
                  f"a load takes {cell['figure']} ns, not {LATENCY}")
            equal(cell["verified"], "all", "walks that were compared")
            check(abs((cell["spread_low"] or 0) - cell["figure"]) < 5,
                  f"spread over SMs: {cell['spread_low']}")
        equal([(gpu["index"], gpu["host"] is not None)
               for gpu in report["facts"]["gpus"]], [(0, True), (1, True)],
              "one GPU a rank")
        equal(len(list(folder.path.glob("run*"))), 1, "run directories")


def test_two_hosts():
    """Everything there is, by fabric handles between two hosts, verified by
    the owners of the memory."""
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, two_hosts(), rack(folder, SLOW_SM), "-c",
            plan(folder, *ALL, size="1 MiB", samples=1, copies=1))
        if not check(report is not None, f"no report: {stderr}"):
            return
        equal(code, 0, "exit code of two hosts")
        check_conservation(report)
        cells = cells_of(report)
        if not all_in(cells, {"unchecked"}, "two hosts"):
            return
        for cell in cells:
            if "derived" not in cell["flags"]:
                check(cell["verified"] is not None and
                      cell["verified_bytes"] > 0,
                      f"{cell['testcase']} was not verified")
        equal([gpu["host"] for gpu in report["facts"]["gpus"]],
              ["host-0"] * 4 + ["host-1"] * 4, "hosts of the ranks")


def test_partners():
    """Columns of draws tell who the partner was, in words."""
    with Folder() as folder:
        text = folder.path / "report.txt"
        code, report, stderr = mpi(
            folder, second_rank({}), "h200_x2", "-c",
            plan(folder, "multinode_gpu_to_rack_write_ce"), "--report",
            f"text={text}")
        equal(code, 0, f"partners: exit code ({stderr})")
        if not check(text.exists(), f"partners: {stderr}"):
            return
        told = " ".join(text.read_text().split())
        found = re.search(r" at rank (\d) > #\d \(with rank (\d)\)", told)
        if check(found, f"no partner in {told}"):
            equal(sorted(found.groups()), ["0", "1"], "partners")
        contains(told, "2 x NVIDIA H200 ranks 0-1 on ", "heading")


def test_dry_run():
    """No rank joins another: each would print all, rank 0 does."""
    with Folder() as folder:
        code, out, stderr = folder.host(
            *command(folder, [(2, {})], "h200_x2", "-c", "plans/multinode.cfg",
                     "--dry-run", "-q"), program=MPIRUN)
        equal(code, 0, f"exit code of a dry run ({stderr})")
        equal(out.count("each GPU stands for a rank"), 1, "ranks that print")
        contains(out, "multinode_rack_to_rack_write_ce (rack_to_rack): 1 cell\n", "racks")


def test_wrong_data():
    """A bit that comes wrong into another rank's memory is seen by that rank
    and told by rank 0. The ninth copy is the last of a sample."""
    with Folder() as folder:
        file = plan(folder, "multinode_device_to_device_memcpy_write_ce")
        code, report, stderr = mpi(
            folder, second_rank({"NVBW_SIM_FAULTS": "copy:flip=9"}), "h200_x2",
            "-c", file)
        if check(report is not None, f"no report: {stderr}"):
            equal(code, 1, "exit code with wrong data")
            equal([state for _, state, _ in states_of(report)],
                  ["unchecked", "mismatch"], "states with wrong data")


def test_broken_chain():
    """Of loads: the links that did not arrive in the other rank's memory."""
    with Folder() as folder:
        file = plan(folder, "multinode_device_to_device_latency_sm")
        code, report, stderr = mpi(
            folder, second_rank({"NVBW_SIM_FAULTS": "copy:skip=1"}), "h200_x2",
            "-c", file)
        if check(report is not None, f"no report: {stderr}"):
            equal(code, 1, "exit code with a broken chain")
            equal([state for _, state, _ in states_of(report)],
                  ["unchecked", "mismatch"], "states with a broken chain")
            contains(cells_of(report)[1]["message"], "chain of loads broken",
                     "broken chain")


def test_too_many_ranks():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(3, {})], "h200_x2", "-c", plan(folder, "*"))
        check(report is None, "a report of three ranks on two GPUs")
        equal(code, 2, "exit code of three ranks on two GPUs")
        contains(stderr, "rank 2 is number 3 on host", "three ranks")
        equal(stderr.count("nvbw-host: MPI"), 1, "hosts that complain")


def test_one_rank():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(1, {})], "h200_x2", "-c", plan(folder, "*"))
        if check(report is not None, f"no report: {stderr}"):
            equal(code, 4, "exit code of one rank")
            equal({reason for _, _, reason in states_of(report)}, {"no_mpi"},
                  "reasons with one rank")


need_mpi()
test_two_ranks()
test_two_hosts()
test_partners()
test_dry_run()
test_wrong_data()
test_broken_chain()
test_too_many_ranks()
test_one_rank()
finish()
