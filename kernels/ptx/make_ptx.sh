#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# Writes engine.ptx anew: make_ptx.sh NVCC SOURCE OUT. The version is lowered
# to the oldest that knows sm_75, so that older drivers take the text too;
# comments of the compiler go, since they differ from release to release.
set -eu
nvcc=$1 source=$2 out=$3
"$nvcc" -ptx -O3 -arch=compute_75 -o "$out.raw" "$source"
{
    echo '// SPDX-License-Identifier: Apache-2.0'
    echo '// Copyright The nvbw-host authors'
    echo '// Made from kernels/engine.cu by kernels/ptx/make_ptx.sh.'
    sed -e '/^\/\//d' -e 's/^\.version .*/.version 6.3/' \
        -e 's/[ \t]*\/\/.*$//' "$out.raw"
} >"$out"
rm -f "$out.raw"
