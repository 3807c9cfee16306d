#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Holds hostmem's figures against stream_like, an independent STREAM-like
program, on a quiet machine:

    tests/bench/hostmem_vs_stream.py NVBW_HOST STREAM_LIKE [ROUNDS] [MiB]
        [pageable|huge_page]

The two take turns, ROUNDS times, so that a machine whose memory is shared with
others changes under both; who goes first alternates, so that a drift favours
neither. MiB is the size of a buffer; left out or 0, it is what hostmem itself
takes on this machine. Both take pages of the system's ordinary size, or huge
ones: on a machine that has been in use for long only those are alike for both.
Each line has the ratio of the best pass (STREAM's own
measure), both medians over the rounds, and the median over the rounds of the
ratio within one, whose two halves are seconds apart. Exit 0, or 1 if the ratio
of the best is outside 0.90 to 1.10, or 2 if a program could not be run."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# hostmem's testcase: kernel, stores, and how many bytes stream_like counts
# for each that hostmem counts.
PAIRS = {
    "host_memory_read": ("read", "none", 1),
    "host_memory_write": ("write", "streaming", 1),
    "host_memory_copy": ("copy", "streaming", 2),
    "host_memory_triad": ("triad", "streaming", 1),
}
PASSES = 5


def ours(host, mib, memory, folder):
    """{testcase: (samples, bytes of a buffer)} of node 0 from itself, where
    stream_like, which places nothing, is taken to be."""
    size = f'defaults = {{ buffer_size = "{mib} MiB"; }};' if mib else ""
    plan = folder / "plan.cfg"
    report = folder / "report.json"
    plan.write_text(size + 'suites = ( { plugin = "hostmem"; params = '
                    f'{{ memory = "{memory}"; }}; }} );\n')
    result = subprocess.run(
        [host, "run", "-c", plan, "--run-dir", folder / "run",
         "--report", f"json={report}"],
        capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):
        sys.stderr.write(result.stdout + result.stderr)
        sys.exit(2)
    found = {}
    for unit in json.loads(report.read_text())["units"]:
        for cell in unit["cells"]:
            if cell["row"] == 0 and cell["col"] == 0 and cell["samples"]:
                found[unit["testcase"]] = (cell["samples"], cell["copy_bytes"])
    return found


def theirs(stream, mib, memory):
    """{(kernel, stores): (best, median)}, and the latency in ns."""
    result = subprocess.run(
        [stream, "-s", str(mib), "-n", str(PASSES)]
        + (["-p"] if memory == "huge_page" else []),
        capture_output=True, text=True, check=True)
    document = json.loads(result.stdout)
    return {(one["kernel"], one["stores"]): (one["best"], one["median"])
            for one in document["bandwidth"]}, document["latency_ns"]


def take_turns(host, stream, rounds, mib, memory):
    """What each of the two said in each round, and the MiB of a buffer."""
    host_side, stream_side = [], []
    taken = mib
    for one in range(rounds):
        if one % 2 and taken:
            stream_side.append(theirs(stream, taken, memory))
        with tempfile.TemporaryDirectory() as folder:
            host_side.append(ours(host, mib, memory, pathlib.Path(folder)))
        taken = host_side[-1]["host_memory_copy"][1] >> 20
        if len(stream_side) < len(host_side):
            stream_side.append(theirs(stream, taken, memory))
    return host_side, stream_side, taken


def line(name, best, best_theirs, medians, medians_theirs):
    """Prints one line; whether the two agree within a tenth."""
    ratio = statistics.median(
        mine / other for mine, other in zip(medians, medians_theirs))
    print(f"{name:22} {best:8.2f} {best_theirs:8.2f} "
          f"{best / best_theirs:6.3f} {statistics.median(medians):8.2f} "
          f"{statistics.median(medians_theirs):8.2f} {ratio:6.3f}")
    return 0.9 <= best / best_theirs <= 1.1


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    host, stream = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    mib = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    memory = sys.argv[5] if len(sys.argv) > 5 else "pageable"
    host_side, stream_side, taken = take_turns(host, stream, rounds, mib,
                                               memory)
    print(f"{rounds} rounds, {taken} MiB a buffer, {memory}; GB/s, latency in "
          "ns")
    print(f"{'':22} {'best':>8} {'theirs':>8} {'ratio':>6} "
          f"{'median':>8} {'theirs':>8} {'paired':>6}")
    good = True
    for name, (kernel, stores, times) in PAIRS.items():
        samples = [value * times / 1e9 for one in host_side
                   for value in one[name][0]]
        medians = [statistics.median(one[name][0]) * times / 1e9
                   for one in host_side]
        passes = [one[0][kernel, stores] for one in stream_side]
        good &= line(name, max(samples), max(one[0] for one in passes) / 1e9,
                     medians, [one[1] / 1e9 for one in passes])
    latency = [statistics.median(one["host_memory_latency"][0])
               for one in host_side]
    yardstick = [one[1] for one in stream_side]
    good &= line("host_memory_latency", min(latency), min(yardstick), latency,
                 yardstick)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
