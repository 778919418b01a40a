#!/bin/sh
# Rebuilds the code objects of the interpreter's tests from the sources
# beside it: every NAME.hip for the three architectures, with clang-19.
# BITCODE is a folder with ROCm's device libraries; Debian's lack the one
# for gfx1100, which this derives from gfx1030's.
set -eu
cd "$(dirname "$0")"
: "${CLANG:=clang++-19}"
: "${BITCODE:=$(mktemp -d)}"
lib=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
ln -sf $lib/*.bc "$BITCODE"/
llvm-dis-15 $lib/oclc_isa_version_1030.bc -o - | sed s/10300/11000/ |
	llvm-as-15 -o "$BITCODE"/oclc_isa_version_1100.bc
for src in ${*:-*.hip}; do
	for arch in gfx90a gfx1030 gfx1100; do
		out=${src%.hip}.$arch.hsaco
		$CLANG -x hip --offload-arch=$arch --cuda-device-only --no-gpu-bundle-output \
			-O3 -gline-tables-only -fuse-cuid=none -fdebug-compilation-dir=. \
			--rocm-path=/usr --rocm-device-lib-path="$BITCODE" "$src" -o "$out"
		gzip -9nf "$out"
	done
done
