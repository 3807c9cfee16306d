# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Ranks of nvbw-host under a real mpirun, on one simulated machine or on a
simulated rack of several hosts."""
import shutil

from harness import *

MPIRUN = shutil.which("mpirun")

PLAN = """
name = "ranks";
mpi = true;
defaults = { mode = "fixed"; buffer_size = "%s"; samples = %d; copies = %d;
  warmup = 1; timeout = "%s"; };
suites = ( { plugin = "multinode"; tests = [ %s ]; } );
"""
# Eight GPUs of a rack, four to a host.
RACK = """
base = "gb200_nvl72"; name = "two_trays"; count = 8; tray = 4; %s
"""


def need_mpi():
    if MPIRUN is None:
        skip("mpirun is not installed")
    if not (PLUGINS / "multinode.so").exists():
        skip("this build has no MPI")


def plan(folder, *tests, size="4 MiB", samples=3, copies=4, timeout=20,
         patience=PATIENCE):
    """timeout: seconds; patience: so many times as long, where sanitizers slow
    all down."""
    names = ", ".join(f'"{name}"' for name in tests)
    return folder.write("ranks.cfg", PLAN % (
        size, samples, copies, f"{timeout * patience} s", names))


def rack(folder, settings=""):
    return folder.write("rack.cfg", RACK % settings)


def command(folder, groups, profile, *words, patience=1):
    """groups: number of ranks and environment of each. patience: seconds, in
    which Open MPI lets end what it told to. One file of reports."""
    # A second is too short where sanitizers slow all down.
    line = ["--oversubscribe", "--allow-run-as-root", "--mca",
            "odls_base_sigkill_timeout", max(patience, 1 if PATIENCE == 1 else 6), "--mca",
            "mpi_yield_when_idle", "1"]
    for at, (ranks, env) in enumerate(groups):
        line += ([":"] if at > 0 else []) + ["-np", ranks]
        for name, value in env.items():
            line += ["-x", f"{name}={value}"]
        line += [HOST, "--mpi", "--driver", SIM, "--sim-profile", profile,
                 "--run-dir", folder.path / "run", "--report",
                 f"json={folder.path / 'report.json'}", *words]
    return line


def mpi(folder, groups, profile, *words, timeout=120):
    """Returns (exit code, report or None, stderr)."""
    out = folder.path / "report.json"
    out.unlink(missing_ok=True)
    shutil.rmtree(folder.path / "run", ignore_errors=True)
    code, _, stderr = folder.host(
        *command(folder, groups, profile, *words), timeout=timeout,
        program=MPIRUN)
    report = json.loads(out.read_text()) if out.exists() else None
    return code, report, stderr


def two_hosts(env=None):
    """Four ranks on each of two hosts; env: of the second's."""
    return [(4, {"NVBW_SIM_HOST": 0}),
            (4, {"NVBW_SIM_HOST": 1, **(env or {})})]


def second_rank(env):
    return [(1, {}), (1, env)]


def states_of(report):
    return [(cell["testcase"], cell["state"], cell["reason"])
            for cell in cells_of(report)]
