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

# Systems whose sandbox is not proven: the product has to build there, and refuse.
elsewhere() {
	local target status=0
	for target in linux/arm64 darwin/arm64 windows/amd64; do
		GOOS=${target%/*} GOARCH=${target#*/} go build ./... || { echo "does not build for $target" >&2; status=1; }
	done
	return $status
}

step formatting formatted
step vet go vet ./...
step staticcheck go tool staticcheck ./...
step architecture go test -count=1 .
step 'other systems' elsewhere
step 'generated files' go test -count=1 ./internal/docgen/...
exit $failed
