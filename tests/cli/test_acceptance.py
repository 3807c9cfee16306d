# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""plans/acceptance.cfg as it is shipped, with the sizes that it chooses: a
healthy simulated machine meets every limit, one with a narrow link does not,
and is told of nothing else."""
from harness import *

# Of this host, whoever plays the GPUs.
NO_HOST = ("--set", "suites.hostmem.enabled=false")
NARROW = """base = "h200_x1"; name = "narrow";
gpu = { pcie = { width = 8; down = 28.5; up = 28.5; duplex = 51.1; };
        rate = { h2d = 27.75; d2h = 27.7; }; };"""
OF_THE_HOST = {"ce_h2d", "sm_h2d", "latency"}


def accept(folder, profile):
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c",
        "plans/acceptance.cfg", *NO_HOST, timeout=300)
    check(report is not None, f"{profile}: {err[-300:]}")
    return code, report


with Folder() as f:
    for profile in ("h200_x1", "h200_x2", "grace_hopper"):
        code, report = accept(f, profile)
        equal(code, 0, f"{profile}: exit code")
        all_in(cells_of(report), ("pass", "unchecked", "skip"), profile)
        equal(report["findings"], [], f"{profile}: findings")
        check(report["counts"]["pass"] > 0, f"{profile}: {report['counts']}")

    f.write("narrow.cfg", NARROW)
    code, report = accept(f, "./narrow.cfg")
    equal(code, 1, "narrow: exit code")
    equal([x["id"] for x in report["findings"]], ["pcie_width"], "narrow")
    failed = {c["plugin"] for c in cells_of(report) if c["state"] == "fail"}
    check(failed and failed <= OF_THE_HOST, f"narrow: {failed} failed")

finish()
