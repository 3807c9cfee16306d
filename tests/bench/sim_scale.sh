#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# What size costs the simulated driver: all pairs of 8, 16, 32 and 72 GPUs,
# 1 GiB each, filled, copied and compared. Not a test: it prints.
#   sim_scale.sh [BUILD_DIR]
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build}
export NVBW_SIM_PROFILE=gb200_nvl72
for gpus in 8 16 32 72; do
  "$build/tests/bench/sim_scale" "$build/lib/nvbw/sim/libcuda_sim.so" \
    "$gpus" 1024
done
