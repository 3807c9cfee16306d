#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of the host and of its run worker, in mid-copy and behind a closed
gate, on a machine with a GPU:

    tests/gpu/kills.py --host BIN --out FOLDER [--kills 50] [--seconds 540]
                       [--settle 10] [--seed 1] [--moment 1.5]
                       [--shared FOLDER,...] [-- OPTION...]

BIN is nvbw-host; the options after -- go to every run. FOLDER must be new. A
round starts a run that would take hours, of one of three plans: large copies,
so that a kill meets one under way; small ones, hundreds of them in a sample, so
that about half of the time the gate is closed while they are enqueued; chains
of loads. At some moment in the first seconds of its run worker, by a generator
with a seed, the host or the worker is killed. A host that lost its worker must go on with another
one; then it is stopped by SIGINT. After each round no process of the run may be
left, the memory in use of every GPU must be what it was before, and nothing of
nvbw may be left where the runs have their temporary files or in the shared
folders (/dev/shm and /tmp). At the end a short run must exit with 0. Kills only
processes that it started and their descendants.

Prints a JSON line per round and a summary at the end, which is in FOLDER as
summary.json, too. Exit 0, or 1 where something was left or went wrong."""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

SUITES = {
    "copy": """{ plugin = "local"; tests = [ "device_local_copy_*" ];
      params = { buffer_size = "1 GiB"; }; }""",
    "gate": """{ plugin = "local"; tests = [ "device_local_copy_*" ];
      params = { buffer_size = "4 KiB"; }; }, { plugin = "ce_h2d";
      tests = [ "host_to_device_memcpy_ce", "device_to_host_memcpy_ce" ];
      params = { buffer_size = "4 KiB"; }; }""",
    "chase": """{ plugin = "latency"; tests = [ "device_local_latency_sm" ];
      params = { footprint = "64 MiB"; chase = "random"; }; }""",
}
PLAN = """
name = "kills";
defaults = { required = "if_possible"; mode = "fixed"; copies = 200;
             samples = 10000; timeout = "1 h"; };
suites = ( %s );
repeat = 1000;
"""
LAST = """
name = "after";
defaults = { required = "if_possible"; mode = "fixed"; copies = 4; samples = 2;
             buffer_size = "16 MiB"; };
suites = ( { plugin = "local"; tests = [ "device_local_*" ]; },
           { plugin = "ce_h2d"; } );
"""
PATIENCE_S = 120


def words():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--host", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--settle", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moment", type=float, default=1.5)
    parser.add_argument("--shared", default="/dev/shm,/tmp")
    own, rest = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1:]
    given = parser.parse_args(own)
    given.options = rest
    given.out = given.out.resolve()
    given.host = given.host.resolve()
    if given.out.exists() or not os.access(given.host, os.X_OK):
        print("kills.py: --host must be a program, --out a new folder")
        sys.exit(2)
    return given


def memory_used():
    """MiB of each GPU as nvidia-smi tells, or None without it."""
    if shutil.which("nvidia-smi") is None:
        return None
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,"
         "nounits"], capture_output=True, text=True, timeout=60, check=False)
    return said.stdout.split("\n")[:-1] if said.returncode == 0 else None


def processes():
    """(pid, parent, session) of all that are not dead already."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            yield int(entry.name), int(stat[1]), int(stat[3])


def in_session(leader):
    return [pid for pid, _, session in processes() if session == leader]


def is_child(pid, parent):
    return any(p == pid and of == parent for p, of, _ in processes())


def leftovers(given):
    """What shared memory and temporary files there are of runs."""
    found = {str(p) for folder in filter(None, given.shared.split(","))
             for p in pathlib.Path(folder).glob("*nvbw*")}
    return found | {str(p) for p in (given.out / "tmp").iterdir()}


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def workers_of(folder):
    """Process ids of the run workers that the journal names, in order."""
    try:
        lines = (folder / "journal.ndjson").read_bytes().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        if b'"worker_start"' in line:
            try:
                found.append(json.loads(line)["data"]["pid"])
            except ValueError:
                continue  # being written
    return found


def start(given, plan, folder, *words):
    with open(f"{folder}.log", "wb") as log:
        return subprocess.Popen(
            [given.host, "-c", plan, "--run-dir", folder, "-q",
             *words, *given.options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "NVBW_DISABLE_MULTICAST": "1",
                 "TMPDIR": str(given.out / "tmp")}, start_new_session=True)


