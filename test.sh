#!/usr/bin/env bash
# Installs what the tests need, builds, and runs them.
#   ./test.sh         everything but the long tiers; under 20 minutes
#   ./test.sh --full  also sanitizer builds, packages and long tests
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

full=no
for word in "$@"; do
  case $word in
    --full) full=yes ;;
    *) say "unknown option \"$word\"; it is ./test.sh [--full]"; exit 2 ;;
  esac
done

all_apt=("${build_apt[@]}" "${test_apt[@]}" "${mpi_apt[@]}")
all_dnf=("${build_dnf[@]}" "${test_dnf[@]}" "${mpi_dnf[@]}")
install_packages all_apt all_dnf
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] ||
  say "no nvcc (it is in no Debian package): kernels for real GPUs come from" \
    "the PTX in the tree, tests that compile kernels are skipped"
ls /dev/nvidia0 >/dev/null 2>&1 ||
  say "no GPU: tests of real GPUs are skipped, the simulated driver stands in"

jobs=$(nproc)

# run_tier PRESET LABELS-NOT-TO-RUN
run_tier() {
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" --parallel "$jobs" | { grep -E 'warning|error' || true; }
  ctest --preset "$1" --parallel "$jobs" --label-exclude "$2"
}

if [ $full = no ]; then
  run_tier ci 'long|package'
  exit 0
fi
if command -v apt-get >/dev/null; then
  # shellcheck disable=SC2034
  none=()
  install_packages full_apt none ||
    say "no cross compiler, debootstrap, promtool or Chromium: what needs" \
      "them is skipped"
fi
run_tier ci 'none'
run_tier asan 'long|package|lint|docs'
run_tier tsan 'long|package|lint|cli'
ctest --preset tsan --parallel "$jobs" --label-regex threads
