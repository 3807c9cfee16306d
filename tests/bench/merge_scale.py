#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""`merge` of many nodes: time and memory, as JSON.

    tests/bench/merge_scale.py [BUILD_DIR] [NODES] [FOLDER]

Runs quick.cfg without two suites, 105 cells, on the simulated h200_x2 and makes run directories of its
summary, whole, with other hosts, run_ids and figures; every hundredth node has
one GPU at half. Then merges them, once to warm the cache and once for the
figures. Exit 0, or 1 where it took longer than 10 s or more than 500 MB, or did
not find the slow nodes."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS, MEGABYTES = 10.0, 500.0
HEAD = 2  # lines: the header and the run in short


def first_run(build, folder):
    subprocess.run(
        [str(build / "bin/nvbw-host"), "-c", "plans/quick.cfg", "-q",
         "--set", "suites.tma.enabled=false", "--set",
         "suites.sm_d2d.enabled=false",
         "--run-dir", str(folder / "first"), "--driver",
         str(build / "lib/nvbw/sim/libcuda_sim.so"), "--sim-profile",
         "h200_x2"], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    lines = (folder / "first/summary.ndjson").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:HEAD]], \
        b"\n".join(lines[HEAD:])


def make_node(folder, number, head, rest, rng):
    name = f"node{number:05}"
    node = json.loads(json.dumps(head[1]))
    node["data"].update(host=name, run_id=f"run-{number}")
    for group in node["data"]["groups"]:
        group["figures"] = [
            figure * rng.gauss(1.0, 0.004) *
            (0.5 if number % 100 == 7 and "GPU 1" == place else 1.0)
            for figure, place in zip(group["figures"], group["places"])]
    path = folder / name
    path.mkdir()
    with open(path / "summary.ndjson", "wb") as file:
        file.write(json.dumps(head[0]).encode() + b"\n")
        file.write(json.dumps(node).encode() + b"\n")
        file.write(rest)


def merge(build, folder):
    """(exit code, fleet, what it cost)"""
    out = folder / "fleet.json"
    words = [str(build / "bin/nvbw-host"), "merge", "--json", "-o", str(out),
             *sorted(str(path) for path in folder.glob("node*"))]
    started = time.monotonic()
    child = os.posix_spawn(words[0], words, os.environ)
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(out.read_text()), {
        "seconds": round(time.monotonic() - started, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_megabytes": round(used.ru_maxrss / 1e3, 1)}


def main():
    words = sys.argv[1:]
    build = pathlib.Path(words[0] if words else "build").resolve()
    nodes = int(words[1]) if len(words) > 1 else 10000
    folder = pathlib.Path(tempfile.mkdtemp(
        prefix="nvbw-merge-", dir=words[2] if len(words) > 2 else None))
    rng = random.Random(20261130)
    try:
        head, rest = first_run(build, folder)
        for number in range(nodes):
            make_node(folder, number, head, rest, rng)
        merge(build, folder)
        code, fleet, cost = merge(build, folder)
    finally:
        shutil.rmtree(folder)
    slow = {node["host"] for node in fleet["nodes"] if node["outliers"]}
    wanted = {f"node{i:05}" for i in range(7, nodes, 100)}
    result = {"nodes": nodes, "exit_code": code,
              "cells": sum(n["counts"]["planned"] for n in fleet["nodes"]),
              "summary_bytes": len(rest), **cost,
              "outliers_found": len(slow & wanted),
              "outliers_missed": len(wanted - slow),
              "outliers_in_error": len(slow - wanted)}
    print(json.dumps(result, indent=1))
    return int(cost["seconds"] > SECONDS or
               cost["peak_megabytes"] > MEGABYTES or slow != wanted)


if __name__ == "__main__":
    sys.exit(main())
