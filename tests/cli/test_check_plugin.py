# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""check-plugin on the bundled plugins, which keep the contract, and on bad
ones: exit 5 with the number of the rule. Each call of the host is made to
fail in turn (C27)."""
from harness import *

BAD = BUILD / "tests" / "contract" / "plugins"
RULES = {
    "ignore_failure": "C27",  # crashes when a call fails
    "no_run": "C8",
    "odd_choices": "C10",
    "no_metrics": "C11",
    "shadow_standard": "C10",
    "labels_twice": "C11",
    "flow_place": "C13",
    "unsettled": "C11",
    "name_long": "C2",
    "truncated": "C23",
    "undefined_host": "C1",
}

with Folder() as f:
    for plugin in sorted(PLUGINS.glob("*.so")):
        code, out, err = f.host("check-plugin", plugin, timeout=280)
        equal(code, 0, f"{plugin.stem}: exit code ({out}{err})")
        contains(out, "keep the contract", plugin.stem)
    # What has no use without a plan is tried with one.
    f.write("p.cfg", """suites = ( { plugin = "null"; },
      { plugin = "pattern"; params = { flows = (
        { name = "ring"; from = "gpu:*"; to = "gpu:+1"; },
        { name = "pair"; from = "gpu:*"; to = "gpu:*"; order = "in_turn"; },
        { name = "far"; from = "gpu:0"; to = "gpu:77"; } ); }; } );""")
    code, out, err = f.host("check-plugin", PLUGINS / "pattern.so", "-c",
                            "p.cfg", timeout=280)
    equal(code, 0, f"pattern with flows: exit code ({out}{err})")
    f.write("q.cfg", 'suites = ( { plugin = "null"; } );')
    code, out, err = f.host("check-plugin", PLUGINS / "pattern.so", "-c",
                            "q.cfg")
    equal(code, 5, f"pattern without a suite: exit code ({out}{err})")
    contains(err, "no suite of plugin pattern", "without a suite")
    for name, rule in RULES.items():
        code, out, err = f.host("check-plugin", BAD / name / f"{name}.so",
                                "--trust-plugins")
        equal(code, 5, f"{name}: exit code ({out}{err})")
        contains(out, rule, f"{name}: rule")
    code, out, err = f.host("check-plugin",
                            BAD / "ignore_failure" / "ignore_failure.so",
                            "--trust-plugins")
    contains(out, "call 1 of the host, places()", "the call and its number")
    # A sanitizer ends the worker itself, before the bad address does.
    contains(out, "exited with status 1" if "undefined" in SANITIZERS
             else "signal 11", "what happened")

finish()