def end_rest(leader):
    for pid in in_session(leader):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_worker(host, folder, worker):
    """None, or what went wrong. The host goes on with another worker."""
    if not is_child(worker, host.pid):
        return "its worker was gone before it was killed"
    os.kill(worker, signal.SIGKILL)
    if not wait_for(lambda: host.poll() is not None
                    or workers_of(folder)[-1] != worker, PATIENCE_S):
        return "the host did not go on with another worker"
    host.send_signal(signal.SIGINT)
    try:
        code = host.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        return "the host did not end after SIGINT"
    crashed = (folder / "journal.ndjson").read_text().count('"state":"crash"')
    if code != 4 or crashed == 0:
        return f"exit {code}, {crashed} cells crashed"
    return None


def kill_host(host):
    if host.poll() is not None:
        return f"the host had ended with {host.returncode}"
    os.kill(host.pid, signal.SIGKILL)
    host.wait()
    return None


def one_round(given, number, rng, before):
    kind = list(SUITES)[number % len(SUITES)]
    victim = rng.choice(("host", "worker"))
    moment = rng.uniform(0, given.moment)
    folder = given.out / f"round{number}"
    host = start(given, given.out / f"{kind}.cfg", folder)
    try:
        trouble = None
        if not wait_for(lambda: host.poll() is not None or workers_of(folder),
                        PATIENCE_S) or host.poll() is not None:
            trouble = "no worker began to run"
        else:
            time.sleep(moment)
            trouble = kill_host(host) if victim == "host" else \
                kill_worker(host, folder, workers_of(folder)[-1])
        settled_from = time.monotonic()
        ended = wait_for(lambda: not in_session(host.pid), given.settle)
        left = in_session(host.pid)
        freed = wait_for(lambda: memory_used() == before["memory"],
                         given.settle)
        settled = time.monotonic() - settled_from
    finally:
        end_rest(host.pid)
        host.poll()
    row = {"round": number, "plan": kind, "victim": victim,
           "moment_s": round(moment, 3), "trouble": trouble,
           "processes_left": left, "memory_back": freed,
           "files_left": sorted(leftovers(given) - before["files"]),
           "settled_s": round(settled, 2)}
    row["clean"] = trouble is None and ended and freed and not row["files_left"]
    if not freed:
        row["memory"] = memory_used()
    shutil.rmtree(folder, ignore_errors=True)
    return row


def last_run(given):
    report = given.out / "after.json"
    host = start(given, given.out / "after.cfg", given.out / "after",
                 "--report", f"json={report}")
    try:
        code = host.wait(PATIENCE_S)
        cells = [cell for unit in json.loads(report.read_text())["units"]
                 for cell in unit["cells"]]
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"exit": None, "trouble": str(error), "clean": False}
    finally:
        end_rest(host.pid)
    wrong = sum(cell.get("mismatches") or 0 for cell in cells)
    measured = sum(cell["state"] == "unchecked" for cell in cells)
    return {"exit": code, "cells": len(cells), "measured": measured,
            "mismatches": wrong,
            "clean": code == 0 and wrong == 0 and measured > 0}


def main():
    given = words()
    end = time.monotonic() + given.seconds
    (given.out / "tmp").mkdir(parents=True)
    for kind, suites in SUITES.items():
        (given.out / f"{kind}.cfg").write_text(PLAN % suites)
    (given.out / "after.cfg").write_text(LAST)
    rng = random.Random(given.seed)
    before = {"memory": memory_used(), "files": leftovers(given)}
    rows = []
    while len(rows) < given.kills and time.monotonic() < end - 30:
        rows.append(one_round(given, len(rows), rng, before))
        print(json.dumps(rows[-1]), flush=True)
    summary = {
        "kills": len(rows), "wanted": given.kills,
        "of_host": sum(row["victim"] == "host" for row in rows),
        "of_worker": sum(row["victim"] == "worker" for row in rows),
        "by_plan": {kind: sum(row["plan"] == kind for row in rows)
                    for kind in SUITES},
        "not_clean": [row for row in rows if not row["clean"]],
        "settled_s_most": max((row["settled_s"] for row in rows), default=None),
        "memory_mib": before["memory"], "next_run": last_run(given),
    }
    summary["clean"] = (len(rows) == given.kills and not summary["not_clean"]
                        and summary["next_run"]["clean"])
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    print(json.dumps(summary))
    sys.exit(0 if summary["clean"] else 1)


if __name__ == "__main__":
    main()
