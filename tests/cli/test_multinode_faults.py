# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A rank that hangs, is killed, or fails alone; ranks that cannot share
memory. What was measured is reported, the rank is named, and the rest has its
named state."""
import os
import signal

from ranks import *

READ = "multinode_device_to_device_memcpy_read_ce"
WRITE = "multinode_device_to_device_memcpy_write_ce"
BISECT = "multinode_bisect_write_ce"
DONE = ("unchecked", "no_limit")
ENDED = ("not_run", "mpi_ended")


def test_second_rank(fault, wanted, words, code=4):
    """Of two cells each; only rank 1 has the fault."""
    with Folder() as folder:
        # One of them hangs, and that is waited for.
        file = plan(folder, READ, WRITE, BISECT, timeout=10,
                    patience=min(PATIENCE, 3))
        got, report, stderr = mpi(
            folder, second_rank({"NVBW_SIM_FAULTS": fault}), "h200_x2", "-c",
            file)
        if not check(report is not None, f"{fault}: no report: {stderr}"):
            return
        equal(got, code, f"{fault}: exit code")
        equal([(state, reason) for _, state, reason in states_of(report)],
              wanted, f"{fault}: states")
        texts = [cell["message"] for cell in cells_of(report)
                 if cell["state"] == "error"]
        for text in texts:
            for word in words:
                contains(text or "", word, fault)


def test_rank_0_hangs():
    """Nobody but its own host can tell it."""
    with Folder() as folder:
        file = plan(folder, READ, WRITE, BISECT, timeout=10,
                    patience=min(PATIENCE, 3))
        got, report, stderr = mpi(
            folder, [(1, {"NVBW_SIM_FAULTS": "cuMemcpyAsync:25=hang"}),
                     (1, {})], "h200_x2", "-c", file)
        if not check(report is not None, f"rank 0 hangs: no report: {stderr}"):
            return
        equal(got, 4, "rank 0 hangs: exit code")
        texts = [cell["message"] for cell in cells_of(report)
                 if cell["state"] == "timeout"]
        check(texts, f"rank 0 hangs: {states_of(report)}")
        for text in texts:
            for word in ("rank 0 (host ", 'step "cells in flight"',
                         "said nothing"):
                contains(text, word, "rank 0 hangs")
        for cell in cells_of(report):
            if cell["reason"] == "mpi_ended":
                contains(cell["message"], "rank 0 (host ", "after rank 0")


def worker_of_rank(rank, folder):
    """The run worker of that rank of this test's job, or None."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().split(b"\0")
            env = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if (line[0].endswith(b"nvbw-worker") and b"run" in line and
                f"OMPI_COMM_WORLD_RANK={rank}".encode() in env and
                f"NVBW_TEST_FOLDER={folder.path}".encode() in env):
            return int(process.name)
    return None


def test_killed():
    with Folder() as folder:
        file = plan(folder, READ, WRITE, BISECT, samples=1000)
        process = subprocess.Popen(
            [MPIRUN, *map(str, command(folder, [(2, {})], "h200_x2", "-c",
                                       file))],
            cwd=folder.path, stdin=subprocess.DEVNULL,
            env={**os.environ, "NVBW_TEST_FOLDER": str(folder.path)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await_journal(process, folder.path / "run", '"type":"unit"')
        worker = worker_of_rank(1, folder)
        if check(worker is not None, "rank 1 has no worker to kill"):
            os.kill(worker, signal.SIGKILL)
        try:
            code = process.wait(60 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            fault("killed: mpirun did not end")
            return
        equal(code, 4, "killed: exit code")
        out = folder.path / "report.json"
        if not check(out.exists(), "killed: no report"):
            return
        report = json.loads(out.read_text())
        states = [(state, reason) for _, state, reason in states_of(report)]
        equal(states.count(("error", "rank_lost")), 1, f"killed: {states}")
        equal(states[-2:], [ENDED, ENDED], f"killed: {states}")
        lost = [cell["message"] for cell in cells_of(report)
                if cell["reason"] == "rank_lost"]
        for text in lost:
            contains(text, "rank 1 (host ", "killed")


def test_refused(settings, env, reason, words):
    """No rank can share memory with all others: all cells say why."""
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, two_hosts(env), rack(folder, settings), "-c",
            plan(folder, BISECT))
        if not check(report is not None, f"{reason}: no report: {stderr}"):
            return
        equal(code, 4, f"{reason}: exit code")
        equal({(cell["state"], cell["reason"]) for cell in cells_of(report)},
              {("skip", reason)}, f"{reason}: states")
        for word in words:
            contains(cells_of(report)[0]["message"], word, reason)


# Of each function that only memory between ranks needs: 1 if its failure on one
# rank ends the job, as the other ranks may hold half of it; test_sim_faults.py
# leaves these to this test. cuMemCreate is the proof that handles are granted,
# and where it fails the ranks take another kind of handle.
SHARING = {
    "cuMemAddressReserve": 1, "cuMemMap": 1, "cuMemSetAccess": 1,
    "cuMemExportToShareableHandle": 1, "cuMemImportFromShareableHandle": 1,
    "cuMemCreate": 0, "cuMemGetAllocationGranularity": 0,
    "cuMemRelease": 0, "cuMemUnmap": 0, "cuMemAddressFree": 0,
}


def test_sharing(function, ends):
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, second_rank({"NVBW_SIM_FAULTS": f"{function}:1=999"}),
            "h200_x2", "-c", plan(folder, READ))
        if not check(report is not None, f"{function}: no report: {stderr}"):
            return
        equal(code, 4 if ends else 0, f"{function}: exit code")
        equal([(state, reason) for _, state, reason in states_of(report)],
              [("error", "driver"), ENDED] if ends else [DONE, DONE],
              f"{function}: states")


need_mpi()
for name, ends_job in SHARING.items():
    test_sharing(name, ends_job)
test_second_rank("cuMemcpyAsync:25=hang",
                 [DONE, DONE, DONE, ("error", "rank_lost"), ENDED, ENDED],
                 ["rank 1 (host ", "did not answer", 'step "'])
test_second_rank("cuMemcpyAsync:25=719",
                 [DONE, DONE, DONE, ("error", "driver"), ENDED, ENDED],
                 ["rank 1 (host ", "719"])
test_second_rank("cuMemSetAccess:3=800",
                 [("error", "driver")] + [DONE] * 5, ["rank 1 (host ", "800"])
test_rank_0_hangs()
test_killed()
test_refused("gpu = { fabric = 1; };", None, "no_fabric",
             ["ranks 0-7 are in no NVLink fabric", "cluster UUID zero"])
test_refused("", {"NVBW_SIM_FAULTS": "cuMemCreate:1=800"}, "no_imex_channel",
             ["ranks 4-7 get no fabric handle", "800", "nvidia-imex"])
test_refused("gpus = (%s);" % ", ".join(
    "{ index = %d; island = 1; }" % gpu for gpu in range(4, 8)), None,
    "no_fabric", ["ranks 4-7 are in another NVLink clique"])
finish()
