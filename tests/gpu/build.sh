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
"$nvcc" -fatbin -O3 -arch=native -o "$out/engine.fatbin" kernels/engine.cu
sed -e 's/@stem@/engine/g' -e "s|@fatbin@|$out/engine.fatbin|" \
    plugin_api/cmake/fatbin_holder.c.in >"$out/engine_fatbin.c"
sources=$(ls plugin_api/common/*.c plugin_api/runtime/*.c |
    grep -v 'runtime/worker.c$')
# shellcheck disable=SC2086
cc -std=c17 -O2 -g -D_GNU_SOURCE -DNVBW_HAVE_KERNELS=1 \
    -DNVBW_ENGINE_PTX="\"$PWD/kernels/ptx/engine.ptx\"" \
    -I "$out" -I plugin_api/include -I plugin_api/common \
    -I plugin_api/runtime -I kernels ${CFLAGS:-} \
    tests/gpu/gpu_engine.c kernels/kernel_images.c "$out/engine_fatbin.c" \
    $sources -o "$out/tests/gpu/gpu_engine" -lnuma -lpthread -ldl -lm
