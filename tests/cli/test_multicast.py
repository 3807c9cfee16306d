# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The broadcasts by multicast, on the simulated driver and nowhere else: what
is stored arrives in the GPUs of all ranks, and no object is made that the plan
and the environment of every rank do not allow."""
import re

from ranks import *

ONE = "multinode_device_to_device_broadcast_one_to_all_sm"
ALL = "multinode_device_to_device_broadcast_all_to_all_sm"
BISECT = "multinode_bisect_write_ce"
MIB = 1 << 20
DONE = ("unchecked", "no_limit")

PLAN = """
name = "ranks"; mpi = true; %s
defaults = { mode = "fixed"; buffer_size = "1 MiB"; samples = 2; copies = 2;
  warmup = 1; timeout = "20 s"; };
suites = ( %s );
"""
MULTICAST = '{ plugin = "multicast"; tests = [ "%s" ]; }'
MULTINODE = '{ plugin = "multinode"; tests = [ "%s" ]; }'
ALLOWED = "allow_multicast = true;"
# Unless a test says so, whatever runs under it is told not to.
ON = {"NVBW_DISABLE_MULTICAST": "0"}


def run(what, groups, profile, suites, allow=ALLOWED, folder=None):
    """(exit code, report, functions that were called)."""
    with Folder() as own:
        folder = folder or own
        file = folder.write("p.cfg", PLAN % (allow, ", ".join(suites)))
        calls = own.path / "calls"
        groups = [(ranks, {**ON, "NVBW_SIM_CALLS": calls, **env})
                  for ranks, env in groups]
        code, report, stderr = mpi(folder, groups, profile, "-c", file)
        check(report is not None, f"{what}: no report: {stderr}")
        called = re.findall(r" (cu\w+) ", calls.read_text()
                            if calls.exists() else "")
        return code, report or {"units": [], "counts": {"planned": 0}}, called


def states(report):
    return [(cell["state"], cell["reason"]) for cell in cells_of(report)]


def test_two_ranks():
    """Started by this plugin; the other MPI plugin measures with it."""
    code, report, called = run("two ranks", [(2, {})], "h200_x2",
                               [MULTICAST % "*", MULTINODE % BISECT])
    equal(code, 0, "two ranks: exit code")
    check_conservation(report)
    equal(states(report), [DONE] * 7, "two ranks: states")
    # Of one to all one, of all to all one more.
    equal(called.count("cuMulticastCreate"), 2, "objects that were made")
    for cell in cells_of(report):
        if cell["testcase"] == ONE:
            # By each of two ranks the last copy of each of two samples.
            equal(cell["verified_bytes"], 2 * 2 * MIB, "receivers compare")
            equal(cell["verified"], "last copy", "how receivers compare")


def test_two_hosts():
    """Started by the other MPI plugin; fabric handles; every byte of eight
    receivers."""
    with Folder() as folder:
        code, report, _ = run("two hosts", two_hosts(), rack(folder),
                              [MULTINODE % BISECT, MULTICAST % "*"],
                              folder=folder)
        equal(code, 0, "two hosts: exit code")
        equal(states(report), [DONE] * (8 + 8 + 8 + 1), "two hosts: states")
        by_name = {}
        for cell in cells_of(report):
            by_name.setdefault((cell["testcase"], cell["metric"]),
                               []).append(cell)
        totals = by_name.get((ALL, "total"), [])
        each = [cell["figure"] for cell in by_name.get((ALL, "bandwidth"), [])]
        for total in totals:
            check(abs(sum(each) / total["figure"] - 1) < 0.05,
                  f"total {total['figure']} of {each}")
            equal(total["verified_bytes"], 2 * 8 * 8 * MIB, "all that arrives")
        for cell in by_name.get((ONE, "bandwidth"), []):
            equal(cell["verified_bytes"], 2 * 8 * MIB, "what arrives of one")


def test_lost_on_the_way():
    """Of one receiver: the others' words are right, and that does not do."""
    fault = {"NVBW_SIM_FAULTS": "multicast:drop=1"}
    code, report, _ = run("lost", [(2, fault)], "h200_x2", [MULTICAST % ONE])
    equal(code, 1, "lost: exit code")
    equal([state for state, _ in states(report)], ["mismatch"] * 2,
          "lost: states")
    for cell in cells_of(report):
        contains(cell["message"], "in the memory of rank 1,", "lost: by whom")


def test_refused(what, groups, profile, reason, words, allow=ALLOWED):
    code, report, called = run(what, groups, profile, [MULTICAST % "*"], allow)
    equal(code, 4, f"{what}: exit code")
    equal(set(states(report)), {("skip", reason)}, f"{what}: states")
    for word in words:
        contains(cells_of(report)[0]["message"], word, what)
    check("cuMulticastCreate" not in called, f"{what}: an object was made")


def test_faults():
    """Each function fails in one rank, spoils its cell and no other, and what
    was made until then is given back: unbinding is then part of it, and that it
    fails spoils nothing."""
    first = {"NVBW_SIM_FAULTS": "cuMulticastGetGranularity:1=800,"
                                "cuMulticastCreate:1=800,"
                                "cuMulticastUnbind:1=800"}
    second = {"NVBW_SIM_FAULTS": "cuMulticastAddDevice:1=800,"
                                 "cuMulticastBindMem:1=800"}
    suites = ['{ id = "%s"; %s' % (name, (MULTICAST % ONE)[1:])
              for name in "abc"]
    code, report, called = run("faults", [(1, first), (1, second)], "h200_x2",
                               suites)
    equal(code, 4, "faults: exit code")
    equal(states(report), [("error", "driver")] * 4 + [DONE] * 2,
          "faults: states")
    for cell, rank, words in zip(cells_of(report), (0, 0, 1, 1), (
            "granularity", "a multicast object of 2 GPUs", "being added",
            "binding memory")):
        contains(cell["message"], f"rank {rank} (host ", "faults")
        contains(cell["message"], words, "faults")
    equal(called.count("cuMulticastUnbind"), 1, "faults: what was bound")


def test_shipped():
    """Nothing that is shipped allows it, and one place makes objects."""
    for file in (SOURCE / "configs").rglob("*.cfg"):
        check(not re.search(r"^\s*allow_multicast", file.read_text(), re.M),
              f"{file} speaks of allow_multicast")
    callers = []
    for file in (SOURCE / "plugin_api").rglob("*.c"):
        callers += [file.name] * len(
            re.findall(r"(?:->|\.)\s*multicast_create\b", file.read_text()))
    equal(callers, ["multicast_guard.c"], "who calls cuMulticastCreate")


need_mpi()
test_shipped()
test_two_ranks()
test_two_hosts()
test_lost_on_the_way()
test_faults()
test_refused("not allowed", [(2, {})], "h200_x2", "multicast_disabled",
             ["allow_multicast = true"], allow="")
test_refused("switched off", second_rank({"NVBW_DISABLE_MULTICAST": 1}),
             "h200_x2", "multicast_disabled",
             ["rank 1 (host ", "NVBW_DISABLE_MULTICAST"])
test_refused("NCCL's switch", [(2, {"NCCL_NVLS_ENABLE": 0})], "h200_x2",
             "multicast_disabled", ["rank 0 (host ", "NCCL_NVLS_ENABLE=0"])
with Folder() as profiles:
    bare = profiles.write("bare.cfg", 'base = "h200_x2"; name = "bare"; '
                          "gpus = ( { index = 1; multicast = 0; } );")
    test_refused("one has none", [(2, {})], bare, "no_multicast", ["GPU 1"])
finish()
