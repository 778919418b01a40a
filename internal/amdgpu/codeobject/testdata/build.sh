#!/bin/sh
# Rebuilds the code objects beside it, one for each code object version and
# a bundle as clang writes it.
set -eu
cd "$(dirname "$0")"
common="-x hip --cuda-device-only -nogpulib -nogpuinc -O3"
clang++-15 $common --offload-arch=gfx90a --no-gpu-bundle-output vadd.hip -o v4.hsaco
clang++-19 $common --offload-arch=gfx1030 --no-gpu-bundle-output -fuse-cuid=none -mcode-object-version=5 vadd.hip -o v5.hsaco
clang++-19 $common --offload-arch=gfx1100 --no-gpu-bundle-output -fuse-cuid=none -mcode-object-version=6 vadd.hip -o v6.hsaco
clang++-15 $common --offload-arch=gfx90a --offload-arch=gfx1030 vadd.hip -o two.hipfb
gzip -9nf v4.hsaco v5.hsaco v6.hsaco two.hipfb
