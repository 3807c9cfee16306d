# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of the host at seeded moments, then resume: every cell is there
once, and what was finished more than 250 ms before is not measured again."""
import random
import time

from harness import *

PLAN = """
name = "broken off";
defaults = { buffer_size = "8 MiB"; };
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 20; }; },
           { plugin = "hostmem"; params = { max_samples = 8; }; } );
repeat = 3;
"""
ROUNDS = int(os.environ.get("NVBW_RESUME_ROUNDS", "5"))


def shape(report):
    return sorted((c["unit_id"], c["metric"], c["row"], c["col"],
                   c["state"]) for c in cells_of(report))


def settled(run_dir):
    return sum(1 for kind, _ in journal(run_dir) if kind == "cell")


with Folder() as f:
    f.write("p.cfg", PLAN)
    started = time.monotonic()
    code, whole, err = f.report("-c", "p.cfg", "--run-dir", "whole")
    length = time.monotonic() - started
    equal(code, 0, f"unbroken run ({err})")
    rng = random.Random(20261129)
    for i in range(ROUNDS):
        run = f.start("-c", "p.cfg", "--run-dir", f"r{i}")
        time.sleep(rng.uniform(0.05, length))
        run.kill()
        run.wait()
        path = f.path / f"r{i}"
        if not (path / "journal.ndjson").exists():
            continue
        code, report, err = f.report("resume", f"r{i}")
        if "journal has no" in err:
            continue
        equal(code, 0, f"resume {i} ({err})")
        if report is not None:
            equal(shape(report), shape(whole), f"cells after resume {i}")
        twice = settled(path) - settled(f.path / "whole")
        check(0 <= twice <= 60, f"round {i}: {twice} cells measured twice")

finish()
