#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# Holds hostmem's figures against stream_like, on a quiet machine:
#   tests/bench/hostmem_vs_stream.sh [BUILD_DIR] [MiB per buffer] [PASSES]
# Buffers are larger than any cache that a VM may hide; three of them must fit
# into memory. One line per figure and the ratio. hostmem gives the median of
# its samples and stream_like the best of its passes, so a ratio a little below
# 1 is what is to be expected. Exit 0, or 1 if a ratio is outside 0.90 to 1.10.
set -euo pipefail

build=${1:-build}
mib=${2:-1536}
passes=${3:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/plan.cfg" <<PLAN
defaults = { buffer_size = "$mib MiB"; };
suites = ( { plugin = "hostmem"; } );
PLAN

"$build/bin/nvbw-host" run -c "$work/plan.cfg" --run-dir "$work/run" \
    --report "json=$work/report.json" >"$work/log" 2>&1 || {
    code=$?
    # Samples that scatter are flagged, not failed; 2 and above is trouble.
    if [ "$code" -ge 2 ]; then
        cat "$work/log" >&2
        exit "$code"
    fi
}
"$build/tests/bench/stream_like" -s "$mib" -n "$passes" >"$work/stream.json"

python3 - "$work/report.json" "$work/stream.json" <<'COMPARE'
import json
import sys

# hostmem's testcase: kernel, stores, and how many bytes stream_like counts
# for each that hostmem counts.
PAIRS = {
    "host_memory_read": ("read", "none", 1),
    "host_memory_write": ("write", "streaming", 1),
    "host_memory_copy": ("copy", "streaming", 2),
    "host_memory_triad": ("triad", "streaming", 1),
}


def cells(report):
    """Node 0 from itself, of every testcase: stream_like places nothing."""
    for unit in report["units"]:
        for cell in unit["cells"]:
            if cell["row"] == 0 and cell["col"] == 0:
                yield unit["testcase"], cell["figure"]


with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    stream = json.load(file)
rates = {
    (one["kernel"], one["stores"]): one["bytes_per_second"]
    for one in stream["bandwidth"]
}
good = True
seen = 0
for name, figure in cells(report):
    if name in PAIRS and figure is not None:
        kernel, stores, times = PAIRS[name]
        ours, theirs = figure * times, rates[(kernel, stores)]
        unit, scale = "GB/s", 1e-9
    elif name == "host_memory_latency" and figure is not None:
        ours, theirs = figure, stream["latency_ns"]
        unit, scale = "ns", 1
    else:
        continue
    seen += 1
    ratio = ours / theirs
    good = good and 0.9 <= ratio <= 1.1
    print(f"{name:24} {ours * scale:9.2f} {theirs * scale:9.2f} {unit:4} "
          f"{ratio:6.3f}")
if seen == 0:
    sys.exit("the report has no figure of hostmem")
sys.exit(0 if good else 1)
COMPARE
