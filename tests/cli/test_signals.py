# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGINT once: what was measured is reported, exit 4."""
import time

from harness import *

PLAN = """
name = "long";
defaults = { buffer_size = "16 MiB"; };
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 2; }; },
           { plugin = "hostmem"; params = { min_samples = 15; }; },
           { plugin = "hostmem"; id = "again"; } );
repeat = 200;
"""

with Folder() as f:
    f.write("p.cfg", PLAN)
    run = f.start("-c", "p.cfg", "--run-dir", "r",
                  "--report", "json=report.json")
    journal_file = f.path / "r" / "journal.ndjson"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if journal_file.exists() and '"cell"' in journal_file.read_text():
            break
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    code = run.wait(timeout=30)
    check(code in (4,), f"exit code {code}, not 4")
    report = json.loads((f.path / "report.json").read_text())
    states = {c["state"] for c in cells_of(report)}
    check("unchecked" in states, f"something was measured: {states}")
    check("not_run" in states, f"the rest was not run: {states}")
    check_conservation(report)
    # What was left out is one line of the 600 units.
    code, text, err = f.host("report", "r")
    rest = " ".join(text[text.index("What did not pass"):].split())
    equal(rest.count("not_run (stopped)"), 1,
          f"sentences on what was not run ({err})")
    contains(rest, " to hostmem/", "first and last")

finish()
