# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Known defects: a slot with half its lanes fails, is accepted while the plan
says so, and fails again when the day is over. Never without a word."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "site";
defaults = { mode = "fixed"; buffer_size = "16 MiB"; samples = 3; };
limits = ( { match = "*"; min = "80 % of expected"; } );
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; } );
"""
KNOWN = """
accept = ( { device = "5"; match = "host_to_device_*"; until = "%s";
    why = "slot 5 has x8, board is ordered"; ticket = "OPS-1"; } );
"""


def run(folder, name, *more):
    code, out, err = folder.host("-c", "p.cfg", *more, "--run-dir", name,
        "--report", f"json={name}.json", "--driver", SIM, "--sim-profile",
        "hgx_h200_x8_link_x8")
    document = json.loads((folder.path / f"{name}.json").read_text())
    return code, out, document


with Folder() as f:
    f.write("p.cfg", PLAN)
    f.write("known.cfg", KNOWN % "2099-12-31")
    f.write("over.cfg", KNOWN % "2020-12-31")
    code, out, before = run(f, "before")
    equal((code, before["counts"]["fail"]), (1, 1), "nothing is accepted")
    equal(before["acceptances"], [], "nothing is accepted")

    code, out, known = run(f, "known", "-c", "known.cfg")
    equal(code, 0, f"exit code with the defect accepted ({out})")
    equal((known["counts"]["fail"], known["counts"]["pass"]), (1, 7),
          "an accepted cell still counts as failed")
    cells = [c for u in known["units"] for c in u["cells"] if c["accepted"]]
    equal([(c["state"], c["col_label"], c["accepted_by"], c["exit_code"])
           for c in cells], [("fail", "GPU 5", 0, 0)], "the accepted cell")
    equal({k: known["acceptances"][0][k] for k in ("why", "ticket", "file",
          "line", "cells", "ended")}, {"why": "slot 5 has x8, board is ordered",
          "ticket": "OPS-1", "file": "known.cfg", "line": 2, "cells": 1,
          "ended": False}, "the acceptance")
    for part in ("accepted fail (limit), bandwidth GPU 5: ",
                 "known: slot 5 has x8, board is ordered",
                 "GPU 5, host_to_device_*: covers 1 cell (known.cfg:2)",
                 "board is ordered, OPS-1, until 2099-12-31",
                 "7 pass, 1 fail (1 accepted)",
                 "PASSED: every limit was met, but for 1 accepted failure, "):
        contains(" ".join(out.split()), part, "text")

    code, out, over = run(f, "over", "-c", "over.cfg")
    equal(code, 1, "exit code after the last day")
    equal((over["acceptances"][0]["ended"], over["acceptances"][0]["cells"]),
          (True, 1), "the acceptance that is over")
    contains(out, "ended on 2020-12-31: slot 5", "text after the last day")

    # What the plan expects may be accepted too, and then the run begins.
    expect = "expect = { pcie_width = 16; };\n"
    f.write("expect.cfg", expect)
    code, _, refused = run(f, "refused", "-c", "expect.cfg")
    equal((code, refused["counts"]["not_run"]), (3, 8), "x8 is not expected")
    f.write("expect.cfg", expect + 'accept = ( { device = "5"; '
            'cause = "pcie width"; why = "board is ordered"; } );\n')
    code, out, accepted = run(f, "accepted", "-c", "expect.cfg")
    equal((code, accepted["counts"]["pass"]), (0, 7), f"x8 is accepted {out}")
    equal([(x["id"], x["accepted"]) for x in accepted["findings"]],
          [("expect", True), ("pcie_width", True)], "findings")
    contains(out, "GPU 5, cause pcie width: covers 1 cell, 2 findings", "text")

finish()
