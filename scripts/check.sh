#!/usr/bin/env bash
# Everything that can be said about the source without running the product. Runs all
# of it, then fails if any of it did.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
failed=0

step() {
	echo "--- $1"
	shift
	"$@" || { failed=1; echo "    failed: $*" >&2; }
}

formatted() {
	local files
	files=$(go tool gofumpt -l .) || return
	[[ -z $files ]] || { printf 'not formatted, run `go tool gofumpt -w .`:\n%s\n' "$files" >&2; return 1; }
}

step formatting formatted
step vet go vet ./...
step staticcheck go tool staticcheck ./...
step architecture go test -count=1 .
step 'generated files' scripts/generated.sh
exit $failed
