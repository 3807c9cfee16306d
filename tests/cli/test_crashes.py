# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Workers that crash one after the other leave nothing behind: no descriptor
in the host, no process, and no memory that grows but for what the records of
the cells take. Argument: how many crashes at least (45)."""
import time

from harness import *

FOLDER = BUILD / "tests" / "contract" / "plugins" / "segfault_always"
CRASHES = int(sys.argv[1]) if len(sys.argv) > 1 else 45
# Three cells of the testcase's five crash, then it is left alone.
PLAN = """
name = "crashes";
suites = ( { plugin = "segfault_always"; } );
repeat = %d;
"""
# Records and events of five cells; about 7 were seen.
UNIT_KIB = 16
LOOKS_LEAST = 9


def descriptors(process):
    return len(list(pathlib.Path(f"/proc/{process}/fd").iterdir()))


def memory_kib(process):
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    for line in text.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def in_session(folder):
    """Processes that have this test's folder for a working directory."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.path.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def watch(run, journal_file, wanted):
    """(crashes so far, descriptors, KiB) now and then while it measures; the
    reports at the end take memory of their own."""
    seen = []
    while run.poll() is None:
        time.sleep(0.05)
        try:
            crashes = journal_file.read_text().count('"state":"crash"')
            now = crashes, descriptors(run.pid), memory_kib(run.pid)
        except OSError:
            continue
        if now[2] > 0 and crashes < wanted:
            seen.append(now)
    return seen


def crash(f, wanted):
    """Looks at a run of so many crashes; 1 if it was seen often enough."""
    f.write("p.cfg", PLAN % ((wanted + 2) // 3))
    shutil.rmtree(f.path / "r", ignore_errors=True)
    run = f.start("-c", "p.cfg", "--run-dir", "r", "--plugin-dir", FOLDER,
                  "--trust-plugins", "--report", "json=report.json")
    seen = watch(run, f.path / "r" / "journal.ndjson", wanted)
    equal(run.returncode, 4, "exit code")
    report = json.loads((f.path / "report.json").read_text())
    check_conservation(report)
    crashes = [c for c in cells_of(report) if c["state"] == "crash"]
    equal(len(crashes), (wanted + 2) // 3 * 3, "crashes")
    equal(in_session(f), [], "processes left")
    if len(seen) < LOOKS_LEAST:
        return 0
    # The pipes of one or two workers come and go; what is lost would stay, and
    # be one of each crash at least.
    third = len(seen) // 3
    first, last = seen[:third], seen[-third:]
    early = min(fds for _, fds, _ in first)
    late = min(fds for _, fds, _ in last)
    check(late <= early + 12, f"descriptors: {early} at first, {late} later")
    units = (last[-1][0] - first[-1][0]) / 3
    kib = [max(kib for _, _, kib in part) for part in (first, last)]
    # A sanitizer keeps what was freed.
    check(PATIENCE > 1 or kib[1] <= kib[0] + 1024 + UNIT_KIB * units,
          f"memory: {kib[0]} KiB at first, {kib[1]} KiB after {units:.0f} units")
    if len(sys.argv) > 1:
        print(f"{len(crashes)} crashes: {early} descriptors at first, {late} "
              f"at the end; {kib[0]} KiB and {kib[1]} KiB")
    return 1


with Folder() as f:
    # A quick machine is done before it was looked at: then there are more.
    check(any(crash(f, CRASHES * times) for times in (1, 4, 16, 64)),
          "no run was seen often enough")

finish()
