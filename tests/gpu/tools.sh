#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# On a machine with GPUs: tools.sh PREFIX OUT [GPUS...], PREFIX a bundle or an
# installed tree. Runs the plans of transfer, overlap, stream, access, pattern,
# launch and loaded_latency on the first GPU alone and on the first two, or on the GPUs named,
# and then peer copies with and without access to the peer on the last of these;
# leaves a JSON report of each in OUT. Of access, stride 2 should
# leave about half of the coalesced rate and stride 4 about a quarter. A run that
# finds something ends with another code than 0; the next one is made all the
# same, and the worst code is this script's.
set -u
# No object of NVLink multicast is ever made here.
export NVBW_DISABLE_MULTICAST=1
prefix=${1:?usage: tools.sh PREFIX OUT}
out=${2:?usage: tools.sh PREFIX OUT}
shift 2
[ $# -gt 0 ] || set -- 0 0,1
mkdir -p "$out"
worst=0

run() {
  name=$1
  shift
  "$prefix/bin/nvbw-host" "$@" -q --run-dir "$out/$name" \
    --report "json=$out/$name.json" --report "text=$out/$name.txt"
  code=$?
  echo "$name: exit $code"
  [ "$code" -le "$worst" ] || worst=$code
}

cat >"$out/p2p.cfg" <<EOF
name = "p2p";
defaults = { required = "if_possible"; p2p = "both"; };
suites = ( { plugin = "ce_d2d"; tests = [ "device_to_device_*" ]; } );
EOF
cat >"$out/shmoo.cfg" <<EOF
name = "shmoo";
defaults = { required = "if_possible"; sizes = "shmoo"; };
suites = ( { plugin = "transfer"; tests = [ "transfer_host_to_device",
  "transfer_device_to_host", "transfer_device_to_device" ]; } );
EOF

for gpus in "$@"; do
  for plan in recipe_256mb transfer overlap stream access pattern launch loaded_latency; do
    run "${plan}_$gpus" -c "plans/$plan.cfg" --devices "$gpus"
  done
  run "shmoo_$gpus" -c "$out/shmoo.cfg" --devices "$gpus"
done
case $gpus in
  *,*) run p2p -c "$out/p2p.cfg" --devices "$gpus" ;;
esac
exit "$worst"
