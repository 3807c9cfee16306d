# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A little of what tests/bench/load.py and burn_in_memory.py do much of: units
and samples cost the host so much memory each and no more, and rounds cost it
and the run worker none."""
from harness import *

if PATIENCE > 1:
    skip("a sanitizer keeps what was freed")
sys.path.insert(0, str(SOURCE / "tests" / "bench"))
import burn_in_memory  # noqa: E402
import load  # noqa: E402

for row in (load.grow(HOST, "units", 800, load.UNIT_BYTES),
            load.grow(HOST, "samples", 200000, load.SAMPLE_BYTES)):
    check(row["complete"], f"{row['kind']}: not all were measured: {row}")
    check(row["bounded"], f"{row['kind']}: {row}")
# The judge sees memory that grows, the host's or the worker's.
for host, worker, flat in ((0, 0, True), (1, 0, False), (0, 2, False)):
    seen = [(cells, 5000 + host * cells, 9000 + worker * cells)
            for cells in range(1, 400)]
    equal(burn_in_memory.judge(seen, 400, 1, 1, 0)["flat"], flat,
          f"host {host} KiB a cell, worker {worker}")
if SIM.exists():
    # A quick machine is done before it was looked at: then there are more.
    for rounds in (40, 160, 640):
        result = burn_in_memory.bench(BUILD, rounds)
        if "trouble" not in result:
            break
    check(result["flat"], f"burn-in: {result}")

finish()
