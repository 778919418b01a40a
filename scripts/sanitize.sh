#!/usr/bin/env bash
# Runs every bundled CUDA kernel under NVIDIA's compute-sanitizer, one tool
# after the other, and says which tools found something.
#
#	scripts/sanitize.sh [paritycheck [flags of run]]
#
# Needs an NVIDIA GPU and compute-sanitizer, and of paritycheck a built
# binary (bin/paritycheck). Without flags it takes all ops, the fast cases.
# TOOLS="memcheck racecheck" takes those tools alone.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${1:-bin/paritycheck}
shift || true
logs=${OUT:-.}
failed=0
for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
	log=$logs/sanitize-$tool.log
	started=$SECONDS
	# Launching everything twice, as run does to find nondeterminism, shows
	# the tools nothing new, but is how run works.
	if compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 \
		"$binary" run --target cuda@cuda:0 --no-isolate --quiet "$@" >"$log" 2>&1; then
		result="clean"
	else
		code=$?
		failed=1
		result="exit code $code"
	fi
	printf '%-9s %s (%d s): %s\n' "$tool" "$result" $((SECONDS - started)) \
		"$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//')"
	[[ $result == clean ]] || grep -E '^=========' "$log" | head -n 30
done
exit $failed
