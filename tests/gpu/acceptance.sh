#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# On a machine with GPUs: acceptance.sh ROOT [OPTION...]. ROOT is an unpacked
# bundle, or a build folder; the options go to every run, for rehearsals with
# --driver. Leaves reports and logs under $OUT (default ./acceptance-out),
# prints a line per step and ends with 1 if any went otherwise than it must.
set -u
# No object of NVLink multicast is ever made here.
export NVBW_DISABLE_MULTICAST=1
root=${1:?usage: acceptance.sh ROOT [OPTION...]}
shift
host=$root/bin/nvbw-host
out=${OUT:-acceptance-out}
failed=0
mkdir -p "$out" || exit 2
test -x "$host" || { echo "there is no $host"; exit 2; }

# note NAME CODE WANTED...: one line, and the log where the code is not wanted.
note()
{
    name=$1 code=$2
    shift 2
    for wanted; do
        if [ "$code" = "$wanted" ]; then
            echo "ok    $name: exit $code"
            return
        fi
    done
    failed=1
    echo "WRONG $name: exit $code, wanted $*; the end of its log:"
    tail -n 15 "$out/$name.log"
}

# step NAME "WANTED..." COMMAND...
step()
{
    name=$1 wanted=$2
    shift 2
    begin=$(date +%s)
    "$@" >"$out/$name.log" 2>&1
    code=$?
    # shellcheck disable=SC2086
    note "$name" "$code" $wanted
    echo "      $(($(date +%s) - begin)) s"
}

# run NAME "WANTED..." OPTION...: measures, with reports and a run directory.
run()
{
    name=$1 wanted=$2
    shift 2
    rm -rf "$out/$name.run"
    step "$name" "$wanted" "$host" "$@" --run-dir "$out/$name.run" \
        --report "json=$out/$name.json" --report "text=$out/$name.txt"
}

cat >"$out/adaptive.cfg" <<EOF
name = "adaptive";
defaults = { required = "if_possible"; timeout = "60 s"; };
suites = ( { plugin = "ce_h2d"; }, { plugin = "ce_d2d"; } );
EOF
cat >"$out/staged.cfg" <<EOF
name = "staged";
defaults = { required = "if_possible"; timeout = "60 s"; p2p = "both"; };
suites = ( { plugin = "ce_d2d";
             tests = [ "device_to_device_memcpy_write_ce",
                       "device_to_device_bidirectional_memcpy_write_ce" ]; } );
EOF

nvidia-smi -L >"$out/nvidia-smi.log" 2>&1 || true
nvidia-smi topo -m >>"$out/nvidia-smi.log" 2>&1 || true

step version 0 "$host" --version
step list 0 "$host" list "$@"
step list_json 0 "$host" list --json "$@"
step help 0 "$host" help ce_d2d "$@"
if "$host" --help | grep -q '^  topo '; then
    step topo 0 "$host" topo "$@"
    step topo_json 0 "$host" topo --json "$@"
fi
step dry_run 0 "$host" -c plans/acceptance.cfg --dry-run "$@"
step explain 0 "$host" check-plan -c plans/acceptance.cfg --explain-limits "$@"

run adaptive 0 -c "$out/adaptive.cfg" "$@"
run fixed 0 -c plans/compare_nvbandwidth.cfg --set defaults.mode=fixed "$@"
run one_gpu 0 -c "$out/adaptive.cfg" --devices 0 "$@"
run staged 0 -c "$out/staged.cfg" "$@"
run acceptance 0 -c plans/acceptance.cfg "$@"

# A second run of the same: nothing is slower and nothing faster, but for the
# host's memory, which others may use.
run acceptance_again 0 -c plans/acceptance.cfg "$@"
step compare "0 1" "$host" compare "$out/acceptance.run" \
    "$out/acceptance_again.run"
changed=$(grep -E '^(SLOWER|FASTER|LOST)  ' "$out/compare.log" |
    grep -v '^[A-Z]*  hostmem/')
if [ -z "$changed" ]; then
    echo "ok    compare: $(grep '^[0-9]* cells: ' "$out/compare.log")"
else
    failed=1
    echo "WRONG compare:"
    echo "$changed"
fi

# More is demanded than the link gives.
cat >"$out/too_much.cfg" <<EOF
limits = ( { match = "host_to_device_memcpy_ce/bandwidth";
             min = "110 % of expected"; } );
EOF
run too_much 1 -c plans/acceptance.cfg -c "$out/too_much.cfg" "$@"
if grep -q '(110 % of expected)' "$out/too_much.txt"; then
    echo "ok    too_much: $(grep -c '(110 % of expected)' "$out/too_much.txt")" \
        "cells are below 110 % of expected"
else
    failed=1
    echo "WRONG too_much: nothing says what is below 110 % of expected"
fi

# A worker is killed in the middle: its cell is lost, and no other.
name=killed
journal=$out/$name.run/journal.ndjson
rm -rf "$out/$name.run"
"$host" -c "$out/adaptive.cfg" "$@" --run-dir "$out/$name.run" \
    --report "json=$out/$name.json" --report "text=$out/$name.txt" \
    >"$out/$name.log" 2>&1 &
host_pid=$!
worker=
for _ in $(seq 600); do
    sleep 0.1
    test -r "$journal" || continue
    test "$(grep -c '"type":"cell"' "$journal")" -ge 5 || continue
    worker=$(sed -n 's/.*"what":"worker_start".*"pid":\([0-9]*\).*/\1/p' \
        "$journal" | tail -n 1)
    break
done
parent=$(awk '/^PPid:/ { print $2 }' "/proc/${worker:-none}/status" 2>&1)
if [ "$parent" = "$host_pid" ]; then
    kill -KILL "$worker"
else
    failed=1
    echo "WRONG $name: no worker of the run was found to kill"
fi
wait "$host_pid"
note "$name" "$?" 4
# count STATE: of the cells in that state.
count()
{
    grep -o "\"$1\": *[0-9]*" "$out/$name.json" | head -n 1 | sed 's/.*[ :]//'
}
crashes=$(count crash)
left=$(count not_run)
case "$crashes/$left" in
[1-3]/0) echo "ok    $name: $crashes crashed, $left not run" ;;
*)
    failed=1
    echo "WRONG $name: $crashes crashed, $left not run;" \
        "wanted the cells of one measurement"
    ;;
esac
step verify 0 "$host" verify "$out/acceptance.run"
exit "$failed"
