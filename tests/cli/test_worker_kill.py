# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of a run worker: the cells of the measurement in flight end as
crash, a fresh worker takes the rest, and nothing else is lost."""
import time

from harness import *

PLAN = """
name = "worker killed";
defaults = { buffer_size = "16 MiB"; };
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 4; }; },
           { plugin = "hostmem"; params = { min_samples = 15; }; } );
repeat = 3;
"""


def run_worker(host):
    """The host's child whose role is run, or None."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        parent = int(stat[stat.rindex(")") + 2:].split()[1])
        if parent == host and b"run" in words:
            return int(entry.name)
    return None


def cells_in(path):
    return path.read_text().count('"type":"cell"') if path.exists() else 0


with Folder() as f:
    f.write("p.cfg", PLAN)
    run = f.start("-c", "p.cfg", "--run-dir", "r",
                  "--report", "json=report.json")
    killed = 0
    deadline = time.monotonic() + 60
    while run.poll() is None and killed < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
        worker = run_worker(run.pid)
        if worker and cells_in(f.path / "r" / "journal.ndjson") > 6 * killed:
            try:
                os.kill(worker, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
    code = run.wait(timeout=120)
    check(killed > 0, "no worker was found")
    report = json.loads((f.path / "report.json").read_text())
    cells = cells_of(report)
    lost = [c for c in cells if c["state"] == "crash"]
    check(len(lost) <= killed, f"{killed} kills cost {len(lost)} cells")
    rest = {c["state"] for c in cells if c["state"] != "crash"}
    equal(rest, {"unchecked"}, "all other cells")
    equal(code, 4 if lost else 0, "exit code")
    for cell in lost:
        contains(cell["message"], "signal 9", "message")
    check_conservation(report)

finish()
