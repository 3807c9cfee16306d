# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Plugins built from a draft of the header that this one did not grow from, and
from a newer one, are named and refused, and the rest of the plan runs; those
built from the frozen copies of this draft and of older ones run."""
from harness import *

FROZEN = BUILD / "tests" / "abi" / "plugins"
NEWER = BUILD / "tests/contract/plugins/newer_minor/newer_minor.so"
PLAN = """
name = "minors";
suites = ( { plugin = "%s"; file = "%s"; },
           { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 1; }; } );
"""


def run(name, file):
    with Folder() as folder:
        folder.write("p.cfg", PLAN % (name, file))
        code, report, _ = folder.report("-c", "p.cfg", "--run-dir", "r",
                                        "--trust-plugins")
        return code, {cell["plugin"]: cell for cell in
                      cells_of(report or {"units": []})}


def test_refused(name, file, words):
    code, cells = run(name, file)
    equal(code, 5, f"{name}: exit code")
    equal(len(cells), 2, f"{name}: cells")
    for plugin, cell in cells.items():
        if plugin == "null":
            equal(cell["state"], "unchecked", f"beside {name}")
            continue
        equal((cell["state"], cell["reason"]), ("error", "refused"), name)
        for word in words:
            contains(cell["message"] or "", word, name)


def test_runs(name, file):
    code, cells = run(name, file)
    equal(code, 0, f"{name}: exit code")
    equal({cell["state"] for cell in cells.values()}, {"unchecked"}, name)


test_refused("frozen_draft0", FROZEN / "frozen_draft0.so",
             ["frozen_draft0", "draft 0", "draft 2", "from 1 on", "rebuild"])
test_refused("newer_minor", NEWER, ["newer_minor", "99"])
test_runs("frozen_draft1", FROZEN / "frozen_draft1.so")
test_runs("frozen_draft2", FROZEN / "frozen_draft2.so")
finish()
