# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""How ranks come together and part: GPUs that a launcher deals out, builds that
differ, a rank that fails at the start, one that is told to end, a run that is
stopped, and one that cannot be resumed."""
import os
import shutil
import signal
import time

from ranks import *

READ = "multinode_device_to_device_memcpy_read_ce"
BISECT = "multinode_bisect_write_ce"


def see(gpu, **env):
    return {"NVBW_SIM_VISIBLE": gpu, **env}


def test_one_gpu_each():
    """As Slurm does with --gpus-per-task: memory is mapped all the same."""
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(1, see(0)), (1, see(1))], "h200_x2", "-c",
            plan(folder, READ, BISECT))
        if not check(report is not None, f"one GPU each: {stderr}"):
            return
        equal(code, 0, "one GPU each: exit code")
        equal({state for _, state, _ in states_of(report)}, {"unchecked"},
              "one GPU each: states")
        equal(len({gpu["uuid"] for gpu in report["facts"]["gpus"]}), 2,
              "one GPU each: GPUs")
        equal([cell["utilisation"] for cell in cells_of(report)],
              [None] * 4, "one GPU each: nobody knows the path")


def test_not_mapped():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(1, see(0)),
                     (1, see(1, NVBW_SIM_FAULTS="cuMemImportFromShareableHandle"
                             ":1=101"))], "h200_x2", "-c", plan(folder, READ))
        if not check(report is not None, f"not mapped: {stderr}"):
            return
        equal(code, 4, "not mapped: exit code")
        for cell in cells_of(report):
            equal((cell["state"], cell["reason"]),
                  ("skip", "peer_not_visible"), "not mapped")
            for word in ("memory of ranks 0 cannot", "rank 1 (host ", "101"):
                contains(cell["message"], word, "not mapped")


def test_one_gpu_twice():
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, [(1, see(0)), (1, {})], "h200_x2", "-c",
            plan(folder, READ))
        check(report is None, "a report of a GPU that two ranks have")
        equal(code, 2, "one GPU twice: exit code")
        contains(stderr, "ranks 0 and 1 on host", "one GPU twice")


def second_words(folder, words):
    """Two ranks, of which the second gets more words."""
    line = command(folder, [(1, {}), (1, {})], "h200_x2", "-c",
                   plan(folder, READ))
    code, _, stderr = folder.host(*line, *words, program=MPIRUN)
    out = folder.path / "report.json"
    return code, json.loads(out.read_text()) if out.exists() else None, stderr


def test_elsewhere():
    """The same plugin in another folder on the other host."""
    with Folder() as folder:
        (folder.path / "plugins").mkdir()
        shutil.copy(PLUGINS / "multinode.so", folder.path / "plugins")
        code, report, stderr = second_words(
            folder, ["--plugin-dir", folder.path / "plugins", "--quiet"])
        if check(report is not None, f"elsewhere: {stderr}"):
            equal(code, 0, "elsewhere: exit code")
            equal({state for _, state, _ in states_of(report)}, {"unchecked"},
                  "elsewhere: states")


def test_another_build():
    with Folder() as folder:
        (folder.path / "plugins").mkdir()
        other = folder.path / "plugins" / "multinode.so"
        other.write_bytes((PLUGINS / "multinode.so").read_bytes() + b"x")
        code, report, stderr = second_words(
            folder, ["--plugin-dir", folder.path / "plugins", "--quiet"])
        if check(report is not None, f"another build: {stderr}"):
            equal(code, 4, "another build: exit code")
            for cell in cells_of(report):
                equal((cell["state"], cell["reason"]), ("error", "system"),
                      "another build")
                contains(cell["message"], "ranks 1 have other files",
                         "another build")


def test_fails_at_the_start():
    """The run ends in a report that says which rank, in which step and why."""
    with Folder() as folder:
        code, report, stderr = mpi(
            folder, second_rank(
                {"NVBW_SIM_FAULTS": "cuDevicePrimaryCtxRetain:1=999"}),
            "h200_x2", "-c", plan(folder, READ))
        if not check(report is not None, f"at the start: {stderr}"):
            return
        equal(code, 4, "at the start: exit code")
        for cell in cells_of(report):
            equal(cell["state"], "error", "at the start")
            for word in ("rank 1 (host ", 'step "GPUs"', "999"):
                contains(cell["message"], word, "at the start")
        equal(stderr.count("nvbw-host: rank"), 1, "hosts that tell it")


def test_busy():
    """The question whether GPUs are idle is asked of those of all ranks."""
    with Folder() as folder:
        file = plan(folder, READ)
        file.write_text(file.read_text() + "expect = { idle = true; };\n")
        code, report, stderr = mpi(
            folder, second_rank({"NVBW_SIM_FAULTS": "busy=1@0"}), "h200_x2",
            "-c", file)
        if check(report is not None, f"busy: {stderr}"):
            equal(code, 3, "busy: exit code")
            equal({(state, reason) for _, state, reason in states_of(report)},
                  {("not_run", "health")}, "busy: states")
            contains(stderr, "GPU 1 is used by", "busy")


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


def begin(folder, **options):
    """Starts a long run of two ranks and returns once it has measured."""
    file = plan(folder, READ, BISECT)
    file.write_text(file.read_text() + 'cooldown = "200 ms"; repeat = 60;\n')
    process = subprocess.Popen(
        [MPIRUN, *map(str, command(folder, [(2, {})], "h200_x2", "-c", file,
                                   **options))],
        cwd=folder.path, stdin=subprocess.DEVNULL,
        env={**os.environ, "NVBW_TEST_FOLDER": str(folder.path)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    journal_file = folder.path / "run" / "journal.ndjson"
    until = time.monotonic() + 60 * PATIENCE
    while time.monotonic() < until and not (
            journal_file.exists() and
            '"type":"cell"' in journal_file.read_text()):
        time.sleep(0.05)
    return process


def end(folder, process, what):
    try:
        _, stderr = process.communicate(timeout=60 * PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        fault(f"{what}: mpirun did not end")
        return None, ""
    out = folder.path / "report.json"
    check(out.exists(), f"{what}: no report: {stderr}")
    return json.loads(out.read_text()) if out.exists() else None, stderr


def test_told_to_end():
    """A rank that ends by itself says why before it does."""
    with Folder() as folder:
        process = begin(folder)
        worker = worker_of_rank(1, folder)
        if check(worker is not None, "rank 1 has no worker"):
            os.kill(worker, signal.SIGTERM)
        report, _ = end(folder, process, "told to end")
        lost = [cell for cell in cells_of(report or {"units": []})
                if cell["state"] not in ("unchecked", "no_limit")]
        check(len(lost) > 0, "told to end: nothing lost")
        for cell in lost:
            check(cell["reason"] in ("rank_lost", "mpi_ended"),
                  f"told to end: {cell['reason']}")
            for word in ("rank 1 (host ", 'step "', "cancelled"):
                contains(cell["message"], word, "told to end")


def test_killed_says_so():
    """Why a rank's worker died is known to its own host only, which says it."""
    with Folder() as folder:
        process = begin(folder)
        worker = worker_of_rank(1, folder)
        if check(worker is not None, "rank 1 has no worker"):
            os.kill(worker, signal.SIGKILL)
        _, stderr = end(folder, process, "killed")
        contains(stderr, "nvbw-host: rank 1 (host ", "killed")
        contains(stderr, "died of signal 9", "killed")


