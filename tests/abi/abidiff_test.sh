#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# What libabigail's abidiff finds between a frozen header and today's may be
# members added at the end of a struct, and nothing else. The same look must
# refuse headers that are broken on purpose, or it would be worth nothing.
#   abidiff_test.sh COMPILER FROZEN-FOLDER HEADER-FOLDER
set -euo pipefail
compiler=$1 frozen=$2 today=$3
command -v abidiff >/dev/null || { echo "skipped: no abidiff"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/types.c" <<'END'
#include "nvbw/plugin.h"
int every_type(struct nvbw_plugin *, struct nvbw_ctx *, struct nvbw_work *,
    struct nvbw_place *);
int every_type(struct nvbw_plugin *plugin, struct nvbw_ctx *ctx,
    struct nvbw_work *work, struct nvbw_place *place)
{
    return plugin != 0 && ctx != 0 && work != 0 && place != 0;
}
END

# build NAME HEADER-FOLDER
build() {
  "$compiler" -g -shared -fPIC -I"$2" "$folder/types.c" -o "$folder/$1.so"
}

# beyond OLD NEW: what is more than members at the end
beyond() {
  { abidiff --leaf-changes-only "$folder/$1.so" "$folder/$2.so" || true; } |
    awk '/^$/ || /^(Leaf changes|Changed leaf types) summary:/ || /summary: 0 Removed, 0 Changed, 0/ ||
           /^.struct .* changed:$/ || /data member insertions?:$/ { next }
         /type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ {
           size = $5; next }
         /, at offset [0-9]+ \(in bits\)/ {
           match($0, /at offset [0-9]+/)
           if (substr($0, RSTART + 10, RLENGTH - 10) + 0 >= size) next }
         { print }'
}

# breaks SED-COMMAND: a frozen header that was changed so must be refused
breaks() {
  mkdir -p "$folder/broken/nvbw"
  sed "$1" "$frozen/nvbw/plugin.h" >"$folder/broken/nvbw/plugin.h"
  if cmp -s "$frozen/nvbw/plugin.h" "$folder/broken/nvbw/plugin.h"; then
    echo "the header has nothing to break with: $1"
    exit 1
  fi
  build broken "$folder/broken"
  [ -n "$(beyond frozen broken)" ] || { echo "not noticed: $1"; exit 1; }
}

build frozen "$frozen"
build today "$today"
found=$(beyond frozen today)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
breaks '/^struct nvbw_testcase {/a\    uint64_t inserted;'
breaks '/^struct nvbw_flow {/,/^}/s/uint64_t bytes;/uint32_t bytes, other;/'
breaks '/^struct nvbw_host {/,/^}/s/int32_t (\*put)(struct nvbw_ctx \*, /int32_t (*put)(/'
breaks '/^struct nvbw_testcase {/,/^}/{/summary;/d}'
