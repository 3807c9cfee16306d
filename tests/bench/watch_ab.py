#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Does telemetry disturb what it watches?

Runs one small plan with telemetry and without, in turns (ABBA), and compares
the figures of each cell pair by pair. Per class of traffic: the mean difference
(on - off, in percent of off), its 95 % interval by Student's t over the pairs,
whether it is below 0.3 %, and whether 0 is inside the interval, which by chance
it is not for one class in twenty. Also how long readings took and what a run
lasted, either way.

    tests/bench/watch_ab.py --build build -o watch_ab.json
    tests/bench/watch_ab.py --driver build/lib/nvbw/sim/libcuda_sim.so \\
        --sim-profile h200_x2 --pairs 2      # a rehearsal

Takes --seconds (75) and the run that was under way then. Exit 0: undisturbed,
1: disturbed, 2: it could not be measured."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PLAN = """
name = "watch_ab";
defaults = { required = "no"; confirm = 0; max_samples = 15;
             min_samples = 8; };
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
                                 "device_to_host_memcpy_ce" ]; },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ]; },
  { plugin = "sm_h2d"; tests = [ "host_to_device_memcpy_sm" ]; },
  { plugin = "sm_d2d"; tests = [ "device_to_device_memcpy_read_sm" ]; },
  { plugin = "local"; tests = [ "device_local_copy" ]; },
  { plugin = "latency"; tests = [ "device_to_device_latency_sm" ]; }
);
"""
BOUND_PERCENT = 0.3
LEAST_PAIRS = 3
# Two-sided 95 % of Student's t by degrees of freedom; beyond: nearly normal.
T95 = [math.nan, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
       2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]


def run(options, folder, number, enabled):
    """({(testcase, metric, row, col): figure}, [longest reading of each cell,
    ms], seconds)"""
    report = folder / f"{number}.json"
    words = [options.build / "bin" / "nvbw-host", "-q", "-c",
             folder / "plan.cfg", "--run-dir", folder / f"run_{number}",
             "--set", f"telemetry.enabled={str(enabled).lower()}",
             "--report", f"json={report}", "--report", "text=/dev/null"]
    if options.driver:
        words += ["--driver", options.driver]
    if options.sim_profile:
        words += ["--sim-profile", options.sim_profile]
    began = time.monotonic()
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                          timeout=300, check=False)
    seconds = time.monotonic() - began
    if not report.exists():
        sys.exit(f"watch_ab: no report: {done.stderr[-500:]}")
    figures = {}
    for unit in json.loads(report.read_text())["units"]:
        for cell in unit["cells"]:
            if cell["figure"] is not None:
                figures[unit["testcase"], cell["metric"], cell["row"],
                        cell["col"]] = cell["figure"]
    journal = folder / f"run_{number}" / "journal.ndjson"
    took = [telemetry["took_ns"] * 1e-6
            for line in map(json.loads, journal.read_text().splitlines())
            if line["type"] == "cell"
            for telemetry in line["data"].get("telemetry", [])[:1]]
    return figures, took, seconds


def compare(pairs):
    """Rows per class, from [(on, off)] of figures by cell."""
    rows = []
    cells = set.intersection(*(set(on) & set(off) for on, off in pairs))
    for name in sorted({cell[:2] for cell in cells}):
        mine = [cell for cell in cells if cell[:2] == name]
        each = [100.0 * statistics.mean(on[c] / off[c] - 1.0 for c in mine)
                for on, off in pairs]
        mean = statistics.mean(each)
        spread = T95[min(len(each), len(T95)) - 1] * \
            statistics.stdev(each) / math.sqrt(len(each))
        rows.append({
            "class": name[0] + ("" if name[1] == "bandwidth" else
                                "/" + name[1]),
            "cells": len(mine), "pairs": len(each),
            "difference_percent": round(mean, 4),
            "low_percent": round(mean - spread, 4),
            "high_percent": round(mean + spread, 4),
            "below_bound": abs(mean) < BOUND_PERCENT,
            "zero_inside": mean - spread <= 0.0 <= mean + spread})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--driver")
    parser.add_argument("--sim-profile")
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--pairs", type=int, default=12, help="at most")
    parser.add_argument("-o", "--output", help="the JSON; without it stdout")
    options = parser.parse_args()
    began = time.monotonic()
    pairs, took, wall = [], [], {True: [], False: []}

    with tempfile.TemporaryDirectory(prefix="nvbw-ab-") as name:
        folder = pathlib.Path(name)
        (folder / "plan.cfg").write_text(PLAN)
        run(options, folder, "warm", True)  # page cache and clocks
        while len(pairs) < options.pairs and (
                len(pairs) < LEAST_PAIRS or
                time.monotonic() - began < options.seconds):
            figures = {}
            first = len(pairs) % 2 == 0
            for enabled in (first, not first):
                number = f"{len(pairs)}_{int(enabled)}"
                figures[enabled], ms, seconds = run(options, folder, number,
                                                    enabled)
                took += ms
                wall[enabled].append(seconds)
            pairs.append((figures[True], figures[False]))
    rows = compare(pairs)
    if not rows:
        sys.exit("watch_ab: nothing was measured")
    quiet = all(row["below_bound"] for row in rows)
    result = {
        "undisturbed": quiet, "bound_percent": BOUND_PERCENT,
        "classes": rows,
        "reading_ms": {"count": len(took),
                       "median": round(statistics.median(took), 3),
                       "most": round(max(took), 3)} if took else None,
        "wall_s": {"on": round(statistics.median(wall[True]), 3),
                   "off": round(statistics.median(wall[False]), 3)},
        "seconds": round(time.monotonic() - began, 1)}
    text = json.dumps(result, indent=1) + "\n"
    if options.output:
        pathlib.Path(options.output).write_text(text)
    for row in rows:
        print(f"{row['class']:45} {row['difference_percent']:+8.4f} % "
              f"[{row['low_percent']:+.4f}, {row['high_percent']:+.4f}]  "
              f"{'below' if row['below_bound'] else 'ABOVE'} "
              f"{BOUND_PERCENT} %, 0 "
              f"{'inside' if row['zero_inside'] else 'OUTSIDE'}",
              file=sys.stderr)
    if not options.output:
        print(text, end="")
    return 0 if quiet else 1


if __name__ == "__main__":
    sys.exit(main())
