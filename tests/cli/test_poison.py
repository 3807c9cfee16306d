# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Faults of the simulated driver, seen through the whole of the host: a sticky
error costs its own cell and a worker, a shortage of memory costs cells, and
the run goes on after both."""
from harness import *

PLAN = """
name = "poison";
defaults = { mode = "fixed"; buffer_size = "1 MiB"; copies = 2; samples = 1;
             timeout = "30 s"; };
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
                                          "device_to_host_memcpy_ce" ]; } );
"""
SIM = ["--driver", SIM, "--sim-profile", "laptop_x4"]


def run(folder, name, faults):
    return folder.report("-c", "p.cfg", *SIM, "--run-dir", name,
                         env={"NVBW_SIM_FAULTS": faults})


with Folder() as f:
    f.write("p.cfg", PLAN)

    # Each worker meets the error at its own n-th kernel, after some cells.
    code, report, stderr = run(f, "sticky", "kernel:fail=40")
    equal(code, 4, f"exit code after a sticky error ({stderr})")
    check_conservation(report)
    cells = cells_of(report)
    failed = [c for c in cells if c["state"] == "error"]
    fine = [c for c in cells if c["state"] == "unchecked"]
    equal(len(cells), 8, "cells")
    check(failed and fine, f"cells of both kinds: {[c['state'] for c in cells]}")
    equal({c["reason"] for c in failed}, {"driver"}, "reasons")
    contains(failed[0]["message"] or "", "719", "the driver's own code")
    check(cells.index(failed[0]) < cells.index(fine[-1]),
          "cells are measured after the error, by a fresh worker")
    ends = [d for kind, d in journal(f.path / "sticky") if kind == "event"]
    check(any("lost its GPU" in d["text"] for d in ends),
          f"the journal tells of the worker's end: {ends}")

    code, report, stderr = run(f, "short", "alloc_above=512KiB")
    check_conservation(report)
    cells = cells_of(report)
    equal({(c["state"], c["reason"]) for c in cells}, {("skip", "memory")},
          f"cells without memory ({stderr})")
    contains(cells[0]["message"] or "", "MiB", "the words give numbers")
    equal(code, 4, "exit code after a shortage")

finish()
