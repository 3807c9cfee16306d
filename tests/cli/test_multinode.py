# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Several ranks under a real mpirun on one simulated machine: what rank 0
reports is what all of them did, and the others say nothing."""
import pathlib
import shutil

from harness import *

MPIRUN = shutil.which("mpirun")
PLUGIN = PLUGINS / "multinode.so"
PLAN = """
name = "ranks";
mpi = true;
defaults = { mode = "fixed"; buffer_size = "4 MiB"; samples = 3; copies = 4;
  timeout = "20 s"; %s };
suites = ( { plugin = "multinode"; tests = [ %s ]; } );
"""
# What two GPUs of h200_x2 do with 4 copies of 4 MiB, GB/s: bytes over
# 4.5 us a copy and the rate of the class. The clock of events ticks in 0.5 us.
WRITE_CE, READ_CE, TICK = 279.0, 277.5, 0.02


def mpi(folder, ranks, *words, profile, env=None, timeout=120):
    """Runs nvbw-host under mpirun; returns (exit code, report, stderr)."""
    out = folder.path / "report.json"
    out.unlink(missing_ok=True)
    code, _, stderr = folder.host(
        "--oversubscribe", "--allow-run-as-root", "--mca",
        "mpi_yield_when_idle", "1", "-np", ranks, HOST, "--mpi", "--driver",
        SIM, "--sim-profile", profile, "--run-dir", folder.path / "run",
        "--report", f"json={out}", *words, env=env, timeout=timeout,
        program=MPIRUN)
    return code, json.loads(out.read_text()) if out.exists() else None, stderr


def plan(folder, *tests, defaults=""):
    names = ", ".join(f'"{name}"' for name in tests)
    return folder.write("ranks.cfg", PLAN % (defaults, names))


def test_two_ranks():
    with Folder() as folder:
        file = plan(folder, "*")
        code, report, stderr = mpi(
            folder, 2, "-c", file, profile="h200_x2")
        if not check(report is not None, f"no report: {stderr}"):
            return
        equal(code, 0, "exit code of two ranks")
        check_conservation(report)
        cells = cells_of(report)
        equal({cell["state"] for cell in cells}, {"unchecked"}, "all states")
        names = {cell["testcase"] for cell in cells}
        check(len(names) >= 11, f"testcases: {sorted(names)}")
        for cell in cells:
            equal((cell["verified"], cell["verified_bytes"] > 0),
                  ("last copy", True), f"{cell['testcase']} verified")
            for direction, rate in (("write_ce", WRITE_CE),
                                    ("read_ce", READ_CE)):
                if cell["testcase"].endswith("to_device_memcpy_" + direction):
                    value = cell["figure"] / 1e9
                    check(abs(value / rate - 1) < TICK,
                          f"{cell['testcase']}: {value} GB/s, not {rate}")
        equal(len(list(folder.path.glob("run*"))), 1, "run directories")


def test_wrong_data():
    """A bit that comes wrong into rank 1's memory is seen by rank 1 and told
    by rank 0. The 12th copy is the last of a sample."""
    with Folder() as folder:
        file = plan(folder, "multinode_device_to_device_memcpy_write_ce")
        code, report, stderr = mpi(
            folder, 2, "-c", file, profile="h200_x2",
            env={"NVBW_SIM_FAULTS": "copy:flip=12"})
        if check(report is not None, f"no report: {stderr}"):
            equal(code, 1, "exit code with wrong data")
            equal(sorted(cell["state"] for cell in cells_of(report)),
                  ["mismatch", "unchecked"], "states with wrong data")


def test_too_many_ranks():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, 3, "-c", plan(folder, "*"), profile="h200_x2")
        check(report is None, "a report of three ranks on two GPUs")
        equal(code, 2, "exit code of three ranks on two GPUs")
        contains(stderr, "rank 2 is number 3 on host", "three ranks")
        equal(stderr.count("nvbw-host: MPI"), 1, "hosts that complain")


def test_one_rank():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, 1, "-c", plan(folder, "*"), profile="h200_x2")
        if check(report is not None, f"no report: {stderr}"):
            equal(code, 4, "exit code of one rank")
            equal({cell["reason"] for cell in cells_of(report)}, {"no_mpi"},
                  "reasons with one rank")


if MPIRUN is None:
    skip("mpirun is not installed")
if not PLUGIN.exists():
    skip("this build has no MPI")
test_two_ranks()
test_wrong_data()
test_too_many_ranks()
test_one_rank()
finish()
