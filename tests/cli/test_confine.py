# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A worker that only looks at a plugin gains no privileges by what it starts and
has half of the machine's memory at most; one that opens the driver keeps what
the host has. Without memory the kernel ends either before the host."""
import time

from harness import *

PLUGINS = BUILD / "tests" / "contract" / "plugins"
HALF = os.sysconf("SC_PHYS_PAGES") // 2 * os.sysconf("SC_PAGESIZE")


def worker_of(host, role):
    """The host's worker of this role, once there is one, or None."""
    while host.poll() is None:
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                # Of another's process it may take long.
                if int(stat[1]) != host.pid:
                    continue
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[1:2] == [role.encode()]:
                return entry
        time.sleep(0.02)
    return None


def confinement(process):
    """(no new privileges, most bytes of data or None, score of the OOM killer),
    as it is after a moment: it confines itself as it begins."""
    status = (process / "status").read_text()
    limits = (process / "limits").read_text()
    told = [line.split()[3] for line in limits.splitlines()
            if line.startswith("Max data size")][0]
    return ("NoNewPrivs:\t1" in status,
            None if told == "unlimited" else int(told),
            int((process / "oom_score_adj").read_text()))


def seen(f, plugin, role, wanted):
    f.write("p.cfg", f'name = "confine"; defaults = {{ timeout = "60 s"; }};\n'
            f'suites = ( {{ plugin = "{plugin}"; }} );')
    host = f.start("-c", "p.cfg", "--run-dir", f"{plugin}.run", "--plugin-dir",
                   PLUGINS / plugin, "--trust-plugins")
    try:
        process = worker_of(host, role)
        if not check(process is not None, f"{plugin}: no {role} worker"):
            return
        end = time.monotonic() + 60
        got = confinement(process)
        while got != wanted and time.monotonic() < end and \
                host.poll() is None:
            time.sleep(0.02)
            got = confinement(process)
        equal(got, wanted, f"{role} worker")
    except OSError as error:
        fault(f"{plugin}: the {role} worker ended: {error}")
    finally:
        host.send_signal(signal.SIGINT)
        host.send_signal(signal.SIGINT)
        host.wait()


with Folder() as f:
    before = confinement(pathlib.Path("/proc/self"))
    half = before[1] if PATIENCE > 1 or (before[1] or HALF) < HALF else HALF
    score = max(500, before[2])
    seen(f, "loop_constructor", "describe", (True, half, score))
    seen(f, "loop_run", "run", before[:2] + (score,))

finish()
