#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
# On a machine with GPUs: run.sh BUILD_FOLDER. Runs the engine on the real
# driver with the environment that workers get and prints its figures.
set -eu
# No object of NVLink multicast is ever made here.
export NVBW_DISABLE_MULTICAST=1
build=${1:?usage: run.sh BUILD_FOLDER}
export CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_ORDER=PCI_BUS_ID
export CUDA_DEVICE_MAX_CONNECTIONS=32
nvidia-smi -L
"$build/tests/gpu/gpu_engine"
