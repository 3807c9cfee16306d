# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""tests/gpu/kills.py on the simulated driver, a few rounds: it kills the host
and the worker, leaves nothing, and tells what is left."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")
SCRIPT = SOURCE / "tests" / "gpu" / "kills.py"


def kills(f, name, host, count, *words):
    """(exit code, rounds, summary)"""
    code, out, err = f.host(
        "--host", host, "--out", name, "--kills", count, "--seconds",
        300 * PATIENCE, "--moment", 0.3, "--shared", "", *words, "--",
        "--driver", SIM, "--sim-profile", "h200_x2", timeout=300,
        program=SCRIPT)
    equal(err, "", "what it complains about")
    lines = [json.loads(line) for line in out.splitlines()]
    return code, lines[:-1], lines[-1]


with Folder() as f:
    code, rounds, summary = kills(f, "good", HOST, 3)
    equal(code, 0, f"exit code ({summary['not_clean']}, {summary['next_run']})")
    equal({row["plan"] for row in rounds}, {"copy", "gate", "chase"}, "plans")
    equal({row["victim"] for row in rounds}, {"host", "worker"}, "victims")
    check(summary["next_run"]["measured"] > 0, f"next run: {summary}")

    # A host that leaves a process and a file behind.
    bad = f.write("bad", f"""#!/bin/sh
sleep 60 & touch "$TMPDIR/left"
exec {HOST} "$@"
""")
    bad.chmod(0o755)
    code, rounds, summary = kills(f, "bad.out", bad, 1, "--settle", 1)
    equal(code, 1, "exit code of one that leaves things behind")
    equal(len(rounds[0]["processes_left"]), 1, "processes left")
    equal([pathlib.Path(p).name for p in rounds[0]["files_left"]], ["left"],
          "files left")

finish()
