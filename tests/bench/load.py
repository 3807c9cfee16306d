#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Many units and many samples through pipe, journal and reports, as JSON:

    tests/bench/load.py [BUILD_DIR] [UNITS] [SAMPLES]

UNITS (100000) units of one cell and SAMPLES (10000000) samples in cells of a
million are measured by the plugin null, with reports in JSON and CSV. Each is
done with a quarter of it before: processor time and memory may grow as the work
does, four times, and memory beyond what little work takes may not be more than
so many bytes for each unit or sample. Exit 0, or 1 where it is."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# What the host keeps of a unit with one cell until the reports are written,
# and of a sample, reports included.
UNIT_BYTES, SAMPLE_BYTES = 16 << 10, 80
# Of linear work, with some room; what is quadratic takes sixteen times.
GROWTH_MOST = 6.0
UNITS = """
name = "units";
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 1; }; } );
repeat = %d;
"""
SAMPLES = """
name = "samples";
suites = ( { plugin = "null"; tests = [ "null_samples" ];
             params = { count = %d; }; } );
repeat = %d;
"""


def measure(host, plan):
    """Exit code, CPU seconds, most KiB of memory, bytes of the journal, and how
    many cells and samples the report has."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plan.cfg").write_text(plan)
        run = subprocess.Popen(
            [host, "-c", "plan.cfg", "-q", "--run-dir", "run", "--report",
             "json=report.json", "--report", "csv=report.csv"], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        # Not as a whole: what this process takes, its children seem to take.
        with open(folder / "report.json", "rb") as report:
            cells = sum(line.lstrip().startswith(b'"utilisation":')
                        for line in report)
        return {
            "exit": run.returncode,
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
            "memory_kib": usage.ru_maxrss,
            "journal_bytes": (folder / "run" /
                              "journal.ndjson").stat().st_size,
            "report_bytes": (folder / "report.json").stat().st_size,
            "cells": cells,
        }


def grow(host, kind, count, bytes_each):
    """The same with a quarter of it and with all of it."""
    if kind == "units":
        plans = [UNITS % n for n in (max(count // 4, 1), count)]
        cells = [max(count // 4, 1), count]
    else:
        each = min(count // 4, 1000000)
        cells = [max(count // 4 // each, 1), max(count // each, 1)]
        plans = [SAMPLES % (each, n) for n in cells]
    little = measure(host, UNITS % 1)
    some, all_of_it = [measure(host, plan) for plan in plans]
    each = (all_of_it["memory_kib"] - little["memory_kib"]) * 1024 / count
    row = {"kind": kind, "count": count, "little": little, "some": some,
           "all": all_of_it, "bytes_each": round(each, 1),
           "bytes_each_most": bytes_each,
           "cpu_growth": round(all_of_it["cpu_s"] / max(some["cpu_s"], 0.01),
                               2)}
    row["complete"] = all(
        (part["exit"], part["cells"]) == (0, wanted)
        for part, wanted in zip((some, all_of_it), cells))
    row["bounded"] = each <= bytes_each
    row["linear"] = row["cpu_growth"] <= GROWTH_MOST
    return row


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    host = build.resolve() / "bin" / "nvbw-host"
    units = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    samples = int(sys.argv[3]) if len(sys.argv) > 3 else 10000000
    rows = [grow(host, "units", units, UNIT_BYTES),
            grow(host, "samples", samples, SAMPLE_BYTES)]
    json.dump(rows, sys.stdout, indent=1)
    print()
    sys.exit(0 if all(row["complete"] and row["bounded"] and row["linear"]
                      for row in rows) else 1)


if __name__ == "__main__":
    main()
