#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# Numbers, constants, codes and words of a frozen header stand in today's as
# they were (rules C7 and C26). The same look must notice headers that are broken
# on purpose.
#   check_numbers.sh COMPILER FROZEN-FOLDER HEADER-FOLDER
set -euo pipefail
compiler=$1 frozen=$2/nvbw/plugin.h today=$3/nvbw/plugin.h
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# numbers HEADER: enumerators, constants and lists, a line each. The ends of
# lists, and the minor, are what grows.
numbers() {
  {
    "$compiler" -E -P "$1" | grep -oE 'NVBW_[A-Za-z0-9_]+ = [^,}]+' |
      sed 's/ *$//'
    "$compiler" -dM -E "$1" | grep -E '^#define NVBW_[A-Z0-9_]+ ' |
      grep -v '_LIST'
    tr -d '\\\n' <"$1" | tr -s ' ' |
      grep -oE 'X\([A-Z0-9_]+, -?[0-9]+, ("[^"]*"(, )?)+\)'
  } | grep -vE 'NVBW_(STATUS|SKIP)_END|NVBW_ABI_MINOR|NVBW_PLUGIN_H' | sort -u
}

# lost HEADER: what the frozen header has and this one does not
lost() {
  comm -23 <(numbers "$frozen") <(numbers "$1")
}

# breaks SED-COMMAND: a frozen header that was changed so must be noticed
breaks() {
  sed "$1" "$frozen" >"$folder/plugin.h"
  ! cmp -s "$frozen" "$folder/plugin.h" ||
    { echo "the header has nothing to break with: $1"; exit 1; }
  [ -n "$(lost "$folder/plugin.h")" ] || { echo "not noticed: $1"; exit 1; }
}

[ "$(numbers "$frozen" | wc -l)" -gt 100 ] || { echo "too few numbers"; exit 1; }
found=$(lost "$today")
[ -z "$found" ] || { echo "frozen and no longer so:"; echo "$found"; exit 1; }
breaks 's/NVBW_OP_DOT = 9/NVBW_OP_DOT = 11/'
breaks 's/NVBW_MEM_MANAGED = 5,//'
breaks 's/X(NO_MPI, 7, "no_mpi"/X(NO_MPI, 7, "mpi_missing"/'
breaks 's/X(E_DEVICE, -6/X(E_DEVICE, -7/'
breaks 's/UINT64_C(0x47554c50/UINT64_C(0x47554c51/'
