#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# Long runs that the tests have no time for, in bounded time:
#   tests/soak.sh [-b BUILD] [-m MINUTES] [-o FOLDER] [NAME...]
# MINUTES (60) are shared by the fuzz targets. Names choose steps: a fuzz
# target, "fuzz" for all of them, "kill_resume", "kill_loss", "crashes",
# "torture", "load", "burn_in"; left out, all are run, those after the fuzz
# targets by count.
# BUILD (build) is a configured build of this tree; the fuzz targets are built
# beside it with clang. Prints a line per step, keeps logs and what crashed in
# FOLDER (build-soak). Exit 0, or 1 where something was found.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD build=build minutes=60 out=build-soak
targets=(frames elf plan values efficiency journal baseline summary nvloom)
while getopts b:m:o: option; do
  case $option in
    b) build=$OPTARG ;;
    m) minutes=$OPTARG ;;
    o) out=$OPTARG ;;
    *) sed -n '5,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
wanted=("$@")
[ $# -gt 0 ] || wanted=(fuzz kill_resume kill_loss crashes torture
  load burn_in)
for name in "${wanted[@]}"; do
  case " fuzz ${targets[*]} kill_resume kill_loss crashes torture load burn_in " in
    *" $name "*) ;;
    *) echo "soak.sh: there is no step \"$name\""; exit 2 ;;
  esac
done
mkdir -p "$out"
out=$(cd "$out" && pwd) build=$(cd "$build" && pwd)
found=0

# tell NAME STATUS TEXT
tell() {
  printf '%-14s %-6s %s\n' "$1" "$2" "$3"
  [ "$2" = ok ] || found=1
}

build_fuzz() {
  [ ! -x "$out/build/tests/fuzz/libfuzzer_$1" ] || return 0
  cmake -S . -B "$out/build" -DCMAKE_C_COMPILER=clang -DNVBW_FUZZ=ON \
    -DNVBW_SANITIZE=address,undefined -DNVBW_CUDA=OFF -DNVBW_MPI=OFF \
    -DNVBW_SIM=OFF >"$out/build.log"
  cmake --build "$out/build" --parallel --target "libfuzzer_$1" \
    >>"$out/build.log" || { cat "$out/build.log"; exit 2; }
}

# seeds NAME: the corpus, and files of the tree that are of its kind
seeds() {
  echo "$tree/tests/fuzz/corpus/$1"
  case $1 in
    plan) echo "$tree/configs/plans"; echo "$tree/configs/sites" ;;
    efficiency) echo "$tree/configs/efficiency" ;;
  esac
}

# fuzz NAME SECONDS
fuzz() {
  local folder=$out/$1 status=ok seeds
  build_fuzz "$1"
  mkdir -p "$folder/grown"
  mapfile -t seeds < <(seeds "$1")
  (cd "$folder" && LSAN_OPTIONS=suppressions=$tree/tests/leaks_meant.txt \
    "$out/build/tests/fuzz/libfuzzer_$1" -max_total_time="$2" -timeout=20 \
    -rss_limit_mb=3000 -max_len=100000 -print_final_stats=1 grown \
    "${seeds[@]}") >"$folder/log" 2>&1 || status=FOUND
  tell "fuzz $1" $status "$(sed -n 's/^stat::number_of_executed_units: *//p' \
    "$folder/log") inputs in $2 s, $folder/log"
}

# script NAME WORDS...: a bench program that exits 0 where all is well
script() {
  local name=$1 status=ok
  shift
  "$@" >"$out/$name.log" 2>&1 || status=FOUND
  tell "$name" $status "$out/$name.log"
}

torture() {
  local plugin status=ok count=0
  for plugin in "$build"/lib/nvbw/plugins/*.so; do
    "$build/bin/nvbw-host" check-plugin "$plugin" \
      --driver "$build/lib/nvbw/sim/libcuda_sim.so" --sim-profile h200_x2 \
      >>"$out/torture.log" 2>&1 || status=FOUND
    count=$((count + 1))
  done
  tell torture $status "$count plugins, $out/torture.log"
}

chosen=()
for name in "${wanted[@]}"; do
  [ "$name" = fuzz ] && chosen+=("${targets[@]}")
  [[ " ${targets[*]} " == *" $name "* ]] && chosen+=("$name")
done
for name in ${chosen[@]+"${chosen[@]}"}; do
  fuzz "$name" $((minutes * 60 / ${#chosen[@]}))
done
for name in "${wanted[@]}"; do
  case $name in
    kill_resume) script kill_resume tests/bench/kill_resume.py "$build" 200 ;;
    crashes)
      NVBW_BUILD_DIR=$build script crashes python3 tests/cli/test_crashes.py 1000
      ;;
    kill_loss) script kill_loss tests/bench/kill_loss.py "$build" 50 ;;
    torture) torture ;;
    load) script load tests/bench/load.py "$build" ;;
    burn_in) script burn_in tests/bench/burn_in_memory.py "$build" ;;
  esac
done
exit $found
