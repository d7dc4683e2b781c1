#!/usr/bin/env bash
# Fuzzes every fuzz target of the repository for a short time each, on one processor
# each, as many at once as there are processors.
#
#   scripts/fuzz.sh [TIME]     TIME as go test takes it, default 5s
#   scripts/fuzz.sh --list     prints "package target", one a line
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

list() {
	grep -rEHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . |
		sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort -u
}

# one fuzzes one target and prints what came of it, in one piece.
one() {
	local package=$1 target=$2 time=$3 out
	run() { go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5s -parallel 1 "$package" 2>&1; }
	# The fuzzing engine now and then reports its own deadline as a failure. Such a
	# report names no input; a second run decides.
	if out=$(run) || { [[ $out == *'context deadline exceeded'* && $out != *'Failing input written'* ]] && out=$(run); }; then
		printf -- '--- fuzz %s %s %s\n%s\n' "$package" "$target" "$time" "$(tail -n 1 <<<"$out")"
		return
	fi
	printf -- '--- fuzz %s %s %s\n%s\n' "$package" "$target" "$time" "$out"
	return 1
}

case ${1:-} in
--list)
	list
	exit
	;;
--one)
	shift
	one "$@"
	exit
	;;
esac
targets=$(list)
[[ -n $targets ]] || { echo "fuzz: no target found" >&2; exit 1; }
sed "s/\$/ ${1:-5s}/" <<<"$targets" | xargs -P "$(nproc)" -L 1 scripts/fuzz.sh --one
