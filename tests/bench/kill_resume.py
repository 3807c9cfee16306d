#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of the host at seeded moments of a run on the simulated driver, then
`resume`: its report must be that of an unbroken run. As JSON:

    tests/bench/kill_resume.py [BUILD_DIR] [KILLS] [SEED]

The plan has copy engines, kernels, peers, local memory and latency, a sweep,
two rounds, a testcase that has no limit, and one that always misses its limit
and so is confirmed. Every other run is killed at a moment that is uniform over
the length of the unbroken run, the others when their journal holds a seeded
number of cells, whatever the speed of the machine; every third one is killed
once more when it is resumed, until as many kills as asked for met a live
process.

Compared is all of both JSON reports but for what time and chance make: figures,
samples and what is computed of them, times and names of the run, and numbers
in sentences. Exit 0, or 1 if a report differed."""
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

PLAN = """
name = "killed";
defaults = { mode = "fixed"; buffer_size = "4 MiB"; copies = 2; samples = 3;
  warmup = 1; required = "if_possible"; confirm = 0; };
limits = ( { match = "*ce*"; min = "50 % of expected"; } );
suites = (
  { plugin = "ce_h2d"; confirm = 2; tests = [ "host_to_device_memcpy_ce",
      "host_to_device_bidirectional_memcpy_ce" ];
    limits = ( { match = "host_to_device_memcpy_ce"; min = "62 GB/s"; } ); },
  { plugin = "sm_h2d"; tests = [ "device_to_host_memcpy_sm" ];
    params = { buffer_size = [ "2 MiB", "4 MiB" ]; }; },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ]; },
  { plugin = "local"; tests = [ "device_local_copy" ]; },
  { plugin = "latency"; tests = [ "device_local_latency_sm" ]; } );
repeat = 2;
"""
# What time and chance make.
LOOSE = {"figure", "interval", "stats", "samples", "utilisation", "margin",
         "begin_ns", "end_ns", "pilot_spread", "cover_margin", "clock_gap_ns",
         "spread_low", "spread_high", "discarded", "run_id", "command",
         "started", "started_ns", "ended", "ended_ns", "run_dir",
         "mismatch_actual", "mismatch_expected", "free_bytes",
         # Readings at moments that no other run has.
         "telemetry",
         # Of several attempts the one whose median is nearest to the figure.
         "attempt"}
SENTENCES = {"message", "what", "next"}


def settled(report):
    """The report without what time and chance make."""
    if isinstance(report, list):
        return [settled(one) for one in report]
    if not isinstance(report, dict):
        return report
    return {key: re.sub(r"-?\d+(\.\d+)?", "#", value)
            if key in SENTENCES and isinstance(value, str) else settled(value)
            for key, value in report.items() if key not in LOOSE}


def differences(one, other, at=""):
    """Where two reports differ, as paths."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [found for key in sorted(set(one) | set(other))
                for found in differences(one.get(key), other.get(key),
                                         f"{at}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and \
            len(one) == len(other):
        return [found for i, pair in enumerate(zip(one, other))
                for found in differences(*pair, f"{at}[{i}]")]
    return [] if one == other else [f"{at}: {one!r} and {other!r}"[:300]]


class Bench:
    def __init__(self, build, folder):
        self.host = build / "bin" / "nvbw-host"
        self.driver = ["--driver", build / "lib/nvbw/sim/libcuda_sim.so",
                       "--sim-profile", "h200_x2"]
        self.folder = pathlib.Path(folder)
        (self.folder / "plan.cfg").write_text(PLAN)

    def start(self, *words):
        return subprocess.Popen(
            [str(word) for word in (self.host, *words)], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def finish(self, *words):
        """(exit code, report or None, stderr)."""
        out = self.folder / "report.json"
        out.unlink(missing_ok=True)
        process = self.start(*words, "-q", "--report", f"json={out}")
        err = process.communicate()[1]
        report = json.loads(out.read_text()) if out.exists() else None
        return process.returncode, report, err

    def run_words(self, name):
        return ["-c", "plan.cfg", "--run-dir", name, *self.driver]

    def resume_words(self, name):
        return ["resume", name, *self.driver]

    def kill_at(self, moment, name, words):
        """1 if it was killed, 0 if it had ended. A moment is (seconds, None)
        or (None, cells in the journal)."""
        seconds, cells = moment
        process = self.start(*words)
        if cells is None:
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                pass
        while cells is not None and process.poll() is None and \
                self.cells(name) < cells:
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        return int(process.returncode == -signal.SIGKILL)

    def cells(self, name):
        path = self.folder / name / "journal.ndjson"
        text = path.read_bytes() if path.exists() else b""
        return text.count(b'{"type":"cell"') + text.count(b'"type": "cell"')


def a_moment(rng, number, length, planned):
    """When run `number` is killed."""
    if number % 2 == 0:
        return rng.uniform(0.02, length), None
    return None, rng.randrange(1, planned)


def one_round(bench, name, moments, whole, result):
    begun = bench.run_words(name)
    for moment in moments:
        result["kills"] += bench.kill_at(moment, name, begun)
        if not (bench.folder / name / "journal.ndjson").exists():
            break
        begun = bench.resume_words(name)
    kept = bench.cells(name)
    result["with_cells"] += int(kept > 0)
    code, report, err = bench.finish(*bench.resume_words(name))
    if report is None and kept == 0:
        # Killed before the run had begun: there is nothing to resume.
        result["before_begin"] += 1
        return
    found = differences(whole[1], settled(report))
    if code != whole[0]:
        found.insert(0, f"exit {code}, not {whole[0]}: {err[-300:]}")
    if found:
        result["differ"].append({"round": name, "moments": moments,
                                 "differences": found[:8]})
    else:
        result["equal"] += 1


def bench(build, kills, seed):
    rng = random.Random(seed)
    result = {"seed": seed, "runs": 0, "kills": 0, "with_cells": 0,
              "before_begin": 0, "equal": 0, "differ": []}
    with tempfile.TemporaryDirectory(prefix="nvbw-kill-") as folder:
        runner = Bench(build, folder)
        started = time.monotonic()
        code, report, err = runner.finish(*runner.run_words("whole"))
        middle = time.monotonic()
        if report is None:
            raise SystemExit(f"the unbroken run has no report: {err}")
        again = settled(runner.finish(*runner.run_words("again"))[1])
        length = min(middle - started, time.monotonic() - middle)
        result.update(seconds=round(length, 2), exit_code=code,
                      planned=report["counts"]["planned"])
        found = differences(settled(report), again)
        if found:
            raise SystemExit(f"two unbroken runs differ: {found[:8]}")
        while result["kills"] < kills:
            moments = [a_moment(rng, result["runs"], length,
                                result["planned"])]
            if result["runs"] % 3 == 2:
                moments.append((rng.uniform(0.02, length), None))
            one_round(runner, f"run{result['runs']}", moments,
                      (code, settled(report)), result)
            result["runs"] += 1
    return result


def main(words):
    build = pathlib.Path(words[0] if words else "build").resolve()
    result = bench(build, int(words[1]) if len(words) > 1 else 200,
                   int(words[2]) if len(words) > 2 else 20261130)
    print(json.dumps(result, indent=1))
    return 1 if result["differ"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
