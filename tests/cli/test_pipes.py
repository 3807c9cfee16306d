# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Nobody waits at a pipe: a FIFO in place of a file that a command reads is told
at once, by name, and a run whose log's name is one goes on without that log."""
from harness import *

PLAN = 'suites = ( { plugin = "null"; params = { cells = 1; }; } );\n'


def refused(folder, file, *words):
    code, out, err = folder.host(*words)
    check(code == 2, f"{words}: exit {code}")
    contains(err, f"{file} is a pipe", f"{words}: what it complains about")


with Folder() as f:
    plan = f.write("p.cfg", PLAN)
    equal(f.host("-c", plan, "-q", "--run-dir", "run")[0], 0, "a run")
    fifo = f.path / "fifo"
    os.mkfifo(fifo)

    pipe = f.path / "piped"
    pipe.mkdir()
    os.mkfifo(pipe / "journal.ndjson")
    os.mkfifo(pipe / "manifest.sha256")
    for words in (("report", pipe), ("resume", pipe), ("compare", pipe, "run"),
                  ("compare", "run", pipe), ("baseline", pipe)):
        refused(f, "journal.ndjson", *words)
    refused(f, "manifest.sha256", "verify", pipe)
    refused(f, "fifo", "compare", fifo, "run")
    refused(f, "fifo", "-c", plan, "-q", "--run-dir", "b", "--baseline", fifo)
    refused(f, "fifo", "-c", plan, "-q", "--run-dir", "d", "--driver", fifo)
    refused(f, "fifo", "topo", "--driver", fifo)

finish()
