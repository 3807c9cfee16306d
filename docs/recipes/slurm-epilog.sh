#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
#
# Epilog=/etc/slurm/slurm-epilog.sh in slurm.conf: compares the machine with its
# own baseline after a job that had all GPUs. Make the baseline once, on the
# healthy machine:
#   nvbw-host -c plans/quick.cfg --run-dir /var/lib/nvbw/first
#   nvbw-host baseline /var/lib/nvbw/first -o /var/lib/nvbw/baseline.ndjson
set -u
baseline=/var/lib/nvbw/baseline.ndjson
dir=/var/lib/nvbw/epilog
metrics=/var/lib/prometheus/node-exporter/nvbw.prom

[ -r "$baseline" ] || exit 0
rm -rf "$dir"
reports=()
[ ! -d "${metrics%/*}" ] || reports=(--report "prometheus=$metrics")
nvbw-host -c plans/quick.cfg --budget "60 s" --run-dir "$dir" -q \
  "${reports[@]}" >/dev/null 2>&1
slower=$(nvbw-host compare "$baseline" "$dir" 2>&1)
# 1: slower or lost. 2, not comparable, says nothing of the machine.
if [ $? -eq 1 ]; then
  scontrol update NodeName="${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN \
    Reason="nvbw-host: $(printf '%s\n' "$slower" | grep -m 1 -E '^(SLOWER|LOST)')"
fi
exit 0
