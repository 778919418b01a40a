#!/bin/sh
# Rebuilds the corpus from corpus.hip: clang-19 for three architectures
# at -O0, -O3 and -ffast-math, and clang-15 at -O3 where it can.
set -eu
cd "$(dirname "$0")"
lib=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
bitcode=$(mktemp -d)
trap 'rm -rf "$bitcode"' EXIT
ln -s $lib/*.bc "$bitcode"/
llvm-dis-15 $lib/oclc_isa_version_1030.bc -o - | sed s/10300/11000/ |
	llvm-as-15 -o "$bitcode"/oclc_isa_version_1100.bc
build() { # name, compiler, arch, flags...
	name=$1 cc=$2 arch=$3
	shift 3
	"$cc" -x hip --offload-arch="$arch" --cuda-device-only --no-gpu-bundle-output "$@" \
		--rocm-path=/usr --rocm-device-lib-path="$bitcode" corpus.hip -o "$name.$arch.hsaco"
	gzip -9nf "$name.$arch.hsaco"
}
for arch in gfx90a gfx1030 gfx1100; do
	build O0 clang++-19 $arch -O0 -fuse-cuid=none
	build O3 clang++-19 $arch -O3 -fuse-cuid=none
	build fast clang++-19 $arch -O3 -ffast-math -fuse-cuid=none
done
for arch in gfx90a gfx1030; do # clang-15 crashes on gfx1100
	build O3-clang15 clang++-15 $arch -O3
done
