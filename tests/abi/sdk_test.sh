#!/usr/bin/env bash
# The SDK as a vendor has it: installed, moved elsewhere, and used from
# outside of the tree. sdk_test.sh SOURCE BUILD CMAKE GENERATOR
set -euo pipefail
source=$1 build=$2 cmake=$3 generator=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
build_plugin() { # FOLDER OPTIONS...
  local folder=$1
  shift
  run "$cmake" -S "$folder" -B "$folder/build" -G "$generator" \
    -DCMAKE_PREFIX_PATH="$work/sdk" -DCMAKE_C_FLAGS=-Werror "$@"
  run "$cmake" --build "$folder/build"
}

# The SDK's part of the install: header, CMake module, pkg-config, template.
for part in plugin_api plugins; do
  run "$cmake" -DCMAKE_INSTALL_PREFIX="$work/first" \
    -P "$build/$part/cmake_install.cmake"
done
mv "$work/first" "$work/sdk"
if grep -rl "$work/first\|$source" "$work/sdk/lib/cmake" \
  "$work/sdk/lib/pkgconfig"; then
  echo "the files above cannot be moved"
  exit 1
fi

cp -r "$work/sdk/share/nvbw/skeleton" "$work/skeleton"
build_plugin "$work/skeleton"
run "$cmake" --install "$work/skeleton/build" --prefix "$work/vendor"
"$source/tests/abi/check_exports.sh" \
  "$work/vendor/lib/nvbw/plugins/skeleton.so"

# With kernels where there is nvcc; without, the plugin is built all the same.
cp -r "$source/tests/abi/sdk_kernels" "$work/kernels"
build_plugin "$work/kernels" -DNVBW_KERNEL_ARCHS=90
"$source/tests/abi/check_exports.sh" "$work/kernels/build/sdk_kernels.so"
rm -r "$work/kernels/build"
build_plugin "$work/kernels" -DNVBW_CUDA=OFF
"$source/tests/abi/check_exports.sh" "$work/kernels/build/sdk_kernels.so"

# And without CMake.
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$work/sdk/lib/pkgconfig"
  cd "$work"
  # shellcheck disable=SC2046  # flags are words
  run cc -std=c17 -fPIC $(pkg-config --cflags nvbw) \
    -c "$work/skeleton/skeleton.c" -o skeleton.o
  # shellcheck disable=SC2046
  run cc $(pkg-config --variable=plugin_ldflags nvbw) -o by_hand.so skeleton.o
  "$source/tests/abi/check_exports.sh" "$work/by_hand.so"
fi
