#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# On a host with at least two GPUs and an mpirun: multinode.sh ROOT [OPTION...].
# ROOT is an unpacked bundle or a build folder; the options go to every run, for
# rehearsals with --driver. Measures the same traffic within one process and
# between two MPI ranks, one after the other, and ends with 1 if a figure of the
# ranks is more than 1 % off its counterparts. Tells then what ranks with one GPU
# each come to, and, from a build folder, what reads both ways at once depend on
# (read_both_ways.c). Leaves all under $OUT.
set -u
# No object of NVLink multicast is ever made here.
export NVBW_DISABLE_MULTICAST=1
root=${1:?usage: multinode.sh ROOT [OPTION...]}
shift
host=$root/bin/nvbw-host
out=${OUT:-multinode-out}
failed=0
mkdir -p "$out" || exit 2
test -x "$host" || { echo "there is no $host"; exit 2; }
command -v mpirun >/dev/null || { echo "there is no mpirun"; exit 77; }

cat >"$out/alone.cfg" <<EOF
name = "alone";
defaults = { timeout = "60 s"; ${DEFAULTS:-} };
suites = (
  { plugin = "ce_d2d"; tests = [ "device_to_device_*" ]; },
  { plugin = "sm_d2d"; tests = [ "device_to_device_*", "all_to_one_*" ]; },
  { plugin = "latency"; tests = [ "device_to_device_latency_sm" ]; }
);
EOF
cat >"$out/ranks.cfg" <<EOF
name = "ranks";
mpi = true;
defaults = { timeout = "60 s"; ${DEFAULTS:-} };
suites = ( { plugin = "multinode"; tests = [ "*" ]; } );
EOF

# run NAME COMMAND...: measures, with reports and a run directory.
run()
{
    local name=$1 begin code
    shift
    rm -rf "$out/$name.run"
    begin=$(date +%s)
    "$@" --run-dir "$out/$name.run" --report "json=$out/$name.json" \
        --report "csv=$out/$name.csv" --report "text=$out/$name.txt" \
        >"$out/$name.log" 2>&1
    code=$?
    echo "$name: exit $code, $(($(date +%s) - begin)) s"
    if [ $code != 0 ]; then
        failed=1
        tail -n 25 "$out/$name.log"
    fi
}

mpirun --version 2>&1 | head -n 1
run alone "$host" -c "$out/alone.cfg" --devices 0,1 "$@"
run ranks mpirun --allow-run-as-root --oversubscribe -np 2 "$host" --mpi \
    -c "$out/ranks.cfg" "$@"
run again "$host" -c "$out/alone.cfg" --devices 0,1 "$@"

# Ranks that see one GPU each: either the same figures, or peer_not_visible.
cat >"$out/split.cfg" <<END
name = "split";
mpi = true;
defaults = { timeout = "60 s"; ${DEFAULTS:-} };
suites = ( { plugin = "multinode";
             tests = [ "multinode_device_to_device_memcpy_*" ]; } );
END
set -- --mpi -c "$out/split.cfg" --run-dir "$out/split.run" \
    --report "csv=$out/split.csv" "$@"
rm -rf "$out/split.run"
mpirun --allow-run-as-root --oversubscribe \
    -np 1 -x CUDA_VISIBLE_DEVICES=0 "$host" "$@" : \
    -np 1 -x CUDA_VISIBLE_DEVICES=1 "$host" "$@" >"$out/split.log" 2>&1
echo "one GPU each: exit $?"
grep -m 1 -o "peer_not_visible.*" "$out/split.csv"

# figures NAME: testcase, metric, row, col, figure or state, of each cell.
figures()
{
    sed 's/"[^"]*"/x/g' "$out/$1.csv" | awk -F, -v run="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { figure = $at["figure"] == "" ? $at["state"] : $at["figure"]
          print run, $at["testcase"], $at["metric"], $at["row"], $at["col"],
              figure }'
}

for name in alone again ranks split; do
    figures "$name"
done | awk '
    $1 == "alone" { alone[$2 " " $3 " " $4 " " $5] = $6; next }
    $1 == "split" && $6 + 0 == 0 { next }
    $1 == "again" { again[$2 " " $3 " " $4 " " $5] = $6; next }
    {
        name = $2
        sub(/^multinode_/, "", name)
        sub(/^device_to_device_all_from_one_read/, "all_to_one_read", name)
        sub(/^device_to_device_all_to_one/, "all_to_one", name)
        unit = $3 == "latency" ? 1 : 1e9
        key = name " " $3 " " $4 " " $5
        what = sprintf("%-58s %-9s %s>%s", $2, $3, $4, $5)
        if (!(key in alone)) {
            printf "      %s %9.2f\n", what, $6 / unit
            next
        }
        if (alone[key] + 0 == 0 || $6 + 0 == 0) {
            printf "WRONG %s %s, alone %s\n", what, $6, alone[key]
            bad = 1
            next
        }
        low = alone[key] + 0
        high = again[key] + 0 > 0 ? again[key] + 0 : low
        if (low > high) { swap = low; low = high; high = swap }
        off = 0
        if ($6 < low) off = $6 / low - 1
        if ($6 > high) off = $6 / high - 1
        wrong = off > 0.01 || off < -0.01
        printf "%s %s %9.2f, alone %9.2f to %9.2f: %+.2f %%\n",
            wrong ? "WRONG" : "ok   ", what, $6 / unit, low / unit, high / unit,
            off * 100
        if (wrong) bad = 1
    }
    END { exit bad }' || failed=1
# Where both ways at once differ: what from.
both=$root/tests/gpu/read_both_ways
test -x "$both" && "$both" | tee "$out/read_both_ways.txt"
exit $failed
