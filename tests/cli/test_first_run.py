# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The spine: a plan with the null plugin from text to reports."""
from harness import *

PLAN = """
name = "first";
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 5; }; } );
"""

with Folder() as f:
    f.write("p.cfg", PLAN)
    code, report, stderr = f.report("-c", "p.cfg", "--run-dir", "r")
    equal(code, 0, f"exit code ({stderr})")
    cells = cells_of(report)
    equal(len(cells), 5, "cells")
    equal({c["state"] for c in cells}, {"unchecked"}, "states")
    equal(report["exit_code"], 0, "exit code in the report")
    check_conservation(report)

    kinds = [kind for kind, _ in journal(f.path / "r")]
    equal(kinds[:3], ["run", "plan", "facts"], "first lines")
    equal(kinds.count("cell"), 5, "cells in the journal")
    equal(kinds[-1], "end", "last line")

    code, out, _ = f.host("report", "r", "--report", "json=again.json")
    equal(code, 0, "report again")
    again = json.loads((f.path / "again.json").read_text())
    equal(cells_of(again), cells_of(report), "cells of the report made again")

    code, out, _ = f.host("verify", "r")
    equal(code, 0, "verify")
    with open(f.path / "r" / "journal.ndjson", "a") as journal_file:
        journal_file.write(" ")
    code, _, err = f.host("verify", "r")
    equal(code, 1, "verify after a change")
    contains(err, "journal.ndjson", "verify names the file")

    code, _, err = f.host("-c", "p.cfg", "--run-dir", "r")
    equal(code, 2, "a run directory is never used twice")

finish()
