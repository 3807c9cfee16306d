#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
#
# Prolog=/etc/slurm/slurm-prolog.sh in slurm.conf: a quick check of the job's
# GPUs, within 60 seconds. A failure drains the node with the first finding as
# its reason; a node that could not be checked is left alone.
set -u
plan=${NVBW_PLAN:-plans/quick.cfg}
dir=/var/lib/nvbw/prolog-${SLURM_JOB_ID:-none}

devices=()
[ -z "${SLURM_JOB_GPUS:-}" ] || devices=(--devices "$SLURM_JOB_GPUS")
report=$(nvbw-host -c "$plan" "${devices[@]}" --budget "60 s" \
  --run-dir "$dir" 2>/dev/null)
code=$?
case $code in
  1 | 3)
    reason=$(printf '%s\n' "$report" | sed -n '/^Findings$/{n;s/^  //p;q}')
    [ -n "$reason" ] || reason=$(printf '%s\n' "$report" |
      sed -n '/^What did not pass$/{n;s/^  //p;q}')
    scontrol update NodeName="${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN \
      Reason="nvbw-host exit $code: ${reason:-see $dir}"
    exit 1
    ;;
esac
rm -rf "$dir"
exit 0
