# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What the command-line tests share: run nvbw-host in a folder of its own and
look at what it left. A test is a process: it exits 0 or 1, or 77 to skip, and
prints only what went wrong."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NVBW_BUILD_DIR", SOURCE / "build"))
HOST = BUILD / "bin" / "nvbw-host"
SIM = BUILD / "lib" / "nvbw" / "sim" / "libcuda_sim.so"
# What the build was made with, and how much slower that may make it.
SANITIZERS = os.environ.get("NVBW_SANITIZE", "").split(",")
PATIENCE = 1 if SANITIZERS == [""] else 8
PLUGINS = BUILD / "lib" / "nvbw" / "plugins"
# No test may make an object of NVLink multicast on a real machine: those that
# want one of the simulated driver take this back.
os.environ["NVBW_DISABLE_MULTICAST"] = "1"

_faults = []


def fault(text):
    _faults.append(text)


def check(condition, text):
    if not condition:
        fault(text)
    return bool(condition)


def equal(got, wanted, what):
    return check(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def contains(text, part, what):
    return check(part in text, f"{what}: {part!r} is not in {text!r}")


def all_in(cells, states, what):
    """Every cell's state is one of these; those that differ with their words."""
    return check(not [cell for cell in cells if cell["state"] not in states],
                 "\n".join(f"{what}: {cell['testcase']} {cell['metric']} "
                           f"[{cell['row']},{cell['col']}] is {cell['state']} "
                           f"({cell['reason']}): {cell['message']}"
                           for cell in cells if cell["state"] not in states))


def _tell_faults(*about):
    """What was found wrong before a test broke off says why it did."""
    for text in _faults:
        print(text)
    sys.__excepthook__(*about)


sys.excepthook = _tell_faults


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def finish():
    for text in _faults:
        print(text)
    sys.exit(1 if _faults else 0)


class Folder:
    """A folder for one test, removed at its end."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="nvbw-cli-"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def host(self, *words, env=None, timeout=120, program=HOST):
        """Runs nvbw-host; returns (exit code, stdout, stderr)."""
        # A worker ends without a word on a race: let the race end it.
        races = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") +
                 ":halt_on_error=1"} if "thread" in SANITIZERS else {}
        result = subprocess.run(
            [str(program), *map(str, words)], cwd=self.path,
            env={**os.environ, **races, **(env or {})}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace",
            timeout=timeout * PATIENCE, check=False)
        return result.returncode, result.stdout, result.stderr

    def start(self, *words, env=None):
        """Starts nvbw-host and returns the process."""
        return subprocess.Popen(
            [str(HOST), *map(str, words)], cwd=self.path,
            env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def report(self, *words, env=None, timeout=120):
        """Runs with a JSON report; returns (exit code, report, stderr)."""
        out = self.path / "report.json"
        out.unlink(missing_ok=True)
        code, stdout, stderr = self.host(
            *words, "--report", f"json={out}", env=env, timeout=timeout)
        report = json.loads(out.read_text()) if out.exists() else None
        if report is None:
            fault(f"no JSON report: exit {code}\n{stdout}\n{stderr}")
        return code, report, stderr


def cells_of(report):
    """All cells in order, each with its unit's number, plugin and name."""
    return [dict(cell, plugin=unit["plugin"], testcase=unit["testcase"],
                 unit_id=unit["id"])
            for unit in report["units"] for cell in unit["cells"]]


def check_conservation(report):
    counts = dict(report["counts"])
    planned = counts.pop("planned")
    equal(sum(counts.values()), planned, "planned cells and all states")
    equal(len(cells_of(report)), planned, "cells and planned cells")


def await_journal(process, run_dir, pattern, seconds=120):
    """Polls until a line of the journal of a run that is under way matches.
    False when the run ended without such a line, or in that time."""
    path = pathlib.Path(run_dir) / "journal.ndjson"
    until = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < until:
        over = process.poll() is not None
        if path.exists() and re.search(pattern, path.read_text()):
            return True
        if over:
            break
        time.sleep(0.05)
    return False


def interrupt(process, seconds=120):
    """Asks a run to report what it has; returns its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.wait(timeout=seconds * PATIENCE)


def journal(run_dir):
    """The lines of a run's journal as (type, data)."""
    lines = (pathlib.Path(run_dir) / "journal.ndjson").read_text().splitlines()
    return [(o["type"], o["data"]) for o in map(json.loads, lines)]
