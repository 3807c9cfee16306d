#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What the host itself costs, as JSON, on a quiet machine:

    tests/bench/host_overhead.py [BUILD_DIR] [REPEATS]

Each time is the median of REPEATS runs; cpu_* is processor time of the host
and its workers, which a busy machine hardly changes. true_spawn_ms is what
/bin/true costs here, started and awaited: no worker can cost less. Exit 0, or
1 if a figure is beyond its target."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
HOST = BUILD / "bin" / "nvbw-host"
MANY = BUILD / "tests" / "bench" / "plugins"
FEW_CELLS, MANY_CELLS = 100, 5100
SAMPLES = 1000000
TARGETS = {
    "cell_ms": 1.0,
    "worker_spawn_ms": 10.0,
    "list_20_plugins_ms": 100.0,
    "host_rss_mb": 20.0,
    "host_stripped_bytes": 1 << 20,
}


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


class Peak(threading.Thread):
    """The most memory that a process has had, asked for while it runs."""

    def __init__(self, pid):
        super().__init__()
        self.status = pathlib.Path(f"/proc/{pid}/status")
        self.kib = 0

    def run(self):
        while True:
            try:
                text = self.status.read_text()
            except OSError:
                return
            if "VmHWM:" not in text:
                return
            self.kib = int(text.split("VmHWM:")[1].split()[0])
            time.sleep(0.002)


def run(folder, *words, codes=(0,)):
    """Returns (wall seconds, processor seconds, peak KiB of the host)."""
    log = folder / "log"
    with open(log, "w", encoding="utf-8") as out:
        begin = time.monotonic()
        process = subprocess.Popen([str(HOST), *map(str, words)], cwd=folder,
                                   stdout=out, stderr=out)
        peak = Peak(process.pid)
        peak.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    peak.join()
    if process.returncode not in codes:
        sys.exit(f"{words}: exit {process.returncode}\n{log.read_text()}")
    return wall, cpu_seconds(usage), peak.kib


def run_plan(folder, text):
    (folder / "plan.cfg").write_text(text)
    shutil.rmtree(folder / "run", ignore_errors=True)
    return run(folder, "-c", "plan.cfg", "--run-dir", "run", "--report",
               "json=report.json")


def cells_plan(count):
    return f"""suites = ( {{ plugin = "null"; tests = [ "null_cell" ];
        params = {{ cells = {count}; }}; }} );"""


def median_of(measure):
    """Medians over REPEATS calls, one for each of what measure returns."""
    rows = [measure() for _ in range(REPEATS)]
    return [statistics.median(column) for column in zip(*rows)]


def measure_cells(folder, out):
    def difference():
        few = run_plan(folder, cells_plan(FEW_CELLS))
        many = run_plan(folder, cells_plan(MANY_CELLS))
        cells = MANY_CELLS - FEW_CELLS
        return ((many[0] - few[0]) * 1e3 / cells,
                (many[1] - few[1]) * 1e3 / cells, few[0] * 1e3, few[2],
                many[2])

    (out["cell_ms"], out["cpu_cell_ms"], out["run_of_100_cells_ms"], small,
     large) = median_of(difference)
    out["host_rss_mb"] = small * 1024 / 1e6
    out["host_rss_5100_cells_mb"] = large * 1024 / 1e6


def measure_list(folder, out):
    """20 plugins beside those of the build, each described by a worker."""
    def difference():
        many = run(folder, "list", "--plugin-dir", MANY)
        none = run(folder, "list")
        return (many[0] * 1e3, many[1] * 1e3, (many[0] - none[0]) * 1e3 / 20)

    (out["list_20_plugins_ms"], out["cpu_list_20_plugins_ms"],
     out["worker_spawn_ms"]) = median_of(difference)


def measure_true(_, out):
    def spawn():
        begin = time.monotonic()
        for _ in range(20):
            subprocess.run(["/bin/true"], check=True)
        return ((time.monotonic() - begin) * 1e3 / 20,)

    (out["true_spawn_ms"],) = median_of(spawn)


def measure_samples(folder, out):
    plan = f"""suites = ( {{ plugin = "null"; tests = [ "null_samples" ];
        params = {{ count = {SAMPLES}; }}; }} );"""
    wall, cpu, peak = run_plan(folder, plan)
    report = json.loads((folder / "report.json").read_text())
    samples = report["units"][0]["cells"][0]["samples"]
    out["million_samples_s"] = wall
    out["cpu_million_samples_s"] = cpu
    out["host_rss_million_samples_mb"] = peak * 1024 / 1e6
    out["samples_lost"] = SAMPLES - len(samples)
    out["samples_changed"] = sum(
        got != 1000 + i % 1000 for i, got in enumerate(samples))


def measure_size(folder, out):
    stripped = folder / "stripped"
    subprocess.run(["strip", "-o", stripped, HOST], check=True)
    out["host_stripped_bytes"] = stripped.stat().st_size


result = {"repeats": REPEATS, "load_at_begin": os.getloadavg()[0]}
with tempfile.TemporaryDirectory(prefix="nvbw-bench-") as name:
    for measure in (measure_cells, measure_list, measure_true,
                    measure_samples, measure_size):
        measure(pathlib.Path(name), result)
missed = [name for name, most in TARGETS.items() if result[name] > most]
if result["samples_lost"] or result["samples_changed"]:
    missed.append("samples")
result = {name: round(value, 4) if isinstance(value, float) else value
          for name, value in result.items()}
print(json.dumps({**result, "targets": TARGETS, "missed": missed}, indent=2))
sys.exit(1 if missed else 0)
