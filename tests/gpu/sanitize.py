#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""compute-sanitizer over the engine's kernels, on a machine with a GPU:

    tests/gpu/sanitize.py PREFIX OUT [SECONDS] [--sanitizer FILE]
                          [--tools TOOL,...] [-- OPTION...]

PREFIX is an unpacked bundle, or a build folder; the options after -- go to
every run. One plan of small copies and short chains reaches every kernel of
kernels/*.cu, but for the one of multicast, which is never launched here, and
nvbw_read_paced, which must run beside another kernel where a sanitizer runs them
one by one; the worker runs under each tool in turn. SECONDS (540) are for all of them together;
what is not reached by then is said. Prints a JSON line per tool and leaves it,
with logs and reports, in OUT. Exit 0, 1 where a tool found something or a
kernel was not seen, 2 where it could not be tried.

A plugin's kernels count as seen when all its cells were measured and verified:
tests/cli/test_sanitize.py shows on the simulated driver that these are the
kernels which the plan launches."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
ENGINE = "gate fill poison compare sum"
# Plugin: the kernels that its part of the plan launches.
KERNELS = {
    "local": "copy read write pattern_sum numbers_fill numbers_compare "
             "numbers_sum stream_copy stream_scale stream_add stream_triad "
             "stream_dot",
    "sm_h2d": "copy_wide split",
    "tma": "tma",
    "access": "access_copy access_read access_write access_compare access_sum",
    "latency": "chase chase_bulk chase_lay chase_lap",
}
# A checker may let kernels run one by one, so nothing waits behind a gate: the
# gate's kernel runs when the GPU is opened. Odd sizes reach the ends of loops.
PLAN = """
name = "sanitize";
defaults = {
  required = "if_possible"; mode = "fixed"; copies = 2; samples = 1; warmup = 1;
  gate = false; verify = true; timeout = "1 h";
};
suites = (
  { plugin = "local"; tests = [ "device_local_*_sm" ];
    params = { buffer_size = [ "1 MiB", "65540 B" ]; }; },
  { id = "stream"; plugin = "local"; tests = [ "stream_*" ];
    params = { ladder = [ "64 KiB", "1040 B" ]; }; },
  { plugin = "sm_h2d";
    tests = [ "host_to_device_memcpy_sm", "device_to_host_memcpy_sm",
              "host_to_device_bidirectional_memcpy_sm" ];
    params = { buffer_size = [ "1 MiB", "65540 B" ]; }; },
  { plugin = "tma"; tests = [ "device_local_copy_tma" ];
    params = { buffer_size = [ "1 MiB", "65540 B" ]; }; },
  { plugin = "access";
    params = { buffer_size = "256 KiB"; strides = [ "1", "3", "32" ];
               offsets = [ "0", "1", "31" ]; }; },
  { plugin = "latency"; id = "stride";
    tests = [ "device_local_latency_sm" ];
    params = { footprint = "64 KiB"; }; },
  { plugin = "latency"; id = "random";
    tests = [ "device_local_latency_sm", "host_device_latency_sm" ];
    params = { chase = "random"; footprint = "64 KiB"; }; },
  { plugin = "latency"; id = "bulk"; tests = [ "device_local_latency_tma" ];
    params = { footprint = "64 KiB"; }; }
);
"""
# What a tool cannot be asked: racecheck does not come to the end of a chain of
# bulk copies, which one thread follows, so there is nobody to race with.
LEFT_OUT = {"racecheck": ("bulk", {"chase_bulk"})}
CALLS = 7
SETTLED = {"pass", "fail", "warn", "unchecked"}
SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) "
                     r"hazard)")
# What the checker says of itself.
NOT_CHECKED = re.compile(r"Target application terminated before|Internal "
                         r"Sanitizer Error|Unable to|No attachable process")
LINE = re.compile(r"^=+ (.*(?:Error|Invalid|Uninitialized|hazard|Barrier).*)$")


def words():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("seconds", nargs="?", type=float, default=540)
    parser.add_argument("--sanitizer")
    parser.add_argument("--tools", default=",".join(TOOLS))
    own, rest = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1:]
    given = parser.parse_args(own)
    given.options = rest
    given.out = given.out.resolve()
    given.host = given.prefix.resolve() / "bin" / "nvbw-host"
    given.sanitizer = given.sanitizer or shutil.which("compute-sanitizer") or \
        "/usr/local/cuda/bin/compute-sanitizer"
    for file in (given.host, given.sanitizer):
        if not os.access(file, os.X_OK):
            print(f"sanitize.py: there is no program {file}")
            sys.exit(2)
    if re.search(r"\s", str(given.out)) or given.out.exists():
        print("sanitize.py: OUT must be a new folder, its name without blanks")
        sys.exit(2)
    return given


def passes_descriptors(given):
    """Whether what the sanitizer starts has descriptors 3 and 4, by which the
    host and its workers talk."""
    said = given.out / "descriptors"
    said.write_text("")
    subprocess.run(
        ["sh", "-c", f'exec 3</dev/null 4>>"{said}"; exec "$1" --target-processes'
         " all sh -c 'test -e /proc/self/fd/3 && echo both >&4'", "sh",
         given.sanitizer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=120, check=False)
    return said.read_text() == "both\n"


def write_wrapper(given, tool, passes):
    """The program of --wrap. Where descriptors are not passed on, the worker
    takes them from the sanitizer, whose process this shell becomes."""
    target = '"$@"' if passes else \
        """sh -c 'exec "$@" 3<"/proc/'$$'/fd/3" 4>"/proc/'$$'/fd/4"' sh "$@\""""
    file = given.out / f"{tool}.sh"
    file.write_text(
        f'#!/bin/sh\nexec "{given.sanitizer}" --tool {tool} '
        "--target-processes all --print-limit 300000 "
        + ("--report-api-errors no " if tool == "memcheck" else "")
        + f'--log-file "{given.out}/{tool}.%p.log" {target}\n')
    file.chmod(0o755)
    return file


def in_session(leader):
    """Processes of the session that we started."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat[3]) == leader and stat[0] != "Z":
            found.append(int(entry.name))
    return found


def end_session(leader):
    for pid in in_session(leader):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run_host(given, tool, wrapper, seconds):
    """True: it ended by itself."""
    suite = LEFT_OUT.get(tool, ("", ()))[0]
    left_out = ["--set", f"suites.{suite}.enabled=false"] if suite else []
    with open(given.out / f"{tool}.out", "wb") as log:
        host = subprocess.Popen(
            [given.host, "-c", given.out / "sanitize.cfg", "--wrap", wrapper,
             *left_out,
             "--run-dir", given.out / f"{tool}.run", "--report",
             f"json={given.out}/{tool}.json", *given.options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "NVBW_DISABLE_MULTICAST": "1"},
            start_new_session=True)
        ended = True
        for wait, number in ((seconds, signal.SIGINT), (15, signal.SIGTERM),
                             (10, signal.SIGKILL), (30, None)):
            try:
                host.wait(wait)
                break
            except subprocess.TimeoutExpired:
                ended = False
                if number is not None:
                    host.send_signal(number)
        end_session(host.pid)
    return ended, host.returncode


def judge_cells(file):
    """(kernels seen, cells measured, cells not, mismatches, first trouble)."""
    if not file.exists():
        return set(), 0, 0, 0, "no report"
    report = json.loads(file.read_text())
    good, bad, trouble, wrong = {}, {}, None, 0
    for unit in report["units"]:
        name = unit["plugin"]
        for cell in unit["cells"]:
            wrong += cell.get("mismatches") or 0
            if cell["state"] in SETTLED:
                good[name] = good.get(name, 0) + 1
            elif cell["state"] != "skip":
                bad[name] = bad.get(name, 0) + 1
                trouble = trouble or (f"{unit['testcase']}: {cell['state']} "
                                      f"({cell['reason']}) {cell['message']}")
    seen = set()
    for name, kernels in KERNELS.items():
        if good.get(name) and not bad.get(name):
            seen.update(f"{ENGINE} {kernels}".split())
    return seen, sum(good.values()), sum(bad.values()), wrong, trouble


def places_of(text):
    """Where errors come from: kernels and the calls that led to them, to be
    told by addr2line on a worker of the same build that is not stripped."""
    found = collections.Counter()
    for error in re.split(r"^=+ (?=[^\n]*(?:Error|Invalid|Uninitialized|hazard|"
                          r"Barrier))", text, flags=re.MULTILINE)[1:]:
        kernel = re.search(r"at (?:\S+ in )?(nvbw_\w+)", error)
        if kernel:
            calls = re.findall(r"\[(0x[0-9a-f]+)\] in nvbw-worker", error)
            found[" < ".join([kernel.group(1), *calls[:CALLS]])] += 1
    return found


def judge_logs(given, tool):
    """(errors, logs, unfinished logs, first lines of errors, their places)."""
    errors = logs = unfinished = 0
    lines = []
    places = collections.Counter()
    for file in sorted(given.out.glob(f"{tool}.*.log")):
        text = file.read_text(errors="replace")
        counts = [int(a or b) for a, b in SUMMARY.findall(text)]
        logs += 1
        errors += sum(counts)
        unfinished += not counts or bool(NOT_CHECKED.search(text))
        lines += [m.group(1) for m in map(LINE.match, text.splitlines())
                  if m and "SUMMARY" not in m.group(1)]
        places += places_of(text)
    return errors, logs, unfinished, lines[:10], places


def all_kernels():
    return {name for kernels in KERNELS.values()
            for name in f"{ENGINE} {kernels}".split()}


def one_tool(given, tool, passes, seconds):
    began = time.monotonic()
    wrapper = write_wrapper(given, tool, passes)
    ended, code = run_host(given, tool, wrapper, seconds)
    seen, measured, bad, wrong, trouble = judge_cells(
        given.out / f"{tool}.json")
    errors, logs, unfinished, lines, places = judge_logs(given, tool)
    kernels = all_kernels() - LEFT_OUT.get(tool, ("", set()))[1]
    seen &= kernels
    missing = kernels - seen
    return {
        "tool": tool, "errors": errors, "lines": lines,
        "places": dict(places.most_common(20)), "kernels": len(seen),
        "missing": sorted(f"nvbw_{name}" for name in missing),
        "cells": measured, "cells_not_measured": bad, "trouble": trouble,
        "mismatches": wrong, "logs": logs, "logs_unfinished": unfinished,
        "ended": ended, "exit": code,
        "seconds": round(time.monotonic() - began, 1),
        "clean": errors == 0 and wrong == 0 and ended and logs > 0
        and unfinished == 0 and bad == 0 and not missing,
    }


def main():
    given = words()
    end = time.monotonic() + given.seconds
    tools = given.tools.split(",")
    given.out.mkdir(parents=True)
    (given.out / "sanitize.cfg").write_text(PLAN)
    passes = passes_descriptors(given)
    rows = []
    for i, tool in enumerate(tools):
        left = max(end - time.monotonic(), 0) - 20
        rows.append(one_tool(given, tool, passes, max(
            left / (len(tools) - i), 5)))
        print(json.dumps(rows[-1]), flush=True)
    summary = {"passes_descriptors": passes, "tools": rows,
               "clean": all(row["clean"] for row in rows)}
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    print(json.dumps({"clean": summary["clean"],
                      "passes_descriptors": passes}))
    sys.exit(0 if summary["clean"] else 1)


if __name__ == "__main__":
    main()