def test_stopped():
    """SIGTERM to mpirun: rank 0 reports what it has. Such a run is over."""
    with Folder() as folder:
        # A second is not enough where others keep the disk busy.
        process = begin(folder, patience=5)
        process.send_signal(signal.SIGTERM)
        report, stderr = end(folder, process, "stopped")
        if report is None:
            return
        states = {state for _, state, _ in states_of(report)}
        equal(report["run"]["interrupted"], True, "stopped")
        check("unchecked" in states and "not_run" in states,
              f"stopped: {states}")
        check_conservation(report)
        # What was left out is told by the report, not line by line.
        check("[119/120]" not in stderr, f"stopped: {stderr}")
        code, _, stderr = folder.host(
            "resume", "run", "--driver", SIM, "--sim-profile", "h200_x2")
        equal(code, 2, "resumed: exit code")
        contains(stderr, "between MPI ranks cannot be resumed", "resumed")


def test_pause():
    """Between units rank 0 says now and then that it is still there."""
    with Folder() as folder:
        file = plan(folder, BISECT)
        file.write_text(file.read_text() +
                        'cooldown = "6 s"; repeat = 2;\n')
        code, report, stderr = mpi(folder, [(2, {})], "h200_x2", "-c", file)
        if check(report is not None, f"pause: {stderr}"):
            equal(code, 0, "pause: exit code")


need_mpi()
test_one_gpu_each()
test_not_mapped()
test_one_gpu_twice()
test_elsewhere()
test_another_build()
test_fails_at_the_start()
test_busy()
test_told_to_end()
test_killed_says_so()
test_stopped()
test_pause()
finish()
