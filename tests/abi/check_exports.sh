#!/usr/bin/env bash
# Rules C1 and C25: each plugin exports nvbw_plugin_v1 and nothing else, and
# wants no nvbw_ symbol of anybody. check_exports.sh FILE-OR-FOLDER...
set -euo pipefail

files=()
for place in "$@"; do
  if [ -d "$place" ]; then
    files+=("$place"/*.so)
  else
    files+=("$place")
  fi
done

bad=0
for file in "${files[@]}"; do
  defined=$(nm -D --defined-only "$file" | awk '{ print $NF }')
  undefined=$(nm -D --undefined-only "$file" | awk '{ print $NF }' |
    grep '^nvbw_' || true)
  if [ "$defined" != nvbw_plugin_v1 ]; then
    echo "$file exports: $defined"
    bad=1
  fi
  if [ -n "$undefined" ]; then
    echo "$file leaves undefined: $undefined"
    bad=1
  fi
  if ! readelf -d "$file" | grep -q NODELETE; then
    echo "$file was linked without -z nodelete"
    bad=1
  fi
done
exit $bad
