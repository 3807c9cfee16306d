#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# What size costs the simulated driver: all pairs of 8, 16, 32 and 72 GPUs,
# 1 GiB each, filled, copied and compared, by a bare program and by nvbw-host
# with ce_d2d. Not a test: it prints.
#   sim_scale.sh [BUILD_DIR]
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd)
sim=$build/lib/nvbw/sim/libcuda_sim.so
export NVBW_SIM_PROFILE=gb200_nvl72
echo "bare: GPUs, pairs, s of CPU, MiB resident, GB/s of the slowest pair"
for gpus in 8 16 32 72; do
  "$build/tests/bench/sim_scale" "$sim" "$gpus" 1024
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >plan.cfg <<'PLAN'
name = "scale";
defaults = { mode = "fixed"; buffer_size = "1 GiB"; copies = 4; samples = 3;
  warmup = 1; };
PLAN
measure() { # NAME SUITES GPUS
  cp plan.cfg "$1.cfg"
  echo "suites = ( { plugin = \"ce_d2d\"; $2 } );" >>"$1.cfg"
  rm -rf run
  python3 - "$1" "$3" "$build/bin/nvbw-host" -c "$1.cfg" --run-dir run \
    --quiet --driver "$sim" --sim-profile gb200_nvl72 \
    --devices "0-$(($3 - 1))" <<'PYTHON'
import json, resource, subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[3:] + ["--report", "json=r.json"], check=True,
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
took = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cells = json.load(open("r.json"))["counts"]["planned"]
print(f"{sys.argv[1]}: {sys.argv[2]} GPUs, {cells} cells, {took:.1f} s, "
      f"{used.ru_utime + used.ru_stime:.1f} s of CPU, "
      f"{used.ru_maxrss >> 10} MiB resident")
PYTHON
}
for gpus in 8 16 32 72; do
  measure pairs 'tests = [ "device_to_device_memcpy_write_ce" ];' "$gpus"
done
for gpus in 8 16 32 72; do
  measure all "" "$gpus"
done
