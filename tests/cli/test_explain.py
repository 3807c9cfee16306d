# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""check-plan --explain-limits: every cell's limit, its formula and where it
was written, from flows that were only recorded."""
from harness import *

PLAN = """
name = "limits";
limits = ( { match = "*"; min = "90 % of expected"; },
           { match = "device_to_host_memcpy_ce"; min = "12.5 GB/s"; } );
suites = ( { plugin = "ce_h2d"; } );
"""

if not SIM.exists():
    skip("the simulated driver is not built")

with Folder() as f:
    f.write("p.cfg", PLAN)
    code, out, err = f.host("check-plan", "-c", "p.cfg", "--explain-limits",
                            "--driver", SIM, "--sim-profile", "h200_x2")
    equal(code, 0, f"exit code ({err})")
    # Gen5 x16, both directions of one GPU, at the efficiency of its class.
    link = 32e9 * 16 * 128 / 130 / 8
    lines = out.splitlines()
    heads = [line for line in lines if ": at least" in line]
    equal(len(heads), 28, "cells with a limit")
    quiet = [l for l in heads if l.startswith("host_to_device_memcpy_ce")]
    contains(quiet[0], f"{0.9 * 0.88 * link / 1e9:.2f} GB/s", "quiet limit")
    own = [l for l in heads if l.startswith("device_to_host_memcpy_ce")]
    for line in own:
        contains(line, "at least 12.50 GB/s, 12.5 GB/s", "absolute limit")
    total = [i for i, l in enumerate(lines)
             if l.startswith("all_to_host_bidirectional") and " total " in l]
    contains(lines[total[0] + 1], "4 x (PCIe", "base of a total")
    contains(lines[total[0] + 1], "both ways", "class of a total")
    contains(out, "from p.cfg:3", "place of a limit")
    equal([p.name for p in f.path.iterdir()], ["p.cfg"], "nothing is written")

finish()
