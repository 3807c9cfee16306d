#!/usr/bin/env bash
# House rules, each a test: lint.sh RULE, from the top of the tree.
#   includes  who may include whom
#   length    no function over 80 lines, no file over 600, no line over 80
#             columns (clang-format leaves comments as they are)
#   banned    calls that are not used here
#   words     unfinished work in the sources
#   guards    licence line and include guard in each file
#   format    clang-format has nothing to change
#   tidy      clang-tidy finds no likely bug (.clang-tidy says which it seeks)
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() { printf '%s\n' "$*"; bad=1; }

# Every line of standard input is a complaint.
complain_of_lines() {
  local lines
  lines=$(cat)
  [ -z "$lines" ] || complain "$lines"
}

# search PATTERN GREP-OPTIONS...: files on standard input, hits as file:line:text
search() { xargs grep -nE "$@" || true; }

sources() { git ls-files -- "$@" 2>/dev/null || find "$@" -type f; }
c_files() { sources host plugin_api plugins kernels tests | grep -E '\.[ch]$' | grep -v -E '^tests/abi/frozen/' || true; }
product_files() { c_files | grep -v '^tests/'; }

# may_not FOLDER-PATTERN FORBIDDEN-PATTERN: file names are unique, so a header's
# name tells its folder.
may_not() {
  complain_of_lines < <(product_files | awk -v users="^($1)/" -v forbidden="^($2)(/|$)" '
    { path = $0; name = path; sub(/.*\//, "", name); folder = path
      sub(/\/[^\/]*$/, "", folder); where[name] = folder; files[NR] = path }
    END {
      for (i = 1; i <= NR; i++) {
        if (files[i] !~ users) continue
        while ((getline line < files[i]) > 0) {
          if (line !~ /^#include "/) continue
          split(line, parts, "\""); header = parts[2]; sub(/.*\//, "", header)
          if (header in where && where[header] ~ forbidden)
            print files[i] " includes " header " of " where[header]
        }
        close(files[i])
      }
    }')
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

# Tables of macros stand in columns, however wide that makes them.
wide_lines() {
  sources host plugin_api plugins kernels tests | grep -E '\.(c|h|cu|cuh)$' |
    grep -vE '^(tests/abi/frozen/|plugin_api/runtime/nvml_watch\.)' |
    LC_ALL=C.UTF-8 xargs awk '
      length > 80 && !/^#define / {
        printf "%s:%d: %d columns\n", FILENAME, FNR, length
      }'
}

rule_length() {
  local file
  complain_of_lines < <(wide_lines)
  complain_of_lines < <(for file in $(product_files); do
    awk -v f="$file" '
      /^[a-z].*[^;]$|^\{/ && !/^(static )?(const )?(struct|enum) [a-z_]+ \{/ { if (/\)$|^\{/) start = FNR }
      /^}/ { if (start && FNR - start > 80 && !/^};/) printf "%s:%d: function of %d lines\n", f, start, FNR - start; start = 0 }
      END { if (FNR > 600) printf "%s: %d lines\n", f, FNR }' "$file"
  done)
}

rule_banned() {
  local calls='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|system|popen|alloca|getenv'
  # Of a glibc newer than 2.34, which the bundle must run with.
  calls+='|hypot|arc4random|arc4random_buf|strlcpy|strlcat|closefrom'
  complain_of_lines < <(product_files | search "(^|[^a-zA-Z0-9_])($calls)\(" |
    grep -vE '^[^:]+:[0-9]+: *\*|/\*' || true)
  complain_of_lines < <(product_files | grep '^plugin_api/runtime/' |
    search '(^|[^a-z_])malloc\(')
  complain_of_lines < <(product_files | search '__attribute__\(\(constructor')
}

rule_words() {
  complain_of_lines < <(c_files |
    search 'TODO|FIXME|\bXXX\b|not implemented|for now|placeholder for')
}

# What a person is to start can be started.
rule_scripts() {
  local file
  while read -r file; do
    head -c 2 "$file" | grep -q '^#!' || continue
    [ -x "$file" ] || complain "$file begins with #! and is not executable"
  done < <(sources '*.py' '*.sh')
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
  complain_of_lines < <(product_files | sed 's,.*/,,' | sort | uniq -d |
    sed 's/$/: two files have this name/')
}

# Other versions of these programs think otherwise.
need_version_14() {
  command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
  "$1" --version | grep -q 'version 14\.' ||
    { echo "skipped: $1 is not version 14"; exit 77; }
}

rule_tidy() {
  local build=${NVBW_BUILD_DIR:-build}
  need_version_14 clang-tidy
  [ -f "$build/compile_commands.json" ] ||
    { echo "skipped: no compile_commands.json in $build"; exit 77; }
  complain_of_lines < <(product_files | grep '\.c$' | grep -v '/status\.c$' |
    xargs -n 8 -P "$(nproc)" clang-tidy --quiet -p "$build" \
      --extra-arg=-include --extra-arg="$PWD/tests/lint/tidy_status.h" \
      2>/dev/null)
}

rule_format() {
  need_version_14 clang-format
  complain_of_lines < <(c_files | xargs clang-format --dry-run --Werror 2>&1 |
    head -40)
}

"rule_$1"
exit $bad
