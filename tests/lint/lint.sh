#!/usr/bin/env bash
# House rules, each a test: lint.sh RULE, from the top of the tree.
#   includes  who may include whom
#   length    no function over 80 lines, no file over 600
#   banned    calls that are not used here
#   words     unfinished work in the sources
#   guards    licence line and include guard in each file
#   format    clang-format has nothing to change
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() { printf '%s\n' "$*"; bad=1; }

sources() { git ls-files -- "$@" 2>/dev/null || find "$@" -type f; }
c_files() { sources host plugin_api plugins kernels tests | grep -E '\.[ch]$' | grep -v -E '^tests/abi/frozen/' || true; }
product_files() { c_files | grep -v '^tests/'; }

# The folder that a header lives in, by its unique name.
folder_of() { product_files | grep -E "/$1\$" | head -n 1 | xargs -r dirname; }

# may_not FOLDER-PATTERN FORBIDDEN-PATTERN
may_not() {
  local file header where
  for file in $(product_files | grep -E "^($1)/"); do
    for header in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
      where=$(folder_of "${header##*/}")
      if [[ $where =~ ^($2) ]]; then
        complain "$file includes $header of $where"
      fi
    done
  done
}

rule_includes() {
  may_not plugins 'host|plugin_api/runtime|plugin_api/common|kernels'
  may_not plugin_api/runtime 'host|plugins'
  may_not plugin_api/common 'host|plugins|kernels|plugin_api/runtime'
  may_not host 'plugin_api/runtime|plugins|kernels'
  may_not host/plan 'host/(workers|evidence|judge|report|cli)'
  may_not host/judge 'host/(workers|report|cli)'
  may_not host/evidence 'host/(workers|judge/judge|report|cli)'
  may_not host/report 'host/(workers|cli)'
  may_not host/workers 'host/(report|cli)'
}

rule_length() {
  local file
  for file in $(product_files); do
    awk -v f="$file" '
      /^[a-z].*[^;]$|^\{/ && !/^(static )?(const )?(struct|enum) [a-z_]+ \{/ { if (/\)$|^\{/) start = FNR }
      /^}/ { if (start && FNR - start > 80 && !/^};/) printf "%s:%d: function of %d lines\n", f, start, FNR - start; start = 0 }
      END { if (FNR > 600) printf "%s: %d lines\n", f, FNR }' "$file"
  done | { grep . && bad=1; [ "$bad" = 0 ]; } || bad=1
}

rule_banned() {
  local calls='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|system|popen|alloca|getenv'
  product_files | xargs grep -nE "(^|[^a-zA-Z0-9_])($calls)\(" |
    grep -vE '^\S+:[0-9]+: *\*|/\*' | { grep . && exit 1; exit 0; } || bad=1
  product_files | grep '^plugin_api/runtime/' |
    xargs grep -nE '(^|[^a-z_])malloc\(' | { grep . && exit 1; exit 0; } || bad=1
  product_files | xargs grep -nE '__attribute__\(\(constructor' &&
    complain "constructors are not used here"
  true
}

rule_words() {
  c_files | xargs grep -nE 'TODO|FIXME|\bXXX\b|not implemented|for now|placeholder for' |
    { grep . && exit 1; exit 0; } || bad=1
}

rule_guards() {
  local file
  for file in $(c_files); do
    head -n 1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
      complain "$file: no licence line"
    case $file in
      *.h) grep -q '^#ifndef [A-Z0-9_]*_H$' "$file" || complain "$file: no include guard" ;;
    esac
    ! grep -q '#pragma once' "$file" || complain "$file: #pragma once"
  done
  product_files | sed 's,.*/,,' | sort | uniq -d | while read -r name; do
    echo "$name: two files have this name"
  done | { grep . && exit 1; exit 0; } || bad=1
}

rule_format() {
  command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
  c_files | xargs clang-format --dry-run --Werror 2>&1 | head -40 |
    { grep . && exit 1; exit 0; } || bad=1
}

"rule_$1"
exit $bad
