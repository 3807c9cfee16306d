#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# build.sh OUT_FOLDER: builds gpu_engine alone, for machines with GPUs on which
# the libraries of the whole are missing: it needs a C compiler, nvcc and libnuma.
# Run it at the top of the sources.
set -eu
out=${1:?usage: build.sh OUT_FOLDER}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
mkdir -p "$out/tests/gpu"
printf '#define NVBW_VERSION "0"\n#define NVBW_BUILD "gpu test"\n' \
    >"$out/version.h"
holders=
for stem in engine sm; do
    "$nvcc" -fatbin -O3 -arch=native -o "$out/$stem.fatbin" "kernels/$stem.cu"
    sed -e "s/@stem@/$stem/g" -e "s|@fatbin@|$out/$stem.fatbin|" \
        plugin_api/cmake/fatbin_holder.c.in >"$out/${stem}_fatbin.c"
    holders="$holders $out/${stem}_fatbin.c"
done
sources=$(ls plugin_api/common/*.c plugin_api/runtime/*.c |
    grep -v 'runtime/worker.c$')
# shellcheck disable=SC2086
cc -std=c17 -O2 -g -D_GNU_SOURCE -DNVBW_HAVE_KERNELS=1 \
    -DNVBW_ENGINE_PTX="\"$PWD/kernels/ptx/engine.ptx\"" \
    -I "$out" -I plugin_api/include -I plugin_api/common \
    -I plugin_api/runtime -I kernels ${CFLAGS:-} \
    tests/gpu/gpu_engine.c kernels/kernel_images.c $holders \
    $sources -o "$out/tests/gpu/gpu_engine" -lnuma -lpthread -ldl -lm
