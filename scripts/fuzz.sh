#!/usr/bin/env bash
# Fuzzes every fuzz target of the repository for a short time each.
#
#   scripts/fuzz.sh [TIME]     TIME as go test takes it, default 5s
#   scripts/fuzz.sh --list     prints "package target", one a line
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

list() {
	grep -rEHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . |
		sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort -u
}

if [[ ${1:-} == --list ]]; then
	list
	exit 0
fi
time=${1:-5s}
targets=$(list)
[[ -n $targets ]] || { echo "fuzz: no target found" >&2; exit 1; }

failed=0
while read -r package target; do
	printf -- '--- fuzz %s %s %s\n' "$package" "$target" "$time"
	run() { go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5s "$package" 2>&1; }
	if out=$(run); then
		tail -n 1 <<<"$out"
		continue
	fi
	# The fuzzing engine now and then reports its own deadline as a failure. Such a
	# report names no input; a second run decides.
	if [[ $out == *'context deadline exceeded'* && $out != *'Failing input written'* ]] && out=$(run); then
		tail -n 1 <<<"$out"
		continue
	fi
	printf '%s\n' "$out"
	failed=1
done <<<"$targets"
exit $failed
