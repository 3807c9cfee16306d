#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A burn-in's memory, as JSON:

    tests/bench/burn_in_memory.py [BUILD_DIR] [ROUNDS]

ROUNDS (1440: one a minute for 24 h) rounds of copies, kernels and chains on the
simulated driver, whose clock is virtual, with limits and confirmations. The
memory of the host and of the run worker, which is the same from the first round
to the last, is looked at all the time, and the most of the last third may not
be more than 1 % above that of the second. When all is measured the host reads
its journal for the reports: its peak is told besides. Exit 0, or 1 where it is
otherwise."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

GROWTH_MOST = 0.01
PLAN = """
name = "burn_in";
repeat = %d;
defaults = { mode = "fixed"; buffer_size = "1 MiB"; copies = 2; samples = 2;
             warmup = 0; verify = false; confirm = 1; };
limits = ( { match = "*/bandwidth"; min = "1 %% of expected"; },
           { match = "device_local_read_sm/bandwidth"; min = "1 GB/s"; },
           { match = "device_local_copy_sm/bandwidth";
             min = "200 %% of expected"; } );
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },
  { plugin = "local"; tests = [ "device_local_copy_sm",
                                "device_local_read_sm" ]; },
  { plugin = "latency"; tests = [ "device_local_latency_sm" ];
    params = { footprint = "64 KiB"; }; }
);
"""


def memory_kib(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


class Journal:
    """What a journal that grows has of rounds and of run workers."""

    def __init__(self, file):
        self.file, self.at, self.cells, self.workers = file, 0, 0, []

    def look(self):
        if not self.file.exists():
            return
        with open(self.file, "rb") as stream:
            stream.seek(self.at)
            text = stream.read()
        end = text.rfind(b"\n") + 1
        self.at += end
        for line in text[:end].splitlines():
            self.cells += line.startswith(b'{"type":"cell"')
            if b'"worker_start"' in line:
                self.workers.append(json.loads(line)["data"]["pid"])


def watch(run, journal):
    """(cells so far, KiB of the host, KiB of the worker), over and over."""
    seen = []
    while run.poll() is None:
        time.sleep(0.02)
        journal.look()
        if journal.workers:
            now = (journal.cells, memory_kib(run.pid),
                   memory_kib(journal.workers[-1]))
            if now[0] > 0 and now[1] > 0 and now[2] > 0:
                seen.append(now)
    journal.look()
    return seen


def judge(seen, cells, workers, code, peak):
    thirds = [[s for s in seen if first <= 3 * s[0] / cells <= first + 1]
              for first in range(3)]
    if not all(thirds):
        return {"cells": cells, "looks": len(seen), "flat": False,
                "trouble": "the run was not seen often enough"}
    host = [max(kib for _, kib, _ in part) for part in thirds]
    worker = [max(kib for _, _, kib in part) for part in thirds]
    growth = [kib[2] / kib[1] - 1 for kib in (host, worker)]
    return {"exit": code, "cells": cells, "looks": len(seen),
            "workers": workers, "host_kib": host, "worker_kib": worker,
            "host_growth": round(growth[0], 4),
            "worker_growth": round(growth[1], 4), "host_peak_kib": peak,
            "flat": max(growth) <= GROWTH_MOST and workers == 1 and code == 1}


def bench(build, rounds):
    sim = build / "lib" / "nvbw" / "sim" / "libcuda_sim.so"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plan.cfg").write_text(PLAN % rounds)
        run = subprocess.Popen(
            [build / "bin" / "nvbw-host", "-c", "plan.cfg", "-q", "--run-dir",
             "run", "--driver", sim, "--sim-profile", "h200_x2"], cwd=folder,
            env={**os.environ, "NVBW_DISABLE_MULTICAST": "1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        journal = Journal(folder / "run" / "journal.ndjson")
        seen = watch(run, journal)
        return judge(seen, max(journal.cells, 1), len(set(journal.workers)),
                     run.returncode,
                     resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1440
    result = {"rounds": rounds, **bench(build.resolve(), rounds)}
    json.dump(result, sys.stdout, indent=1)
    print()
    sys.exit(0 if result["flat"] else 1)


if __name__ == "__main__":
    main()
