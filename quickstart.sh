#!/usr/bin/env bash
# Installs what is missing, builds, and runs a first plan on this machine.
# Options after the script's name go to nvbw-host instead of the quick plan.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

install_packages build_apt build_dnf
if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null &&
  [ ! -x /usr/local/cuda/bin/nvcc ]; then
  say "no nvcc: kernels for GPUs are not built, and testcases that need them" \
    "(sm_*, tma, latency, local) will be skipped with reason not_built;" \
    "install a CUDA toolkit, or name its compiler by CUDACXX"
fi
say "building; this takes some minutes"
cmake --preset release -DNVBW_TESTS=OFF >/dev/null
cmake --build --preset release --parallel "$(nproc)" >/dev/null
say "built build/bin/nvbw-host"
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
  say "no NVIDIA driver (libcuda.so.1) is installed: GPU suites will be" \
    "skipped with reason no_device"
fi
if [ $# -eq 0 ]; then
  set -- -c plans/quick.cfg
fi
exec build/bin/nvbw-host "$@"
