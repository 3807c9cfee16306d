#!/usr/bin/env bash
# Builds everything for aarch64: aarch64.sh SOURCE CMAKE. The headers of
# libraries are this machine's, as they are the same for every processor. An
# empty archive stands in for the libraries, so programs are linked without
# their symbols and cannot run.
set -euo pipefail
source=$1 cmake=$2
command -v aarch64-linux-gnu-gcc >/dev/null ||
  { echo "skipped: gcc-aarch64-linux-gnu is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }; }

mkdir "$work/include"
for header in libconfig.h jansson.h jansson_config.h numa.h numacompat1.h \
  numaif.h sha256.h mxml.h; do
  found=$(find /usr/include -name "$header" | head -n 1)
  [ -n "$found" ] || { echo "skipped: $header is not installed"; exit 77; }
  ln -s "$found" "$work/include/$header"
done
aarch64-linux-gnu-ar rc "$work/libnone.a"
options=()
for library in config jansson numa md mxml; do
  options+=("-DNVBW_${library}_INCLUDE=$work/include"
    "-DNVBW_${library}_LIBRARY=$work/libnone.a")
done

run "$cmake" -S "$source" -B "$work/build" \
  -DCMAKE_TOOLCHAIN_FILE="$source/cmake/toolchain-aarch64.cmake" \
  -DNVBW_WERROR=ON -DNVBW_TESTS=OFF -DNVBW_CUDA=OFF \
  -DNVBW_SIM_CONFIG_LIBRARY="$work/libnone.a" \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--unresolved-symbols=ignore-all \
  "${options[@]}"
run "$cmake" --build "$work/build" --parallel "$(nproc)"

for file in "$work"/build/{bin/*,libexec/nvbw/*,lib/nvbw/plugins/*.so}; do
  readelf -h "$file" | grep -q 'Machine: *AArch64' ||
    { echo "$file is not for aarch64"; exit 1; }
done
