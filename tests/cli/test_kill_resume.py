# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of the host and resume, a few times: the report is the unbroken
run's. tests/bench/kill_resume.py kills more often."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")
sys.path.insert(0, str(SOURCE / "tests" / "bench"))
import kill_resume  # noqa: E402

result = kill_resume.bench(BUILD, 9, 7)
equal(result["differ"], [], "reports that differ from the unbroken run's")
equal(result["equal"] + result["before_begin"], result["runs"], "runs")
check(result["kills"] >= 9, f"kills: {result}")
check(result["with_cells"] > 0, f"no kill left a cell: {result}")
check(result["equal"] > 0, f"no run was resumed: {result}")

# What the comparison must not pass over.
two = [{"state": "pass", "figure": 1.0, "message": "1 of 2"},
       {"state": "fail", "figure": 2.0, "message": "2 of 2"}]
equal(kill_resume.differences(*map(kill_resume.settled, two)),
      ["/state: 'pass' and 'fail'"], "differences")
finish()
