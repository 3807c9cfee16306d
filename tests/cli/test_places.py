# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""plans/acceptance.cfg resolves from a build tree, and the host finds its
parts from wherever it is called."""
from harness import *

with Folder() as f:
    for name in ("plans/acceptance.cfg", "plans/quick.cfg"):
        code, _, err = f.host("check-plan", "-c", name)
        equal(code, 0, f"{name} ({err})")

    link = f.path / "linked"
    link.symlink_to(HOST)
    code, out, _ = f.host("list", program=link)
    contains(out, "null_cell", "through a symbolic link")

    own = f.write("plans/quick.cfg", 'name = "own"; suites = ( { plugin = "null"; } );')
    code, out, err = f.host("check-plan", "-c", "plans/quick.cfg")
    contains(out, '"own"', "a plan of the current folder comes first")

finish()
