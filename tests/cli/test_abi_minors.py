# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Plugins built from a draft of the header, and such as need a newer host, are
named and refused, and the rest of the plan runs; those built from the frozen
copies of released headers run, and so do those of later ones that do not need
what is newer."""
from harness import *

FROZEN = BUILD / "tests" / "abi" / "plugins"
NEWER = BUILD / "tests/contract/plugins/newer_minor/newer_minor.so"
LATER = BUILD / "tests/contract/plugins/newer_structs/newer_structs.so"
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


test_refused("frozen_draft2", FROZEN / "frozen_draft2.so",
             ["frozen_draft2", "a draft of nvbw/plugin.h", "rebuild"])
test_refused("newer_minor", NEWER, ["newer_minor", "99"])
test_runs("frozen_v1_0", FROZEN / "frozen_v1_0.so")
test_runs("newer_structs", LATER)
finish()
