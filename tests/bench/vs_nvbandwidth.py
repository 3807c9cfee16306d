#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""This host and nvbandwidth in turn, on one machine, cell by cell, as JSON:

    tests/bench/vs_nvbandwidth.py NVBW_HOST NVBANDWIDTH PLAN [ROUNDS] [SET...]

PLAN is configs/plans/compare_nvbandwidth.cfg or one like it; SET are words for
--set, such as defaults.mode=adaptive. Each round runs nvbandwidth -j and then
the plan, whose figures are read from its nvbandwidth-json report, so that both
have one layout. For each testcase: the least and the median over its cells of
our median / theirs, the worst coefficient of variation of each over the
rounds, and how many of their deviations our worst cell is below them. Wall
times include the start of the processes. SIGTERM ends it with the rounds that
were complete by then. Exit 0, or 1 if either program could not be run or they
have no testcase in common."""
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def timed(words):
    """How long the words took, and what they printed."""
    started = time.monotonic()
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    return time.monotonic() - started, result


def cells(document):
    """{(testcase, row, column): figure} of nvbandwidth's JSON."""
    found = {}
    for case in document["nvbandwidth"]["testcases"]:
        for row, values in enumerate(case.get("bandwidth_matrix", [])):
            for column, value in enumerate(values):
                if value != "N/A":
                    found[case["name"], row, column] = float(value)
    return found


def run_theirs(program):
    seconds, result = timed([program, "-j"])
    start = result.stdout.find("{")
    if start < 0:
        sys.exit(f"nvbandwidth printed no JSON:\n{result.stdout}{result.stderr}")
    return seconds, cells(json.loads(result.stdout[start:]))


def run_ours(host, plan, sets, folder):
    report = pathlib.Path(folder) / "report.json"
    words = [host, "-q", "-c", plan, "--run-dir", f"{folder}/run",
             "--report", f"nvbandwidth-json={report}"]
    for word in sets:
        words += ["--set", word]
    seconds, result = timed(words)
    if not report.exists():
        sys.exit(f"nvbw-host wrote no report:\n{result.stderr}")
    return seconds, cells(json.loads(report.read_text()))


def variation(figures):
    if len(figures) < 2:
        return 0.0
    return statistics.stdev(figures) / statistics.mean(figures)


def compare(name, theirs, ours):
    """One testcase: the figures of each round, by cell."""
    keys = [key for key in theirs[0] if key[0] == name]
    ratios, deficits, cv_theirs, cv_ours = [], [], [], []
    latency = "latency" in name
    for key in keys:
        his = [cell[key] for cell in theirs if key in cell]
        own = [cell[key] for cell in ours if key in cell]
        if not own:
            continue
        ratio = statistics.median(own) / statistics.median(his)
        ratios.append(1 / ratio if latency else ratio)
        spread = variation(his) * statistics.mean(his)
        gap = statistics.median(his) - statistics.median(own)
        deficits.append((-gap if latency else gap) / spread if spread else 0.0)
        cv_theirs.append(variation(his))
        cv_ours.append(variation(own))
    if not ratios:
        return {"name": name, "missing": True}
    return {
        "name": name,
        "theirs": [round(statistics.median(c[k] for c in theirs), 2)
                   for k in keys],
        "ours": [round(statistics.median(c[k] for c in ours if k in c), 2)
                 for k in keys if k in ours[0]],
        "ratio_least": round(min(ratios), 4),
        "ratio_median": round(statistics.median(ratios), 4),
        "cv_theirs": round(max(cv_theirs), 5),
        "cv_ours": round(max(cv_ours), 5),
        "deviations_below": round(max(deficits), 2),
    }


class Stopped(Exception):
    """SIGTERM came."""


def stop(_number, _frame):
    raise Stopped


def measure(host, program, plan, sets, rounds):
    """[(their seconds, their cells, our seconds, our cells)], a round each."""
    done = []
    try:
        for i in range(rounds):
            theirs = run_theirs(program)
            with tempfile.TemporaryDirectory() as folder:
                ours = run_ours(host, plan, sets, folder)
            done.append(theirs + ours)
            print(f"round {i + 1}: {theirs[0]:.1f} s and {ours[0]:.1f} s",
                  file=sys.stderr, flush=True)
    except Stopped:
        pass
    return done


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, stop)
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    done = measure(*sys.argv[1:4], sys.argv[5:], rounds)
    if not done:
        sys.exit("no round was complete")

    his_seconds, theirs, own_seconds, ours = zip(*done)
    names = list(dict.fromkeys(key[0] for key in theirs[0]))
    cases = [compare(name, theirs, ours) for name in names]
    json.dump({
        "rounds": len(done),
        "seconds": {"theirs": [round(s, 2) for s in his_seconds],
                    "ours": [round(s, 2) for s in own_seconds]},
        "speed_ratio": round(statistics.median(his_seconds) /
                             statistics.median(own_seconds), 2),
        "testcases": cases,
    }, sys.stdout, indent=1)
    print()
    if all("missing" in case for case in cases):
        sys.exit(1)


main()
